package vault

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/aead/xchacha20poly1305"
	"github.com/tink-crypto/tink-go/v2/insecuresecretdataaccess"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/secretdata"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// The errors of sealed bytes that do not open. The texts are for the operator: they contain a
// remedy and nothing of the secret.
var (
	// ErrOtherKey means that the bytes name a key that the Sealer does not have.
	ErrOtherKey = errors.New("sealed with another encryption key: add the one that it was sealed with (the master key, if there " +
		"was no other) to general_settings.encryption_keys_previous, or set general_settings.encryption_key to it")
	// ErrDamaged means that the Sealer has the key, but the bytes are not what it sealed for
	// this context.
	ErrDamaged = errors.New("the sealed credential is damaged or was sealed for another place: write the credential again")
	// ErrLocked means that a KMS has not provided its key yet.
	ErrLocked = errors.New("the encryption key has not come from its KMS yet, or the nodes have not agreed on it yet: try again")
)

const (
	keyBytes = 32 // of XChaCha20-Poly1305
	idBytes  = 8  // enough to distinguish keys; authenticity comes from the envelope

	// infoKey and infoID make the key, its id and any other derived value independent. Changing
	// one makes another key: no existing sealed bytes would open.
	infoKey = "modelgateway vault key-encryption key v1"
	infoID  = "modelgateway vault key id v1"

	// version1 is the format: version, key id, Tink's envelope.
	version1   = 1
	headerSize = 1 + idBytes
)

// KeyID identifies a key within sealed bytes, and reveals nothing about it. The zero KeyID is
// none.
type KeyID [idBytes]byte

// String returns the id in hexadecimal digits.
func (k KeyID) String() string { return hex.EncodeToString(k[:]) }

// KeyIDOf decodes a stored id; another length means none.
func KeyIDOf(b []byte) KeyID {
	if len(b) != idBytes {
		return KeyID{}
	}
	return KeyID(b)
}

// SealedBy returns the id of the key that sealed the bytes; zero if they contain none.
func SealedBy(sealed []byte) KeyID {
	if len(sealed) < headerSize || sealed[0] != version1 {
		return KeyID{}
	}
	return KeyID(sealed[1:headerSize])
}

// Key encrypts the data keys of secrets. Its printed form hides it. Keys are immutable and safe
// for concurrent use; the zero Key is none.
type Key struct {
	id  KeyID
	kek tink.AEAD
}

// KeyFromSecret derives a Key from a secret. The result is the same on every node and in every
// version. There is no key stretching: the caller must ensure that the secret is too long to
// guess. An empty secret is an error.
func KeyFromSecret(secret Secret) (Key, error) {
	if secret.IsEmpty() {
		return Key{}, errors.New("no encryption key: there is no secret to derive it from")
	}
	// No salt: it would have to be stored and agreed on, and the secrets of two clusters differ
	// anyway.
	raw, err := hkdf.Key(sha256.New, []byte(secret.Reveal()), nil, infoKey, keyBytes)
	if err != nil {
		return Key{}, fmt.Errorf("derive encryption key: %w", err)
	}
	id, err := hkdf.Key(sha256.New, []byte(secret.Reveal()), nil, infoID, idBytes)
	if err != nil {
		return Key{}, fmt.Errorf("derive key id: %w", err)
	}
	kek, err := keyEncryption(raw)
	if err != nil {
		return Key{}, fmt.Errorf("make encryption key: %w", err)
	}
	return Key{id: KeyID(id), kek: kek}, nil
}

// keyEncryption returns the primitive of a raw key. It is XChaCha20-Poly1305, because one key
// wraps any number of data keys with random nonces: the 12-byte nonce of AES-GCM would limit
// that number.
func keyEncryption(raw []byte) (tink.AEAD, error) {
	parameters, err := xchacha20poly1305.NewParameters(xchacha20poly1305.VariantNoPrefix)
	if err != nil {
		return nil, err
	}
	key, err := xchacha20poly1305.NewKey(secretdata.NewBytesFromData(raw, insecuresecretdataaccess.Token{}), 0, parameters)
	if err != nil {
		return nil, err
	}
	m := keyset.NewManager()
	id, err := m.AddKey(key)
	if err != nil {
		return nil, err
	}
	if err := m.SetPrimary(id); err != nil {
		return nil, err
	}
	handle, err := m.Handle()
	if err != nil {
		return nil, err
	}
	return aead.New(handle)
}

// ID returns the id of the key.
func (k Key) ID() KeyID { return k.id }

