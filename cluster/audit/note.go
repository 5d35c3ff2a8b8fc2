package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// The errors of ParseSigner and ParseVerifier. They do not quote the input.
var (
	ErrSigner   = errors.New("not a private key of the form PRIVATE+KEY+<name>+<hash>+<base64>")
	ErrVerifier = errors.New("not a verifier key of the form <name>+<hash>+<base64>")
)

// Verifier is a public key for checkpoints.
type Verifier struct {
	key  note.Verifier
	text string
}

// String returns the key in the format of ParseVerifier.
func (v Verifier) String() string { return v.text }

// ParseVerifier parses a public key.
func ParseVerifier(text string) (Verifier, error) {
	key, err := note.NewVerifier(text)
	if err != nil {
		return Verifier{}, ErrVerifier
	}
	return Verifier{key: key, text: text}, nil
}

// Signer is a private key for checkpoints.
type Signer struct {
	key      note.Signer
	verifier Verifier
}

// Verifier returns the public key.
func (s *Signer) Verifier() Verifier { return s.verifier }

// NewSigner generates a private key, and returns the public key in the format of ParseVerifier.
func NewSigner() (private vault.Secret, verifier string) {
	secret, verifier, _ := note.GenerateKey(rand.Reader, origin(DefaultWorkspace)) // never fails: crypto/rand aborts the process instead
	return vault.NewSecret(secret), verifier
}

// ParseSigner parses a private key.
func ParseSigner(private vault.Secret) (*Signer, error) {
	key, err := note.NewSigner(private.Reveal())
	if err != nil {
		return nil, ErrSigner
	}
	// NewSigner has checked the form: PRIVATE+KEY+name+hash, then the algorithm's byte and the seed.
	seed, err := base64.StdEncoding.DecodeString(strings.SplitN(private.Reveal(), "+", 5)[4])
	if err != nil {
		return nil, ErrSigner
	}
	public, _ := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	text, err := note.NewEd25519VerifierKey(key.Name(), public)
	if err != nil {
		return nil, ErrSigner
	}
	verifier, err := ParseVerifier(text)
	if err != nil {
		return nil, err
	}
	return &Signer{key: key, verifier: verifier}, nil
}

// verifiers are the known keys. Unlike note.VerifierList, the list may contain a key twice.
type verifiers []Verifier

// Verifier returns the key with a name and a hash.
func (list verifiers) Verifier(name string, hash uint32) (note.Verifier, error) {
	for _, v := range list {
		if v.key.Name() == name && v.key.KeyHash() == hash {
			return v.key, nil
		}
	}
	return nil, &note.UnknownVerifierError{Name: name, KeyHash: hash}
}

// openNote returns the text of a signed note. signed reports whether one of the keys signed it.
// It ignores signatures of other keys, such as those of witnesses. An invalid signature by one
// of the keys is an error.
func openNote(message string, keys []Verifier) (text string, signed bool, err error) {
	n, err := note.Open([]byte(message), verifiers(keys))
	if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		n, err = unverified.Note, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("the signed note is not valid: %w", err)
	}
	for _, s := range slices.Concat(n.Sigs, n.UnverifiedSigs) {
		// Open ignores the unused bits of the last character; here any changed bit is an error.
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return "", false, fmt.Errorf("the signature of %s is not valid: %w", s.Name, err)
		}
	}
	return n.Text, len(n.Sigs) > 0, nil
}
