package vault_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

func TestMask(t *testing.T) {
	for secret, want := range map[string]string{
		"":                        "",
		"s":                       "…",
		"sk-456789012345":         "…", // 15 characters
		"sk-4567890123456":        "sk-…3456",
		"0123456789abcdef":        "…cdef",
		"SK-0123456789abcdef":     "…cdef",
		"x-sk-0123456789abcdef":   "…cdef",
		"sk-ant-0123456789abcdef": "sk-…cdef",
		"ключ-который-не-из-ascii": "…scii",
		"aaaaaaaaaaaaaaaaaaключ":   "…ключ",
	} {
		if got := vault.Mask(vault.NewSecret(secret)); got != want {
			t.Errorf("%q is shown as %q, want %q", secret, got, want)
		}
	}
}

// TestMaskTellsLittle checks for any secret that no more of it is shown than the
// prefix that it shares with all and its last four characters.
func TestMaskTellsLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.OneOf(rapid.String(), rapid.StringMatching(`(sk-)?[a-zA-Z0-9_-]{0,60}`), rapid.StringN(16, 100, -1)).Draw(t, "secret")
		shown := vault.Mask(vault.NewSecret(secret))
		if secret == "" {
			return
		}
		before, tail, found := strings.Cut(shown, "…")
		switch {
		case !found || before != "" && before != "sk-":
			t.Fatalf("shown as %q", shown)
		case utf8.RuneCountInString(secret) < 16 && before+tail != "":
			t.Fatalf("a short secret is shown as %q", shown)
		case utf8.RuneCountInString(tail) > 4:
			t.Fatalf("%q is the end of %q", tail, shown)
		}
	})
}
