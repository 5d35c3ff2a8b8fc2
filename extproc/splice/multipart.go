package splice

import (
	"bytes"
	"cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Limits of a form, far above any legitimate one.
const (
	maxParts   = 256
	searchStep = 256 << 10 // bytes searched in one call: see Append
)

// Part is one field of a form. Its slices are parts of the body.
type Part struct {
	Name     []byte // with its brackets: timestamp_granularities[]
	Filename []byte // as sent, with its escapes; nil if the part is not a file, or has filename* only
	Type     []byte // content type; nil if the part has none
	IsFile   bool
	Value    Span

	base  int   // length of Name without its brackets
	field Field // fields if the name is not in the table
	from  int   // the boundary before the part
	next  int   // the boundary after the part
}

// Base returns the name of the field without the brackets after it.
func (p *Part) Base() []byte { return p.Name[:p.base] }

// Whole returns the position of the part in the form: from the boundary before it to the one after it.
func (p *Part) Whole() Span { return Span{p.from, p.next} }

// form is a body of the type multipart/form-data.
type form struct {
	body  []byte
	line  []byte // the boundary with the line feed before it
	start int    // of the first boundary
	parts []Part
}

// ScanForm returns a function that reads a body of the type multipart/form-data with the boundary
// of r. It must have one field model, unless the path names the model, and a file of each of the
// given names. The function finds the fields in place. r then has the text fields as the members
// of a JSON object, so the same rules hold for them as in Scan: see Document. The error is a
// *fault.Error of kind Malformed. After an error r is invalid.
//
// It rejects a form in which two readers could see different fields: a line that begins with the
// boundary and is none, line feeds without carriage returns, folded or repeated headers, encoded
// names, and bytes outside of the parts.
func ScanForm(files ...string) func(body []byte, r *Request) error {
	return func(body []byte, r *Request) error {
		f := &form{body: body, line: []byte("\n--" + r.Boundary)}
		if err := f.split(); err != nil {
			return err
		}
		document, err := f.document()
		if err != nil {
			return err
		}
		if err := r.scan(document); err != nil {
			return err
		}
		r.form = f
		if err := r.check(); err != nil {
			return err
		}
		for _, name := range files {
			if r.File(name) == nil {
				return fault.Field(name, "missing_required_parameter", "The form has no file %q. Send it with a filename.", name)
			}
		}
		return nil
	}
}

// Document returns the JSON object that r describes: the body, or for a form an object with its
// text fields. Of those that the gateway does not know, the object lacks the long ones.
func (r *Request) Document() []byte { return r.body }

// Form returns the fields of a form in order, files included; nil for a JSON body.
func (r *Request) Form() []Part {
	if r.form == nil {
		return nil
	}
	return r.form.parts
}

// FormBody returns the whole form; nil for a JSON body.
func (r *Request) FormBody() []byte {
	if r.form == nil {
		return nil
	}
	return r.form.body
}

// File returns the content of the first file of a form with the name, with or without brackets
// after it; nil if there is none.
func (r *Request) File(name string) []byte {
	for i := range r.Form() {
		if p := &r.form.parts[i]; p.IsFile && string(p.Name[:p.base]) == name {
			return p.Value.Of(r.form.body)
		}
	}
	return nil
}

// split finds the parts.
func (f *form) split() error {
	boundary := f.line[1:]
	at := 0
	if bytes.HasPrefix(f.body, []byte("\r\n")) {
		at = 2 // some clients end an empty preamble
	}
	if !bytes.HasPrefix(f.body[at:], boundary) {
		return broken400("The request body does not begin with the boundary that the header Content-Type names. " +
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
			return fault.New(fault.Malformed, codeForm, "A line of the form begins with the boundary and continues, at byte %d. Choose a boundary that no line of the content begins with.", at)
		case len(f.parts) == maxParts:
			return fault.New(fault.Malformed, "too_many_fields", "The form has too many fields; at most %d are allowed.", maxParts)
		}
		p := Part{from: at}
		if err := f.part(&p, at+len(boundary)+2); err != nil {
			return err
		}
		f.parts = append(f.parts, p)
		at = p.next
	}
}

// part reads the part whose headers begin at i.
func (f *form) part(p *Part, i int) error {
	value, err := f.head(p, i)
	if err != nil {
		return err
	}
	// The search begins at the end of the headers: the boundary may follow them at once.
	at := index(f.body, f.line, value-1)
	switch {
	case at < 0:
		return p.wrong(codeForm, "The field %q has no end: the boundary after it is missing. Send the whole form, up to the boundary that ends with two hyphens.")
	case at < value:
		return p.wrong(codeForm, "The field %q has no value: the boundary follows its headers. Put an empty line between the headers and the value, also if the value is empty.")
	case f.body[at-1] != '\r' || at == value:
		return p.wrong(codeForm, "The value of the field %q has a line that begins with the boundary after a lone line feed. End lines with a carriage return and a line feed.")
	}
	p.Value = Span{value, at - 1}
	p.next = at + 1
	return nil
}

// end checks what follows the final boundary.
func (f *form) end(rest []byte) error {
	if len(rest) > 0 && string(rest) != "\r\n" {
		return fault.New(fault.Malformed, codeForm, "The form has bytes after its final boundary, at byte %d. Send nothing after it.", len(f.body)-len(rest))
	}
	return nil
}

func (f *form) unfinished() error {
	return fault.New(fault.Malformed, codeForm, "The form ends too early, at byte %d: the final boundary is missing. Send the whole form, up to the boundary that ends with two hyphens.", len(f.body))
}

// edits appends the edits of the plan for a form. They remove whole parts, and replace the value
// of model or add its part, so the boundary and all other bytes stay.
func (f *form) edits(dst []Edit, r *Request, p *Plan) []Edit {
	name := cmp.Or(p.Model, r.Model)
	if !r.Has(Model) && !p.Remove.Has(Model) {
		dst = append(dst, Edit{f.start, f.start, string(f.line[1:]) + "\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n" + name + "\r\n"})
	}
	for i := range f.parts {
		part := &f.parts[i]
		switch {
		case part.field == fields:
		case p.Remove.Has(part.field):
			dst = append(dst, Edit{Off: part.from, End: part.next})
		case part.field == Model && string(part.Value.Of(f.body)) != name:
			dst = append(dst, Edit{part.Value.Off, part.Value.End, name})
		}
	}
	return dst
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
