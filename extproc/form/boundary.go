package form

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// codeSyntax is the code of errors in the syntax of a form, as invalid_json is for JSON.
const codeSyntax = "invalid_multipart"

// maxBoundary is the longest boundary that RFC 2046 allows.
const maxBoundary = 70

// Boundary returns the parameter boundary of the header Content-Type of a form. Values may be
// quoted. The error is a *fault.Error.
func Boundary(contentType string) (string, error) {
	c := cursor{b: []byte(contentType)}
	media := c.until("; \t")
	if !strings.EqualFold(string(media), "multipart/form-data") {
		return "", &fault.Error{
			Kind: fault.MediaType, Param: "content-type",
			Detail: "Send the body as a form, with the header Content-Type: multipart/form-data and its boundary.",
		}
	}
	boundary, found := "", false
	for c.more() {
		name, value, ok := c.parameter()
		if !ok {
			return "", wrongBoundary("The parameters of the header Content-Type are not valid. Let the HTTP library set the header together with the body.")
		}
		if !strings.EqualFold(string(name), "boundary") {
			continue
		}
		if found {
			return "", wrongBoundary("The header Content-Type names two boundaries. Name one.")
		}
		boundary, found = string(value), true
	}
	switch {
	case !found:
		return "", wrongBoundary("The header Content-Type names no boundary. Let the HTTP library set the header together with the body.")
	case boundary == "" || len(boundary) > maxBoundary || boundary[len(boundary)-1] == ' ' || strings.ContainsFunc(boundary, notInBoundary):
		return "", wrongBoundary("The boundary in the header Content-Type must have 1 to 70 letters, digits and characters of '()+_,-./:=? and must not end with a space.")
	}
	return boundary, nil
}

func wrongBoundary(detail string) error {
	return &fault.Error{Kind: fault.Malformed, Code: codeSyntax, Param: "content-type", Detail: detail}
}

func notInBoundary(r rune) bool {
	digit, letter := '0' <= r && r <= '9', 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !digit && !letter && !strings.ContainsRune("'()+_,-./:=? ", r)
}

// cursor reads a header's value with parameters.
type cursor struct {
	b []byte
	i int
}

// until returns the bytes before the next one in stop.
func (c *cursor) until(stop string) []byte {
	from := c.i
	for c.i < len(c.b) && strings.IndexByte(stop, c.b[c.i]) < 0 {
		c.i++
	}
	return c.b[from:c.i]
}

func (c *cursor) blanks() {
	for c.i < len(c.b) && (c.b[c.i] == ' ' || c.b[c.i] == '\t') {
		c.i++
	}
}

// more reports whether something is left besides white space.
func (c *cursor) more() bool {
	c.blanks()
	return c.i < len(c.b)
}

// take skips a byte if it is the next one.
func (c *cursor) take(b byte) bool {
	if c.i < len(c.b) && c.b[c.i] == b {
		c.i++
		return true
	}
	return false
}

// parameter reads a semicolon, a name and a value. Of a quoted value it returns what is between
// the quotes, with its escapes.
func (c *cursor) parameter() (name, value []byte, ok bool) {
	if !c.take(';') {
		return nil, nil, false
	}
	c.blanks()
	if name = c.until("=;\" \t"); len(name) == 0 || !c.take('=') {
		return nil, nil, false
	}
	if !c.take('"') {
		value = c.until("; \t\"\\")
		return name, value, len(value) > 0 && (c.i == len(c.b) || c.b[c.i] != '"' && c.b[c.i] != '\\')
	}
	from := c.i
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case '"':
			value = c.b[from:c.i]
			c.i++
			return name, value, true
		case '\\':
			if c.i+1 < len(c.b) && (c.b[c.i+1] == '"' || c.b[c.i+1] == '\\') {
				c.i++
			}
		}
		c.i++
	}
	return nil, nil, false
}
