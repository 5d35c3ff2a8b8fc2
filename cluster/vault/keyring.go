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

// KMS wraps and unwraps with a key that it does not give away. Its errors show
// nothing of what it was given.
type KMS interface {
	// Encrypt wraps.
	Encrypt(ctx context.Context, plain []byte) ([]byte, error)
	// Decrypt unwraps what Encrypt returned.
	Decrypt(ctx context.Context, wrapped []byte) ([]byte, error)
	// Close gives back what was opened for it.
	Close() error
}

// Root is a random secret as a KMS wraps it. A KMS is asked for one thing only, to
// unwrap the root when a node starts: what is sealed is sealed with keys that are
// derived from the root, however much of it there is.
type Root struct {
	URI     string    // of the key that wraps it
	Wrapped []byte    // without that key it tells nothing
	Created time.Time // when it was made
}

// NewRoot makes a root and has it wrapped. That it can be unwrapped is tried at
// once, before anything depends on it.
func NewRoot(ctx context.Context, k KMS, uri string, now time.Time) (Root, Key, error) {
	secret := make([]byte, keyBytes)
	_, _ = rand.Read(secret) // never fails
	wrapped, err := k.Encrypt(ctx, secret)
	if err != nil {
		return Root{}, Key{}, fmt.Errorf("it does not encrypt: %w", err)
	}
	root := Root{URI: uri, Wrapped: wrapped, Created: now}
	key, err := root.Unwrap(ctx, k)
	if err != nil {
		return Root{}, Key{}, err
	}
	if expected, err := KeyFromSecret(NewSecret(string(secret))); err != nil || expected.id != key.id {
		return Root{}, Key{}, errors.New("what it decrypts is not what it encrypted")
	}
	return root, key, nil
}

// Unwrap has the KMS unwrap the root and returns the key that is derived from it.
func (r Root) Unwrap(ctx context.Context, k KMS) (Key, error) {
	secret, err := k.Decrypt(ctx, r.Wrapped)
	if err != nil {
		return Key{}, fmt.Errorf("it does not decrypt: %w", err)
	}
	if len(secret) != keyBytes {
		return Key{}, fmt.Errorf("it decrypts to %d bytes, which is no root secret", len(secret))
	}
	return KeyFromSecret(NewSecret(string(secret)))
}

// Keyring is what the nodes have agreed on about their keys. It holds nothing that
// is secret. Keyrings are values; their methods change nothing.
type Keyring struct {
	Roots []Root // one for each key in a KMS that was ever in use, the newest last
	// Sealing is the key to seal with on every node that has it. Zero: not agreed
	// on yet. It is what lets nodes be given a new key one after the other: as long
	// as there are some that would not open what the new one seals, the old one
	// seals on all.
	Sealing KeyID
}

// Root returns the root that a key in a KMS wraps.
func (k Keyring) Root(uri string) (Root, bool) {
	for _, r := range slices.Backward(k.Roots) {
		if r.URI == uri {
			return r, true
		}
	}
	return Root{}, false
}

// With returns a Keyring that has the root, unless the key that wraps it has one
// already: the first that was agreed on stays.
func (k Keyring) With(r Root) Keyring {
	if _, there := k.Root(r.URI); !there {
		k.Roots = append(slices.Clip(k.Roots), r)
	}
	return k
}

// Equal reports whether two Keyrings say the same.
func (k Keyring) Equal(other Keyring) bool {
	return k.Sealing == other.Sealing && slices.EqualFunc(k.Roots, other.Roots, func(a, b Root) bool {
		return a.URI == b.URI && bytes.Equal(a.Wrapped, b.Wrapped) && a.Created.Equal(b.Created)
	})
}
