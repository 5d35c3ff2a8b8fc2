package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// Signed notes are C2SP's signed-note, which Go's checksum database and
// transparency logs use: a text, an empty line, and a line for each signature.

// algEd25519 is the one algorithm that is used here.
const algEd25519 = 1

const (
	signerPrefix = "PRIVATE+KEY+"
	sigPrefix    = "\u2014 " // of a line with a signature
	noteSplit    = "\n\n"    // between text and signatures
)

// Errors of ParseSigner and ParseVerifier. They do not say what was given.
var (
	ErrSigner   = errors.New("not a private key of the form PRIVATE+KEY+<name>+<hash>+<base64>")
	ErrVerifier = errors.New("not a verifier key of the form <name>+<hash>+<base64>")
)

// Verifier is a public key that checkpoints may be signed with.
type Verifier struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

// String returns the key in the form that ParseVerifier reads.
func (v Verifier) String() string {
	return fmt.Sprintf("%s+%08x+%s", v.name, v.hash, base64.StdEncoding.EncodeToString(append([]byte{algEd25519}, v.key...)))
}

// Signer is a private key that checkpoints are signed with.
type Signer struct {
	verifier Verifier
	key      ed25519.PrivateKey
}

// Verifier returns the public key.
func (s *Signer) Verifier() Verifier { return s.verifier }

// NewSigner makes a private key, and the public one in the form that verifiers read.
func NewSigner() (private vault.Secret, verifier string) {
	seed := make([]byte, ed25519.SeedSize)
	_, _ = rand.Read(seed) // never fails: crypto/rand.Read aborts the process instead
	s := newSigner(origin(DefaultWorkspace), seed)
	return vault.NewSecret(fmt.Sprintf("%s%s+%08x+%s", signerPrefix, s.verifier.name, s.verifier.hash,
		base64.StdEncoding.EncodeToString(append([]byte{algEd25519}, seed...)))), s.verifier.String()
}

func newSigner(name string, seed []byte) *Signer {
	key := ed25519.NewKeyFromSeed(seed)
	public := ed25519.PublicKey(key[ed25519.SeedSize:])
	return &Signer{verifier: Verifier{name: name, hash: keyID(name, public), key: public}, key: key}
}

// keyID is what a signature names its key by, beside the name.
func keyID(name string, public ed25519.PublicKey) uint32 {
	b := append([]byte(name), '\n', algEd25519)
	sum := sha256.Sum256(append(b, public...))
	return binary.BigEndian.Uint32(sum[:])
}

// ParseSigner reads a private key.
func ParseSigner(private vault.Secret) (*Signer, error) {
	text, ok := strings.CutPrefix(private.Reveal(), signerPrefix)
	if !ok {
		return nil, ErrSigner
	}
	name, hash, seed, ok := parseKey(text)
	if !ok {
		return nil, ErrSigner
	}
	s := newSigner(name, seed)
	if s.verifier.hash != hash {
		return nil, ErrSigner
	}
	return s, nil
}

// ParseVerifier reads a public key.
func ParseVerifier(text string) (Verifier, error) {
	name, hash, key, ok := parseKey(text)
	if !ok || keyID(name, key) != hash {
		return Verifier{}, ErrVerifier
	}
	return Verifier{name: name, hash: hash, key: key}, nil
}

// parseKey reads name, hash and the 32 bytes of a key.
func parseKey(text string) (name string, hash uint32, key []byte, ok bool) { //nolint:revive // one line has all four
	parts := strings.SplitN(text, "+", 3)
	if len(parts) != 3 || parts[0] == "" || strings.ContainsAny(parts[0], " \t\r\n") || len(parts[1]) != 8 {
		return "", 0, nil, false
	}
	n, err := strconv.ParseUint(parts[1], 16, 32)
	if err != nil {
		return "", 0, nil, false
	}
	key, err = base64.StdEncoding.Strict().DecodeString(parts[2])
	if err != nil || len(key) != 1+ed25519.PublicKeySize || key[0] != algEd25519 {
		return "", 0, nil, false
	}
	return parts[0], uint32(n), key[1:], true
}

// sign makes a note of a text that ends with a newline.
func (s *Signer) sign(text string) string {
	sig := binary.BigEndian.AppendUint32(nil, s.verifier.hash)
	sig = append(sig, ed25519.Sign(s.key, []byte(text))...)
	return text + "\n" + sigPrefix + s.verifier.name + " " + base64.StdEncoding.EncodeToString(sig) + "\n"
}

// openNote splits a note. signed says whether one of the keys has signed it; other
// signatures, such as those of witnesses, are left out of account. A signature that
// names one of the keys and is not of it spoils the note.
func openNote(note string, keys []Verifier) (text string, signed bool, err error) {
	at := strings.LastIndex(note, noteSplit)
	if at < 0 || !strings.HasSuffix(note, "\n") {
		return "", false, errors.New("it is no signed note")
	}
	text = note[:at+1]
	for line := range strings.Lines(note[at+len(noteSplit):]) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), sigPrefix)
		name, encoded, ok2 := strings.Cut(rest, " ")
		sig, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if !ok || !ok2 || err != nil || len(sig) < 5 {
			return "", false, errors.New("it has a line that is no signature")
		}
		for _, k := range keys {
			if k.name != name || k.hash != binary.BigEndian.Uint32(sig) {
				continue
			}
			if !ed25519.Verify(k.key, []byte(text), sig[4:]) {
				return "", false, errors.New("its signature is not of the key that it names")
			}
			signed = true
		}
	}
	return text, signed, nil
}
