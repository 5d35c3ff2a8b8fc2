package credential

import (
	"encoding/base64"
	"io"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// keyPrefix is what every key begins with that is made here or chosen by an
// administrator. It is what secret scanners look for.
const keyPrefix = "sk-"

// minCustom is the minimum length of a key that the caller chose.
const minCustom = 16

// keyBytes is how much of a generated key is random: 128 bits.
const keyBytes = 16

// Generate makes a key of 16 bytes from random, which is crypto/rand.Reader
// outside of tests: `sk-` and 22 characters of URL-safe base64. The name is its
// DisplayName. The error is random's.
func Generate(random io.Reader) (key vault.Secret, name string, err error) {
	var b [keyBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return vault.Secret{}, "", err
	}
	text := keyPrefix + base64.RawURLEncoding.EncodeToString(b[:])
	return vault.NewSecret(text), DisplayName(text), nil
}

// DisplayName identifies a key for people: `sk-...` and its last four characters. It is empty
// for a key too short to keep the rest secret.
func DisplayName(key string) string {
	if len(key) < minCustom {
		return keyPrefix + "..."
	}
	return keyPrefix + "..." + key[len(key)-4:]
}

// CheckCustom checks a key that the caller chose. The error is a *fault.Error of the field `key`,
// which does not repeat it.
func CheckCustom(key string) error {
	switch {
	case !strings.HasPrefix(key, keyPrefix):
		return fault.Field("key", "invalid_value", "A key must begin with sk-. Leave key out to have one made.")
	case len(key) < minCustom:
		return fault.Field("key", "invalid_value", "A key must have at least %d characters. Leave key out to have one made.", minCustom)
	case !WellFormed(key) || strings.Contains(key, ","):
		return fault.Field("key", "invalid_value", "The key is longer than %d bytes or holds a space, a comma or an unprintable character. Leave key out to have one made.", MaxLength)
	}
	return nil
}

// ParseReference reads the ways to name a key in a parameter: the key itself
// (`sk-…`), `sha256:<hex>`, or the bare hex digits. The error is a *fault.Error
// without a param, which never repeats what was given: it may be a key.
func ParseReference(s string) (id.KeyHash, error) {
	if strings.HasPrefix(s, keyPrefix) && WellFormed(s) {
		return id.HashKey(s), nil
	}
	if h, ok := id.ParseKeyHash(s); ok {
		return h, nil
	}
	return id.KeyHash{}, fault.Field("", "invalid_value", "This names no key. Give the key itself (sk-…), its SHA-256 as 64 hex digits, or sha256: and the digits.")
}
