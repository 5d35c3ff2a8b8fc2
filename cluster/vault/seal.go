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

// The ways in which sealed bytes do not open. Their texts are for the operator:
// they say what to do and show nothing of the secret.
var (
	// ErrOtherKey means that the bytes name a key that the Sealer does not have.
	ErrOtherKey = errors.New("sealed with another encryption key: add the one that it was sealed with (the master key, if there " +
		"was no other) to general_settings.encryption_keys_previous, or set general_settings.encryption_key to it")
	// ErrDamaged means that the key is there and the bytes are not what it sealed
	// for this context.
	ErrDamaged = errors.New("the sealed credential is damaged or was sealed for another place: write the credential again")
	// ErrLocked means that a key is held by a KMS and has not come yet.
	ErrLocked = errors.New("the encryption key has not come from its KMS yet, or the nodes have not agreed on it yet: try again")
)

const (
	keyBytes = 32 // of XChaCha20-Poly1305
	idBytes  = 8  // enough to tell keys apart; it proves nothing, the envelope does that

	// infoKey and infoID keep the key, its name and whatever else is ever derived
	// from the same secret independent of each other. Another text here is another
	// key: nothing that was sealed would open.
	infoKey = "modelgateway vault key-encryption key v1"
	infoID  = "modelgateway vault key id v1"

	// version1 is the form: version, key id, Tink's envelope.
	version1   = 1
	headerSize = 1 + idBytes
)

// KeyID is the name of a key within sealed bytes. It tells keys apart and gives
// nothing of them away. The zero KeyID is none.
type KeyID [idBytes]byte

// String returns the name in hexadecimal digits.
func (k KeyID) String() string { return hex.EncodeToString(k[:]) }

// KeyIDOf reads a name that was stored; what has another length is none.
func KeyIDOf(b []byte) KeyID {
	if len(b) != idBytes {
		return KeyID{}
	}
	return KeyID(b)
}

// SealedBy returns the name of the key that sealed the bytes; zero if they do not
// say so.
func SealedBy(sealed []byte) KeyID {
	if len(sealed) < headerSize || sealed[0] != version1 {
		return KeyID{}
	}
	return KeyID(sealed[1:headerSize])
}

// Key encrypts the keys that secrets are encrypted with. It shows itself to
// nobody. Keys are immutable and safe for concurrent use; the zero Key is none.
type Key struct {
	id  KeyID
	kek tink.AEAD
}

// KeyFromSecret derives a Key from a secret. The same secret gives the same Key
// on every node and in every version. Nothing is stretched: the secret must be
// too long to be guessed, which is for the caller to see to. An empty secret is an
// error.
func KeyFromSecret(secret Secret) (Key, error) {
	if secret.IsEmpty() {
		return Key{}, errors.New("no encryption key: there is no secret to derive it from")
	}
	// No salt: it would have to be stored and agreed on, and the two secrets of two
	// clusters differ already.
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

// keyEncryption makes the primitive of a raw key. XChaCha20-Poly1305 because one
// key wraps any number of data keys, each with a random nonce: the 12 bytes of
// AES-GCM would bound that number.
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

// ID returns the key's name.
func (k Key) ID() KeyID { return k.id }

// Format hides the key from every verb of fmt.
func (Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// LogValue hides the key from slog.
func (Key) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the key from encoders.
func (Key) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Sealer seals secrets and opens them. It is immutable and safe for concurrent
// use; it does not block and touches no disk.
type Sealer struct {
	primary KeyID // not in open: nothing can be sealed
	open    map[KeyID]tink.AEAD
}

// NewSealer returns a Sealer that seals with primary and opens what primary or
// one of the others sealed, so that a key can be replaced while bytes that the old
// one sealed are still about. A zero Key is an error.
func NewSealer(primary Key, others ...Key) (*Sealer, error) {
	keys := append([]Key{primary}, others...)
	for _, k := range keys {
		if k.kek == nil {
			return nil, errors.New("no encryption key: a key is empty")
		}
	}
	return sealerOf(primary.id, keys), nil
}

// sealerOf makes a Sealer of the keys that there are; primary may be none of them.
func sealerOf(primary KeyID, keys []Key) *Sealer {
	s := &Sealer{primary: primary, open: make(map[KeyID]tink.AEAD, len(keys))}
	for _, k := range keys {
		s.open[k.id] = aead.NewKMSEnvelopeAEAD2(aead.AES256GCMKeyTemplate(), k.kek)
	}
	return s
}

// Primary returns the name of the key that seals.
func (s *Sealer) Primary() KeyID { return s.primary }

// Keys returns the names of the keys that open, in order.
func (s *Sealer) Keys() []KeyID {
	return slices.SortedFunc(maps.Keys(s.open), func(a, b KeyID) int { return bytes.Compare(a[:], b[:]) })
}

// Format hides the keys from every verb of fmt.
func (*Sealer) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redacted)) }

// Seal returns the secret as bytes that may be stored. context names the place
// they are for, such as "deployment/<id>/api_key"; only the same context opens
// them. The zero Secret is nil. Each call returns other bytes, because each makes a
// data key of its own: seal before a command is proposed, never while it is
// applied. The error is ErrLocked, or means that no random numbers are to be had.
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

// Open returns the secret that Seal was given with the same context. No bytes are
// the zero Secret. The error is ErrOtherKey or ErrDamaged.
func (s *Sealer) Open(sealed []byte, context string) (Secret, error) {
	if len(sealed) == 0 {
		return Secret{}, nil
	}
	if sealed[0] != version1 {
		return Secret{}, fmt.Errorf("sealed in the unknown form %d, by a newer version of the gateway if it is none: %w", sealed[0], ErrDamaged)
	}
	if len(sealed) < headerSize {
		return Secret{}, ErrDamaged
	}
	header, envelope := sealed[:headerSize], sealed[headerSize:]
	key, ok := s.open[KeyID(header[1:])]
	if !ok {
		return Secret{}, ErrOtherKey
	}
	// The cause is left out: the library's says nothing that an operator could use.
	plain, err := key.Decrypt(envelope, binding(header, context))
	if err != nil || len(plain) == 0 { // nothing is never sealed
		return Secret{}, ErrDamaged
	}
	return NewSecret(string(plain)), nil
}

// NeedsReseal reports whether another key than the one that seals now has sealed
// the bytes. No bytes need nothing.
func (s *Sealer) NeedsReseal(sealed []byte) bool {
	return len(sealed) > 0 && SealedBy(sealed) != s.primary
}

// Reseal seals anew, with the key that seals now, what another key sealed for the
// context. Bytes that need none are returned as they are, with changed false. The
// errors are those of Open and Seal.
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

// binding is what a secret's encryption depends on beside its key. The header has
// a fixed size, so no two pairs of header and context are the same bytes.
func binding(header []byte, context string) []byte {
	return append(bytes.Clone(header), context...)
}