// Format hides the key from every verb of fmt.
func (Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue hides the key from slog.
func (Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the key from encoders.
func (Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Sealer seals and opens secrets. It is immutable, safe for concurrent use, and does no I/O.
type Sealer struct {
	primary KeyID // not in open: nothing can be sealed
	open    map[KeyID]tink.AEAD
}

// NewSealer returns a Sealer that seals with primary and opens what any of the keys sealed. So
// a key can be replaced while bytes that the old one sealed still exist. A zero Key is an
// error.
func NewSealer(primary Key, others ...Key) (*Sealer, error) {
	keys := append([]Key{primary}, others...)
	for _, k := range keys {
		if k.kek == nil {
			return nil, errors.New("no encryption key: a key is empty")
		}
	}
	return sealerOf(primary.id, keys), nil
}

// sealerOf returns a Sealer of the available keys; primary may not be among them.
func sealerOf(primary KeyID, keys []Key) *Sealer {
	s := &Sealer{primary: primary, open: make(map[KeyID]tink.AEAD, len(keys))}
	for _, k := range keys {
		s.open[k.id] = aead.NewKMSEnvelopeAEAD2(aead.AES256GCMKeyTemplate(), k.kek)
	}
	return s
}

// Primary returns the id of the sealing key.
func (s *Sealer) Primary() KeyID { return s.primary }

// Keys returns the ids of the keys that open, in order.
func (s *Sealer) Keys() []KeyID {
	return slices.SortedFunc(maps.Keys(s.open), func(a, b KeyID) int { return bytes.Compare(a[:], b[:]) })
}

// Format hides the keys from every verb of fmt.
func (*Sealer) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// Seal encrypts the secret to bytes that may be stored. context names their place, such as
// "deployment/<id>/api_key"; only the same context opens them. The zero Secret is sealed to
// nil. Each call returns different bytes, because it makes a new data key: seal before a
// command is proposed, never while it is applied. The error is ErrLocked, or means that there
// are no random numbers.
func (s *Sealer) Seal(plain Secret, context string) ([]byte, error) {
	if plain.IsEmpty() {
		return nil, nil
	}
	kek, ok := s.open[s.primary]
	if !ok {
		return nil, ErrLocked
	}
	sealed := append([]byte{version1}, s.primary[:]...)
	envelope, err := kek.Encrypt([]byte(plain.Reveal()), binding(sealed, context))
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return append(sealed, envelope...), nil
}

// Open decrypts the bytes of a Seal with the same context. No bytes are the zero Secret. The
// error is ErrOtherKey or ErrDamaged.
func (s *Sealer) Open(sealed []byte, context string) (Secret, error) {
	if len(sealed) == 0 {
		return Secret{}, nil
	}
	if sealed[0] != version1 {
		return Secret{}, fmt.Errorf("sealed in the unknown format %d, possibly by a newer version of the gateway: %w", sealed[0], ErrDamaged)
	}
	if len(sealed) < headerSize {
		return Secret{}, ErrDamaged
	}
	header, envelope := sealed[:headerSize], sealed[headerSize:]
	key, ok := s.open[KeyID(header[1:])]
	if !ok {
		return Secret{}, ErrOtherKey
	}
	// The cause is omitted: the library's text does not help an operator.
	plain, err := key.Decrypt(envelope, binding(header, context))
	if err != nil || len(plain) == 0 { // an empty text is never sealed
		return Secret{}, ErrDamaged
	}
	return NewSecret(string(plain)), nil
}

// NeedsReseal reports whether the bytes were sealed with another key than the current one. No
// bytes need no reseal.
func (s *Sealer) NeedsReseal(sealed []byte) bool {
	return len(sealed) > 0 && SealedBy(sealed) != s.primary
}

// Reseal seals with the current key what another key sealed for the context. Other bytes are
// returned unchanged, with changed false. The errors are those of Open and Seal.
func (s *Sealer) Reseal(sealed []byte, context string) (out []byte, changed bool, err error) {
	if !s.NeedsReseal(sealed) {
		return sealed, false, nil
	}
	plain, err := s.Open(sealed, context)
	if err != nil {
		return nil, false, err
	}
	if out, err = s.Seal(plain, context); err != nil {
		return nil, false, err
	}
	return out, true, nil
}

// binding returns the associated data of a secret's encryption. The header has a fixed size, so
// distinct pairs of header and context have distinct bytes.
func binding(header []byte, context string) []byte {
	return append(bytes.Clone(header), context...)
}
