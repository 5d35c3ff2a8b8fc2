package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/config"
)

// withKey is a configuration whose encryption key is in a file.
func withKey(file string) []byte {
	return []byte("general_settings: {master_key: sk-0123456789abcdef, encryption_key: 'file://" + file + "'}\n")
}

// TestKeyFile reads keys from files of each sort, and checks that what is in them
// is never shown.
func TestKeyFile(t *testing.T) {
	const key = "CANARY-that-credentials-are-sealed-with"
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string // part of the problem; empty: taken
		warn bool
	}{
		"private":        {text: key, mode: 0o600},
		"read only":      {text: key, mode: 0o400},
		"with a newline": {text: " " + key + "\r\n", mode: 0o600},
		"for the group":  {text: key, mode: 0o640, warn: true},
		"for all":        {text: key, mode: 0o604, warn: true},
		"empty":          {text: "\n", mode: 0o600, want: "is empty"},
		"short":          {text: "CANARY", mode: 0o600, want: "shorter than 32 characters"},
		"binary":         {text: key + "\x00\x01" + key, mode: 0o600, want: "not printable ASCII"},
		"two lines":      {text: key + "\n" + key, mode: 0o600, want: "not printable ASCII"},
		"large":          {text: strings.Repeat(key, 1000), mode: 0o600, want: "more than 16 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "key with a space")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, c.mode); err != nil {
				t.Fatal(err)
			}
			got, err := config.Parse("f", withKey(file), none)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), canary) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.EncryptionSource().Secret().Reveal() != key {
				t.Error("another key")
			}
			if warned := len(got.Warnings) == 1 && strings.Contains(got.Warnings[0].Detail, "chmod 600"); warned != c.warn {
				t.Errorf("warnings: %v", got.Warnings)
			}
			// Where the key is kept does not matter to other nodes, the key does.
			literal, err := config.Parse("f", []byte(strings.Replace(string(withKey("")), "file://", key, 1)), none)
			if err != nil {
				t.Fatal(err)
			}
			if literal.Digest() != got.Digest() {
				t.Error("the same key in a file has another digest")
			}
		})
	}
}

func TestKeyFileIsADirectory(t *testing.T) {
	if _, err := config.Parse("f", withKey(t.TempDir()), none); err == nil || !strings.Contains(err.Error(), "no plain file") {
		t.Errorf("got %v", err)
	}
}

// TestEncryptionSource checks which of the places for a key counts.
func TestEncryptionSource(t *testing.T) {
	const uri = "hashivault://modelgateway"
	own, salt := strings.Repeat("own-", 8), strings.Repeat("salt", 8)
	for name, c := range map[string]struct{ set, env, secret, kms string }{
		"master key":      {"", "", "sk-0123456789abcdef", ""},
		"own variable":    {"", "LITELLM_SALT_KEY=" + salt + "\nMODELGATEWAY_ENCRYPTION_KEY=" + own, own, ""},
		"a KMS by it":     {"", "MODELGATEWAY_ENCRYPTION_KEY=" + uri, "", uri},
		"LiteLLM's":       {"", "LITELLM_SALT_KEY=" + salt, salt, ""},
		"the file":        {", encryption_key: " + uri, "MODELGATEWAY_ENCRYPTION_KEY=" + own, "", uri},
		"a URI in a text": {", encryption_key: 'not a URI:// but a text of many words'", "", "not a URI:// but a text of many words", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := config.Parse("f", []byte("general_settings: {master_key: sk-0123456789abcdef"+c.set+"}\n"), environment([]byte(c.env)))
			if err != nil {
				t.Fatal(err)
			}
			s := got.EncryptionSource()
			if s.Secret().Reveal() != c.secret || s.KMS() != c.kms {
				t.Errorf("got %q and %q", s.Secret().Reveal(), s.KMS())
			}
		})
	}
}

// TestPreviousKeyThatIsThePrimary is warned of: whoever wrote it twice mistook one.
func TestPreviousKeyThatIsThePrimary(t *testing.T) {
	got, err := config.Parse("f", []byte("general_settings: {master_key: sk-0123456789abcdef, encryption_keys_previous: sk-0123456789abcdef}\n"), none)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.EncryptionKeysPrevious) != 0 || len(got.Warnings) != 1 {
		t.Errorf("got %v, %v", got.EncryptionKeysPrevious, got.Warnings)
	}
}
