package kms

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"unicode"
)

// longestError is in characters: whoever answers in the place of a KMS may say
// anything at any length.
const longestError = 400

// clean returns an error that may be logged: on one line, of bounded length, and
// without the secrets, which a service might have repeated. Only that a context
// ended is still to be found in it.
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

// forms returns how a secret may be written.
func forms(secret string) []string {
	if secret == "" {
		return nil
	}
	b := []byte(secret)
	return []string{
		secret, hex.EncodeToString(b), strings.ToUpper(hex.EncodeToString(b)),
		base64.RawStdEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b), // found within the padded ones, too
	}
}
