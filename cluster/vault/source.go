package vault

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"slices"
	"strings"
)

// longestURI limits the URI of a KMS key, which is stored and logged.
const longestURI = 512

// Source is the origin of a key: a secret, or a key in a KMS that never leaves it. It is
// immutable; the zero Source is none.
type Source struct {
	secret Secret
	uri    string
}

// FromSecret returns the Source of a secret.
func FromSecret(s Secret) Source { return Source{secret: s} }

// FromKMS returns the Source of a KMS key. The URI is the same on all nodes and contains no
// secrets: the credentials for the KMS are in the environment of the process.
func FromKMS(uri string) (Source, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil: // its text quotes the whole URI
		return Source{}, errors.New("cannot be read as a URI")
	case !slices.Contains(KMSSchemes(), u.Scheme):
		return Source{}, errors.New("is not the URI of a supported KMS: use " + kmsForms)
	case u.User != nil:
		return Source{}, errors.New("contains a user name or a password: remove it, and put the credentials for the KMS into the environment")
	case u.Fragment != "":
		return Source{}, errors.New("has a part after #: remove it")
	case u.Host == "" && strings.Trim(u.Path, "/") == "":
		return Source{}, errors.New("names no key: use " + kmsForms)
	case len(uri) > longestURI:
		return Source{}, fmt.Errorf("is longer than %d characters", longestURI)
	}
	return Source{uri: uri}, nil
}

// kmsForms lists the forms of URIs.
const kmsForms = "awskms:///ARN-OF-THE-KEY?region=REGION, gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K, " +
	"azurekeyvault://VAULT.vault.azure.net/keys/KEY or hashivault://KEY"

// KMSSchemes returns the URI schemes of the supported KMSs.
func KMSSchemes() []string { return []string{"awskms", "gcpkms", "azurekeyvault", "hashivault"} }

// IsZero reports whether there is no source.
func (s Source) IsZero() bool { return s.uri == "" && s.secret.IsEmpty() }

// Equal reports whether two sources are the same key.
func (s Source) Equal(other Source) bool {
	return s.uri == other.uri && s.secret.Equal(other.secret.value)
}

// Secret returns the secret; empty for a KMS key.
func (s Source) Secret() Secret { return s.secret }

// KMS returns the URI of a KMS key; "" for a secret.
func (s Source) KMS() string { return s.uri }

// String returns the URI of a KMS key. It hides secrets.
func (s Source) String() string {
	if s.uri != "" {
		return s.uri
	}
	return redacted
}

// Format hides the secret from every verb of fmt.
func (s Source) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue hides the secret from slog.
func (s Source) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the secret from encoders.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
