package config

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/vault"
)

// writer writes YAML: block collections, one entry a line, in the order of the
// calls. The encoder of the YAML library is not used because it decides by
// itself when to quote, and prices must keep their digits.
type writer struct {
	out    []byte
	depth  int
	dash   bool // the next line begins a list entry
	hashed bool // credentials are written as their SHA-256 and not as "[redacted]"
}

// line writes one line at the current depth.
func (w *writer) line(parts ...string) {
	w.out = append(w.out, strings.Repeat("  ", w.depth)...)
	if w.dash {
		w.out = append(w.out[:len(w.out)-2], "- "...)
		w.dash = false
	}
	for _, p := range parts {
		w.out = append(w.out, p...)
	}
	w.out = append(w.out, '\n')
}

// raw writes a key with a value that is YAML already.
func (w *writer) raw(name, value string) { w.line(yamlKey(name), ": ", value) }

// str writes a string.
func (w *writer) str(name, value string) { w.raw(name, yamlText(value)) }

// given writes a string unless it is empty.
func (w *writer) given(name, value string) {
	if value != "" {
		w.str(name, value)
	}
}

// address writes a URL unless it is empty. One with a user name, a password or a query
// is a credential: a query may hold a token.
func (w *writer) address(name, value string) {
	if u, err := url.Parse(value); err == nil && u.User == nil && u.RawQuery == "" {
		w.given(name, value)
		return
	}
	w.secret(name, vault.NewSecret(value))
}

// integer writes a number.
func (w *writer) integer(name string, value int64) { w.raw(name, strconv.FormatInt(value, 10)) }

// boolean writes true or false.
func (w *writer) boolean(name string, value bool) {
	w.raw(name, strconv.FormatBool(value))
}

// seconds writes a time span. No span that is read has more digits than a
// float64 holds.
func (w *writer) seconds(name string, value time.Duration) {
	w.raw(name, strconv.FormatFloat(value.Seconds(), 'f', -1, 64))
}

// secret writes that there is a credential.
func (w *writer) secret(name string, value vault.Secret) {
	switch {
	case value.IsEmpty():
	case w.hashed:
		hash := sha256.Sum256([]byte(value.Reveal()))
		w.raw(name, hex.EncodeToString(hash[:]))
	default:
		w.raw(name, `"`+redacted+`"`)
	}
}

// strings writes a list on one line.
func (w *writer) strings(name string, values []string) {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = string(jsonString(escape(v)))
	}
	w.raw(name, "["+strings.Join(quoted, ", ")+"]")
}

// some writes a list unless it is empty.
func (w *writer) some(name string, values []string) {
	if len(values) > 0 {
		w.strings(name, values)
	}
}

// section writes a key with what body writes below it.
func (w *writer) section(name string, body func()) {
	w.line(yamlKey(name), ":")
	w.depth++
	before := len(w.out)
	body()
	w.depth--
	if len(w.out) == before { // nothing came: an empty mapping, so that the key is not null
		w.out = append(w.out[:before-1], " {}\n"...)
	}
}

// optional is section, but writes nothing if body writes nothing.
func (w *writer) optional(name string, body func()) {
	start := len(w.out)
	w.line(yamlKey(name), ":")
	before := len(w.out)
	w.depth++
	body()
	w.depth--
	if len(w.out) == before {
		w.out = w.out[:start]
	}
}

// list writes a key with a list of n mappings, each written by entry.
func (w *writer) list(name string, n int, entry func(i int)) {
	if n == 0 {
		w.raw(name, "[]")
		return
	}
	w.line(yamlKey(name), ":")
	w.depth += 2
	for i := range n {
		w.dash = true
		entry(i)
	}
	w.depth -= 2
}

// escape keeps a text from being read as a reference to the environment.
func escape(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// yamlText returns a string as YAML.
func yamlText(s string) string { return yamlKey(escape(s)) }

// yamlKey returns a string as YAML, in quotes unless it plainly needs none.
func yamlKey(s string) string {
	if isPlain(s) {
		return s
	}
	return string(jsonString(s))
}

// isPlain reports whether s means itself without quotes, to every version of YAML.
func isPlain(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan":
		return false
	}
	if c := s[0]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '/' && !strings.HasPrefix(s, "./") {
		return false
	}
	odd := func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("_-./", c)
	}
	return !strings.ContainsFunc(strings.ReplaceAll(s, "://", ""), odd)
}
