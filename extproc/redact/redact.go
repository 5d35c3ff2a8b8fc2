// Package redact removes from a provider's errors what must not be recorded: what the caller
// sent, what the model wrote, and what looks like a credential. Providers repeat prompts and keys
// in their messages.
package redact

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

// Bounds of the parts of a provider's error that are kept.
const (
	maxFailureMessage = 300     // bytes of its message
	maxFailureName    = 64      // of its type and its code
	maxProviderID     = 128     // of its id of the request
	maxEchoBody       = 1 << 20 // of a request; larger ones are not compared, and no message is kept
)

// withheld replaces what was removed from a message.
const withheld = "[...]"

// Attempt is what an error of a provider may repeat.
type Attempt struct {
	Body       []byte // of the caller's request
	Model      string // that the request names
	Generated  []byte // of the response
	Deployment *catalog.Deployment
}

// Message redacts a provider's message for logs and records: bounded, one line of ASCII. A
// word stays only if neither the request nor the response contains it, or if it is common in
// errors. Of a request with a long body no message is kept.
func (a *Attempt) Message(message string) string {
	d := a.Deployment
	if message == "" || len(a.Body) > maxEchoBody {
		return ""
	}
	sent := make(map[string]struct{})
	addStrings(sent, a.Body)
	addWords(sent, string(a.Generated))
	known := commonWords()
	for _, name := range []string{d.Model, a.Model} {
		for _, w := range wordsOf(name) {
			known[w] = struct{}{}
		}
	}
	var out []string
	for field := range strings.FieldsSeq(message) {
		if isEcho(field, sent, known) || isCredential(field, d) {
			field = withheld
		}
		if n := len(out); field != withheld || n == 0 || out[n-1] != withheld {
			out = append(out, field)
		}
	}
	text := strings.Join(out, " ")
	if len(text) > maxFailureMessage {
		text = text[:maxFailureMessage]
	}
	return text
}

// isEcho reports whether a part of a field is from what the caller sent.
func isEcho(field string, sent, known map[string]struct{}) bool {
	parts := wordsOf(field)
	cut := strings.HasSuffix(strings.TrimRight(field, `"'),]`+"`"), "...")
	for i, w := range parts {
		if strings.ContainsFunc(w, func(r rune) bool { return r > unicode.MaxASCII }) {
			return true // words without spaces between them cannot be compared
		}
		if _, ok := known[w]; ok {
			continue
		}
		if _, ok := sent[w]; ok {
			return true
		}
		if cut && i == len(parts)-1 && isPrefix(w, sent) {
			return true
		}
	}
	return strings.ContainsFunc(field, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' })
}

func isPrefix(w string, of map[string]struct{}) bool {
	for word := range of {
		if strings.HasPrefix(word, w) {
			return true
		}
	}
	return false
}

// isCredential reports whether a field contains a piece of the deployment's credential, or
// looks like a secret: long, with digits, or masked.
func isCredential(field string, d *catalog.Deployment) bool {
	const piece = 6
	secrets := []string{d.APIKey.Reveal()}
	for i := range d.ExtraHeaders {
		secrets = append(secrets, d.ExtraHeaders[i].Value.Reveal())
	}
	for _, secret := range secrets {
		for i := 0; i+piece <= len(field); i++ {
			if strings.Contains(secret, field[i:i+piece]) {
				return true
			}
		}
	}
	return strings.Contains(field, "***") || len(field) >= 20 && strings.ContainsAny(field, "0123456789")
}

// addStrings adds the words of all strings of a JSON text except the names of members.
func addStrings(set map[string]struct{}, body []byte) {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return // the end, or text that splice.Scan does not read either
		}
		kind, n := d.StackIndex(d.StackDepth())
		if name := kind == '{' && n%2 == 1; t.Kind() == '"' && !name {
			addWords(set, t.String())
		}
	}
}

func addWords(set map[string]struct{}, text string) {
	for _, w := range wordsOf(text) {
		set[w] = struct{}{}
	}
}

// wordsOf splits a text into its words, in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// commonWords returns words that are common in providers' messages. They reveal nothing about
// a prompt that contains them too.
func commonWords() map[string]struct{} {
	const list = `a about above access account again allowed an and api are array as assistant at available bad balance be been
		before below billing but by call cannot capacity chat check code completion completions connection contact contain contains content
		context could credit credits currently denied deployment did disabled do does doesn empty enabled error errors exceed
		exceeded exceeds expected expired failed field fields file for format found free from function functions gateway generated got
		has have header if image image_url in incorrect input insufficient integer internal invalid is it its json key later length less
		level limit limited limits long longer max maximum may message messages method min minimum minute missing model models more
		must name no not null number object occurred of on one only or org organization our output overloaded page param parameter
		parameters pay per permission plan please processing project prompt property provide provided quota rate reached reduce
		refused region remove request requested requests require required requires resource response retry role rpm schema second
		seconds server service should size spend string support supported system temperature temporarily text than that the there this
		timeout to token tokens too tool tools top_p tpm traffic try type unable unauthorized unavailable unexpected unknown
		unsupported up upgrade url usage use used user valid value values visit was were when which will with within you your`
	out := make(map[string]struct{}, 320)
	for w := range strings.FieldsSeq(list) {
		out[w] = struct{}{}
	}
	return out
}

// Name returns a provider's error type or code if it has the form of one.
func Name(name string, d *catalog.Deployment) string {
	if name == "" || len(name) > maxFailureName || isCredential(name, d) || !isPlain(name) {
		return ""
	}
	return name
}

// ID returns a provider's id of a request if it has the form of one.
func ID(id string) string {
	if len(id) > maxProviderID || !isPlain(id) {
		return ""
	}
	return id
}

func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.:/=+", r)
	})
}
