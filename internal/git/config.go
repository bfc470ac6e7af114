package git

import (
	"context"
	"strings"
)

// Config returns the value of a configuration key as git sees it in c: the
// worktree's over the repository's over the person's over the system's. ok is
// false when it is set nowhere.
func (c Checkout) Config(ctx context.Context, key string) (value string, ok bool, err error) {
	a, err := c.git("config", "-z", "--get", "--", key).run(ctx)
	switch {
	case err != nil:
		return "", false, err
	case a.code == 1 && !strings.Contains(a.message, "error:"): // which a malformed key is
		return "", false, nil
	case a.code != 0:
		return "", false, a.fail("config " + key)
	}
	return strings.TrimSuffix(string(a.out), "\x00"), true, nil
}

// Settings returns all that is configured under section, by one run of git. The
// keys are as git prints them: section and last part in lower case.
func (c Checkout) Settings(ctx context.Context, section string) (map[string]string, error) {
	a, err := c.git("config", "-z", "--list").run(ctx)
	if err == nil && a.code != 0 {
		err = a.fail("config --list")
	}
	if err != nil {
		return nil, err
	}
	settings := make(map[string]string)
	for entry := range strings.SplitSeq(string(a.out), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if strings.HasPrefix(key, strings.ToLower(section)+".") {
			settings[key] = value // the last one counts
		}
	}
	return settings, nil
}

// UserName is git's user.name in c, empty when it is not set or cannot be read.
// It informs and proves nothing.
func (c Checkout) UserName(ctx context.Context) string {
	name, _, err := c.Config(ctx, "user.name")
	if err != nil {
		return ""
	}
	return strings.ToValidUTF8(strings.TrimSpace(name), "\uFFFD")
}
