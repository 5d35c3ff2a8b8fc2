package kms

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"unicode"
)

// longestError limits an error text in characters: a server in place of the KMS could send any
// text.
const longestError = 400

// clean returns an error that may be logged: on one line, of limited length, and without the
// given secrets, which a service might repeat. It preserves only context errors.
func clean(err error, hide ...string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case errors.Is(err, context.Canceled):
		return context.Canceled
	}
	text := err.Error()
	for _, secret := range hide {
		for _, form := range forms(secret) {
			text = strings.ReplaceAll(text, form, "[redacted]")
		}
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if shown := []rune(text); len(shown) > longestError {
		text = string(shown[:longestError]) + "…"
	}
	return errors.New(text)
}

// forms returns the encodings of a secret.
func forms(secret string) []string {
	if secret == "" {
		return nil
	}
	b := []byte(secret)
	return []string{
		secret, hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b)),
		base64.RawStdEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b), // also match within the padded ones
	}
}
