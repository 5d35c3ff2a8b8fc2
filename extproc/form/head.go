package form

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// maxHead is the limit of a part's headers in bytes. Real ones stay under 300.
const maxHead = 8 << 10

// maxName is the limit of a field's name in bytes, more than three times the longest known one.
const maxName = 128

// Wrong returns an error about the part. The text has one verb, for the part's name.
func (p *Part) Wrong(code, text string) error {
	name := string(p.Name)
	return fault.Field(name, code, text, name)
}

// broken returns an error about the whole form.
func broken(detail string) error {
	return &fault.Error{Kind: fault.Malformed, Code: codeSyntax, Detail: detail}
}

// wrongHead returns an error about the headers of a part, whose name is not known.
func (f *splitter) wrongHead(detail string) error {
	return fault.New(fault.Malformed, codeSyntax, "Part %d of the form %s", len(f.parts)+1, detail)
}

// head reads the headers that begin at i, and returns the index after the empty line.
func (f *splitter) head(p *Part, i int) (int, error) {
	window := f.body[i-2 : min(len(f.body), i+maxHead)] // from the line end before them: there may be none
	end := bytes.Index(window, []byte("\r\n\r\n"))
	switch {
	case end < 0 && len(window) == maxHead+2:
		return 0, f.wrongHead("has headers of more than 8192 bytes. Shorten them.")
	case end < 0:
		return 0, f.unfinished()
	}
	named := false
	for line := range bytes.SplitSeq(window[min(2, end):end], []byte("\r\n")) {
		name, value, ok := header(line)
		if !ok {
			return 0, f.wrongHead("has an invalid header. Write each header as a name, a colon and a value, on one line.")
		}
		switch {
		case is(name, "content-disposition"):
			if named {
				return 0, f.wrongHead("has the header Content-Disposition twice. Send it once.")
			}
			named = true
			if problem := p.disposition(value); problem != "" {
				return 0, f.wrongHead(problem)
			}
		case is(name, "content-type"):
			if p.Type != nil {
				return 0, f.wrongHead("has the header Content-Type twice. Send it once.")
			}
			p.Type = value
		case is(name, "content-transfer-encoding") && !is(value, "binary") && !is(value, "8bit") && !is(value, "7bit"):
			return 0, f.wrongHead("has a Content-Transfer-Encoding. Send the value as it is, without this header.")
		}
	}
	if !named {
		return 0, f.wrongHead("has no header Content-Disposition. Add it, with the name of the field.")
	}
	return i - 2 + end + 4, nil
}

func is(text []byte, name string) bool {
	return len(text) == len(name) && strings.EqualFold(string(text), name)
}

// header splits a header's line.
func header(line []byte) (name, value []byte, ok bool) {
	name, value, ok = bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 {
		return nil, nil, false
	}
	for _, c := range name {
		if !token(c) {
			return nil, nil, false
		}
	}
	for _, c := range value {
		if c < ' ' && c != '\t' || c == 0x7f {
			return nil, nil, false
		}
	}
	return name, bytes.Trim(value, " \t"), true
}

// token reports whether a byte may be in the name of a header or a parameter.
func token(c byte) bool {
	return c-'0' <= 9 || (c|0x20)-'a' <= 'z'-'a' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// disposition reads the header Content-Disposition, and returns what is wrong with it.
func (p *Part) disposition(value []byte) string {
	const invalid = "has an invalid header Content-Disposition. Write it as form-data; name=\"…\", and for a file with filename=\"…\"."
	c := cursor{b: value}
	if !is(c.until("; \t"), "form-data") {
		return invalid
	}
	var seen [3]bool
	for c.more() {
		name, v, ok := c.parameter()
		if !ok {
			return invalid
		}
		k := 0
		switch {
		case is(name, "name"):
			p.Name = v
		case is(name, "filename"):
			k, p.Filename = 1, v
			if !filename(v) {
				return "has an empty or ambiguous filename. Choose a name without quotes."
			}
		case is(name, "filename*"):
			k = 2
			if !extended(v) {
				return "has an invalid parameter filename*. Write it as UTF-8'' and the name, percent-encoded."
			}
		default: // a parameter that another reader could take for one of these
			return invalid
		}
		if seen[k] {
			return "has a parameter of Content-Disposition twice. Send it once."
		}
		seen[k] = true
	}
	if p.IsFile = seen[1] || seen[2]; !seen[0] || !p.named() {
		return "has no valid name. Name the field in letters, digits and underscores, and arrays with [] after that."
	}
	return ""
}

// filename rejects an empty filename, with which readers differ about whether the part is a
// file, and one that continues with parameters for a reader without escapes.
func filename(v []byte) bool {
	ambiguous := bytes.Contains(v, []byte(`\"`)) && bytes.IndexByte(v, ';') >= 0
	return len(v) > 0 && !ambiguous
}

// extended reports whether v is a name in the form of RFC 8187.
func extended(v []byte) bool {
	charset, rest, _ := bytes.Cut(v, []byte("'"))
	_, name, ok := bytes.Cut(rest, []byte("'"))
	if !ok || !is(charset, "utf-8") || len(name) == 0 {
		return false
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '%':
			if i+2 >= len(name) || !hexDigit(name[i+1]) || !hexDigit(name[i+2]) {
				return false
			}
			i += 2
		case !token(c):
			return false
		}
	}
	return true
}

func hexDigit(c byte) bool { return c-'0' <= 9 || (c|0x20)-'a' <= 5 }

// named checks the field's name: a name, then any number of brackets. It rejects characters that
// readers decode or replace in different ways.
func (p *Part) named() bool {
	n := p.Name
	if len(n) > maxName || !utf8.Valid(n) {
		return false
	}
	for _, c := range n {
		if c <= ' ' || c == 0x7f || c == '"' || c == '\\' || c == '%' {
			return false
		}
	}
	p.base = bytes.IndexAny(n, "[]")
	if p.base < 0 {
		p.base = len(n)
	}
	for rest := n[p.base:]; len(rest) > 0; {
		end := bytes.IndexByte(rest, ']')
		if rest[0] != '[' || end < 0 || bytes.IndexByte(rest[1:end], '[') >= 0 {
			return false
		}
		rest = rest[end+1:]
	}
	return p.base > 0
}
