package httpapi

func redacted(s string) string { return s }
