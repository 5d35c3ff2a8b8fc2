package splice

import (
	"cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/form"
)

// Part is one field of a form. Its slices are parts of the body.
type Part struct {
	form.Part

	Value Span
	field Field // fields if the name is not in the table
}

// Whole returns the position of the part in the form: from the boundary before it to the one after it.
func (p *Part) Whole() Span { return Span{p.From, p.Next} }

// multipart is a body of the type multipart/form-data.
type multipart struct {
	body     []byte
	parts    []Part
	boundary string // without the hyphens before it
	start    int    // of the first boundary
}

// ScanForm returns a function that reads a body of the type multipart/form-data with the boundary
// of r. It must have one field model, unless the path names the model, and a file of each of the
// given names. The function finds the fields in place. r then has the text fields as the members
// of a JSON object, so the same rules hold for them as in Scan: see Document. The error is a
// *fault.Error of kind Malformed. After an error r is invalid.
//
// It rejects a form in which two readers could see different fields: see package form.
func ScanForm(files ...string) func(body []byte, r *Request) error {
	return func(body []byte, r *Request) error {
		parts, start, err := form.Split(body, r.Boundary)
		if err != nil {
			return err
		}
		f := &multipart{body: body, parts: make([]Part, len(parts)), start: start, boundary: r.Boundary}
		for i := range parts {
			f.parts[i] = Part{Part: parts[i], Value: Span{parts[i].Off, parts[i].End}}
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
		if p := &r.form.parts[i]; p.IsFile && string(p.Base()) == name {
			return p.Value.Of(r.form.body)
		}
	}
	return nil
}

// edits appends the edits of the plan for a form. They remove whole parts, and replace the value
// of model or add its part, so the boundary and all other bytes stay.
func (f *multipart) edits(dst []Edit, r *Request, p *Plan) []Edit {
	name := cmp.Or(p.Model, r.Model)
	if !r.Has(Model) && !p.Remove.Has(Model) {
		dst = append(dst, Edit{f.start, f.start, "--" + f.boundary + "\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n" + name + "\r\n"})
	}
	for i := range f.parts {
		part := &f.parts[i]
		switch {
		case part.field == fields:
		case p.Remove.Has(part.field):
			dst = append(dst, Edit{Off: part.From, End: part.Next})
		case part.field == Model && string(part.Value.Of(f.body)) != name:
			dst = append(dst, Edit{part.Value.Off, part.Value.End, name})
		}
	}
	return dst
}
