package vault

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"
)

// KMS wraps and unwraps with a key that never leaves it. Its errors do not quote the input.
type KMS interface {
	// Encrypt wraps.
	Encrypt(ctx context.Context, plain []byte) ([]byte, error)
	// Decrypt unwraps the result of Encrypt.
	Decrypt(ctx context.Context, wrapped []byte) ([]byte, error)
	// Close releases its resources.
	Close() error
}

// Root is a random secret, wrapped by a KMS. A node calls the KMS only to unwrap the root at
// its start. Everything is sealed with keys that are derived from the root.
type Root struct {
	URI     string    // of the wrapping key
	Wrapped []byte    // useless without that key
	Created time.Time // time of creation
}

// NewRoot creates a root and wraps it. It also unwraps it once, before anything depends on it.
func NewRoot(ctx context.Context, k KMS, uri string, now time.Time) (Root, Key, error) {
	secret := make([]byte, keyBytes)
	_, _ = rand.Read(secret) // never fails
	wrapped, err := k.Encrypt(ctx, secret)
	if err != nil {
		return Root{}, Key{}, fmt.Errorf("the KMS cannot encrypt: %w", err)
	}
	root := Root{URI: uri, Wrapped: wrapped, Created: now}
	key, err := root.Unwrap(ctx, k)
	if err != nil {
		return Root{}, Key{}, err
	}
	if expected, err := KeyFromSecret(NewSecret(string(secret))); err != nil || expected.id != key.id {
		return Root{}, Key{}, errors.New("the KMS decrypts to another value than it encrypted")
	}
	return root, key, nil
}

// Unwrap unwraps the root with the KMS and returns the key derived from it.
func (r Root) Unwrap(ctx context.Context, k KMS) (Key, error) {
	secret, err := k.Decrypt(ctx, r.Wrapped)
	if err != nil {
		return Key{}, fmt.Errorf("the KMS cannot decrypt: %w", err)
	}
	if len(secret) != keyBytes {
		return Key{}, fmt.Errorf("the KMS decrypts to %d bytes, which is not a root secret", len(secret))
	}
	return KeyFromSecret(NewSecret(string(secret)))
}

// Keyring is the agreement of the nodes about their keys. It contains no secrets. A Keyring is
// a value; its methods do not change it.
type Keyring struct {
	Roots []Root // one for each KMS key that was ever used, the newest last
	// Sealing is the key with which every node that has it seals. Zero: not agreed on yet. It
	// allows giving a new key to one node after another: the old key seals on all nodes until
	// every node can open what the new one seals.
	Sealing KeyID
}

// Root returns the root that a KMS key wraps.
func (k Keyring) Root(uri string) (Root, bool) {
	for _, r := range slices.Backward(k.Roots) {
		if r.URI == uri {
			return r, true
		}
	}
	return Root{}, false
}

// With returns a Keyring that contains the root, unless its wrapping key already has one: the
// first root stays.
func (k Keyring) With(r Root) Keyring {
	if _, there := k.Root(r.URI); !there {
		k.Roots = append(slices.Clip(k.Roots), r)
	}
	return k
}

// Equal reports whether two Keyrings are equal.
func (k Keyring) Equal(other Keyring) bool {
	return k.Sealing == other.Sealing && slices.EqualFunc(k.Roots, other.Roots, func(a, b Root) bool {
		return a.URI == b.URI && bytes.Equal(a.Wrapped, b.Wrapped) && a.Created.Equal(b.Created)
	})
}
