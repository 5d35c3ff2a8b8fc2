package vault

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"log/slog"
)

// redacted is the printed form of a secret.
const redacted = "[redacted]"

// Secret is a value that must not be shown, such as a provider's credential or the master key.
// The zero Secret is empty. Secrets are immutable and safe for concurrent use.
type Secret struct{ value string }

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{value: value} }

// Reveal returns the value. Call it only where the value is used for its purpose: in a header
// to its provider, or in a comparison.
func (s Secret) Reveal() string { return s.value }

// IsEmpty reports whether the value is empty.
func (s Secret) IsEmpty() bool { return s.value == "" }

// Equal compares with another value in constant time.
func (s Secret) Equal(other string) bool {
	a, b := sha256.Sum256([]byte(s.value)), sha256.Sum256([]byte(other))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// String hides the value.
func (Secret) String() string { return redacted }

// GoString hides the value from %#v.
func (Secret) GoString() string { return redacted }

// Format hides the value from every verb of fmt.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue hides the value from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the value from JSON, YAML and text encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// MarshalJSON hides the value.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalYAML hides the value.
func (Secret) MarshalYAML() ([]byte, error) { return []byte(redacted), nil }
