package form

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Limits of a form, far above any legitimate one.
const (
	maxParts   = 256
	searchStep = 256 << 10 // bytes searched in one call
)

// Part is one field of a form. Its slices are parts of the body, and so are its positions.
type Part struct {
	Name     []byte // with its brackets: timestamp_granularities[]
	Filename []byte // as sent, with its escapes; nil if the part is not a file, or has filename* only
	Type     []byte // content type; nil if the part has none
	IsFile   bool
	Off, End int // the value
	From     int // the boundary before the part
	Next     int // the boundary after the part

	base int // length of Name without its brackets
}

// Base returns the name of the field without the brackets after it.
func (p *Part) Base() []byte { return p.Name[:p.base] }

// splitter finds the parts of a body.
type splitter struct {
	body  []byte
	line  []byte // the boundary with the line feed before it
	start int    // of the first boundary
	parts []Part
}

// Split returns the parts of a body with a boundary, as Boundary returns it, and the position of
// the first boundary. The error is a *fault.Error of kind Malformed.
func Split(body []byte, boundary string) (parts []Part, start int, err error) {
	f := &splitter{body: body, line: []byte("\n--" + boundary)}
	if err := f.split(); err != nil {
		return nil, 0, err
	}
	return f.parts, f.start, nil
}

// split finds the parts.
func (f *splitter) split() error {
	boundary := f.line[1:]
	at := 0
	if bytes.HasPrefix(f.body, []byte("\r\n")) {
		at = 2 // some clients end an empty preamble
	}
	if !bytes.HasPrefix(f.body[at:], boundary) {
		return broken("The request body does not begin with the boundary that the header Content-Type names. " +
			"Send multipart/form-data, and let the HTTP library set the header together with the body.")
	}
	f.start = at
	for {
		rest := f.body[at+len(boundary):]
		switch {
		case bytes.HasPrefix(rest, []byte("--")):
			return f.end(rest[2:])
		case !bytes.HasPrefix(rest, []byte("\r\n")):
			if len(rest) < 2 {
				return f.unfinished()
			}
			return fault.New(fault.Malformed, codeSyntax, "A line of the form begins with the boundary and continues, at byte %d. Choose a boundary that no line of the content begins with.", at)
		case len(f.parts) == maxParts:
			return fault.New(fault.Malformed, "too_many_fields", "The form has too many fields; at most %d are allowed.", maxParts)
		}
		p := Part{From: at}
		if err := f.part(&p, at+len(boundary)+2); err != nil {
			return err
		}
		f.parts = append(f.parts, p)
		at = p.Next
	}
}

// part reads the part whose headers begin at i.
func (f *splitter) part(p *Part, i int) error {
	value, err := f.head(p, i)
	if err != nil {
		return err
	}
	// The search begins at the end of the headers: the boundary may follow them at once.
	at := index(f.body, f.line, value-1)
	switch {
	case at < 0:
		return p.Wrong(codeSyntax, "The field %q has no end: the boundary after it is missing. Send the whole form, up to the boundary that ends with two hyphens.")
	case at < value:
		return p.Wrong(codeSyntax, "The field %q has no value: the boundary follows its headers. Put an empty line between the headers and the value, also if the value is empty.")
	case f.body[at-1] != '\r' || at == value:
		return p.Wrong(codeSyntax, "The value of the field %q has a line that begins with the boundary after a lone line feed. End lines with a carriage return and a line feed.")
	}
	p.Off, p.End = value, at-1
	p.Next = at + 1
	return nil
}

// end checks what follows the final boundary.
func (f *splitter) end(rest []byte) error {
	if len(rest) > 0 && string(rest) != "\r\n" {
		return fault.New(fault.Malformed, codeSyntax, "The form has bytes after its final boundary, at byte %d. Send nothing after it.", len(f.body)-len(rest))
	}
	return nil
}

func (f *splitter) unfinished() error {
	return fault.New(fault.Malformed, codeSyntax, "The form ends too early, at byte %d: the final boundary is missing. Send the whole form, up to the boundary that ends with two hyphens.", len(f.body))
}

// index is bytes.Index from an offset. It searches in steps, because the garbage collector
// cannot stop a goroutine within one.
func index(b, sep []byte, from int) int {
	for from+len(sep) <= len(b) {
		end := min(from+searchStep+len(sep)-1, len(b))
		if i := bytes.Index(b[from:end], sep); i >= 0 {
			return from + i
		}
		from = end - len(sep) + 1
	}
	return -1
}
