package driver

import (
	"strconv"

	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Original is a request as its caller sends it.
type Original struct {
	Endpoint Endpoint
	Facts    *splice.Request // its body, read by the scanner of the endpoint
	Created  int64           // when it came, in seconds since 1970: the time of a response that has none

	// Prompt returns the canonical form of a request for a count of tokens. Of other endpoints it is nil.
	Prompt func() (*wire.Request, error)
}

// TokenCount returns the response to a request for a count of tokens, in the language of its endpoint.
func TokenCount(e Endpoint, n int64) []byte {
	number := strconv.FormatInt(n, 10)
	switch e { //nolint:exhaustive // the others count nothing
	case InputTokens:
		return []byte(`{"object":"response.input_tokens","input_tokens":` + number + `}`)
	case ContentsCount:
		return []byte(`{"totalTokens":` + number + `,"promptTokensDetails":[{"modality":"TEXT","tokenCount":` + number + `}]}`)
	case ConverseCount:
		return []byte(`{"inputTokens":` + number + `}`)
	}
	return []byte(`{"input_tokens":` + number + `}`)
}

// Members returns the members of the request that are for a provider, and not for the gateway. Those of a form
// are its text fields: see splice.Request.Document.
func (r *Original) Members() *splice.Object {
	o := splice.ReadObject(r.Facts.Document())
	for name := range o.All() {
		if ofGateway([]byte(name)) {
			o.Remove(name)
		}
	}
	return o
}

// ofGateway reports whether a member is for the gateway.
func ofGateway(name []byte) bool {
	f, known := splice.FieldNamed(name)
	return known && splice.Extensions.Has(f)
}

// Fields returns the fields of the form, to be changed. The request must be a form.
func (r *Original) Fields() *FormFields {
	parts := r.Facts.Form()
	f := &FormFields{body: r.Facts.FormBody(), boundary: "--" + r.Facts.Boundary + "\r\n", parts: parts, changes: make([]fieldChange, len(parts))}
	for i := range parts {
		f.changes[i].gone = ofGateway(parts[i].Base())
	}
	return f
}

// FormFields changes fields of a form by their names, without brackets after them. Bytes of fields that do not change
// stay as they are, files among them. Fields that are for the gateway are removed.
type FormFields struct {
	body     []byte
	boundary string // with the line's end
	parts    []splice.Part
	changes  []fieldChange // by part
	added    string        // fields before all others
}

// fieldChange is what happens with a part.
type fieldChange struct {
	gone  bool
	name  string  // the new name; empty if it keeps its own
	value *string // nil if it keeps its own
}

// Remove removes a field.
func (f *FormFields) Remove(name string) {
	f.each(name, func(c *fieldChange) { c.gone = true })
}

// Rename gives a text field another name. Brackets after the name go.
func (f *FormFields) Rename(name, to string) {
	f.each(name, func(c *fieldChange) { c.name = to })
}

// Set sets the value of a text field, or adds it. The value must not contain the boundary.
func (f *FormFields) Set(name, value string) {
	if !f.each(name, func(c *fieldChange) { c.value = &value }) {
		f.added += f.boundary + fieldHead(name) + value + "\r\n"
	}
}

// each calls change for the parts of a field, and reports whether there is one.
func (f *FormFields) each(name string, change func(*fieldChange)) (found bool) {
	for i := range f.parts {
		if string(f.parts[i].Base()) == name && !f.changes[i].gone {
			change(&f.changes[i])
			found = true
		}
	}
	return found
}

// fieldHead returns the headers of a text field, with the empty line after them.
func fieldHead(name string) string {
	return "Content-Disposition: form-data; name=\"" + name + "\"\r\n\r\n"
}

// Append appends the form with its changes.
func (f *FormFields) Append(dst []byte) []byte {
	edits := make([]splice.Edit, 0, len(f.changes)+1)
	if f.added != "" && len(f.parts) > 0 {
		at := f.parts[0].Whole().Off
		edits = append(edits, splice.Edit{Off: at, End: at, With: f.added})
	}
	for i := range f.changes {
		c, p := &f.changes[i], &f.parts[i]
		whole := p.Whole()
		switch {
		case c.gone:
			edits = append(edits, splice.Edit{Off: whole.Off, End: whole.End})
			continue
		case c.name != "":
			edits = append(edits, splice.Edit{Off: whole.Off + len(f.boundary), End: p.Value.Off, With: fieldHead(c.name)})
		}
		if c.value != nil {
			edits = append(edits, splice.Edit{Off: p.Value.Off, End: p.Value.End, With: *c.value})
		}
	}
	return splice.Apply(dst, f.body, edits)
}
