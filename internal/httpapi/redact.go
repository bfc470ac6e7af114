package httpapi

import "github.com/comity-dev/comity/internal/redact"

// redacted is s without secrets of known shapes.
func redacted(s string) string {
	s, _ = redact.Text(s)
	return s
}
