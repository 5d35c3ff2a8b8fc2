package outbound

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/cloud"
)

// Rejected is the error for a response that has no token: a status, which is 0 if a library keeps it to itself, and what the service says.
func Rejected(status int, code, text string) error {
	said := "the token service responds with an error"
	if status != 0 {
		said = fmt.Sprintf("the token service responds with status %d", status)
	}
	if code != "" {
		said += ", " + code
	}
	if text != "" {
		said += ": " + text
	}
	return errors.New(said)
}

// OAuth returns the error for the body of an OAuth 2 service, or of another one of Google, that has no token.
func OAuth(status int, body []byte) error {
	var e struct {
		Error       jsontext.Value `json:"error"`
		Description string         `json:"error_description"`
	}
	_ = json.Unmarshal(body, &e, jsontext.AllowDuplicateNames(true)) // a body of another form has no code
	if e.Error.Kind() == '{' {
		var google struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		}
		_ = json.Unmarshal(e.Error, &google, jsontext.AllowDuplicateNames(true))
		return Rejected(status, google.Status, google.Message)
	}
	var code string
	_ = json.Unmarshal(e.Error, &code)
	description, _, _ := strings.Cut(e.Description, " Trace ID:") // Entra ID's, with numbers that differ each time
	return Rejected(status, code, description)
}

// Unreachable returns the error for a call that got no response.
func Unreachable(err error) error {
	var u *url.Error
	switch {
	case errors.Is(err, ErrForbidden):
		return ErrForbidden
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("the token service does not respond in time")
	case errors.As(err, &u):
		return fmt.Errorf("the token service cannot be called: %w", u.Err)
	}
	return err
}

const (
	maxText  = 400 // of an error, in bytes
	longWord = 40  // longer runs of the characters of keys are left out
	redacted = "[redacted]"

	// leastSecret is the length of the shortest text that is looked for, in bytes: a shorter one is in many words.
	leastSecret = 4
	// leastToken is the length of the shortest word after "Bearer" that is taken for a token, in bytes.
	leastToken = 16
)

// Scrub returns the text of an error without what may be secret: the secrets of the credential and what could be
// another key or token. Services repeat parts of requests, and libraries repeat responses.
func Scrub(text string, of cloud.Credential) string {
	for _, secret := range of.Secrets() {
		if len(secret) >= leastSecret {
			text = strings.ReplaceAll(text, secret, redacted)
			text = strings.ReplaceAll(text, url.QueryEscape(secret), redacted)
		}
	}
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)), " ")
	var out strings.Builder
	before := ""
	for i, word := range strings.Split(text, " ") {
		if i > 0 {
			out.WriteByte(' ')
		}
		bearer := strings.HasSuffix(strings.ToLower(before), "bearer") && len(word) >= leastToken
		if before = word; bearer || keyLike(word) {
			word = redacted
		}
		out.WriteString(word)
	}
	text = out.String()
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// keyLike reports whether a word has a run that is as long as a key.
func keyLike(word string) bool {
	run := 0
	for _, r := range word {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("+=_-~%", r):
			if run++; run >= longWord {
				return true
			}
		default: // dots, colons and slashes are in names of hosts and files, and in ARNs; the parts of tokens between them are long
			run = 0
		}
	}
	return false
}
