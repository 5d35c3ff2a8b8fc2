package rest

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/modelgateway/modelgateway/mgmt/field"
)

// orderedText is the field of gateway.v1.Json. Requests and responses have the value in place of
// the message.
const orderedText = "text"

// narrower replaces messages of ordered JSON by their values. The zero narrower is ready. It is
// safe for concurrent use.
type narrower struct {
	ordered sync.Map // whether a message has some, by its full name
}

// has reports whether a message is ordered JSON, or has some in a field.
func (n *narrower) has(m protoreflect.MessageDescriptor) bool {
	if known, ok := n.ordered.Load(m.FullName()); ok {
		return known.(bool)
	}
	found := containsJSON(m, map[protoreflect.FullName]bool{})
	n.ordered.Store(m.FullName(), found)
	return found
}

func containsJSON(m protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) bool {
	if field.IsJSON(m) || seen[m.FullName()] {
		return field.IsJSON(m)
	}
	seen[m.FullName()] = true
	for i := range m.Fields().Len() {
		if inner := m.Fields().Get(i).Message(); inner != nil && containsJSON(inner, seen) {
			return true
		}
	}
	return false
}

// narrow rewrites the text of a message as protojson has it.
func (n *narrower) narrow(text []byte, m protoreflect.MessageDescriptor) ([]byte, error) {
	if !n.has(m) {
		return text, nil
	}
	var out bytes.Buffer
	out.Grow(len(text))
	d, e := jsontext.NewDecoder(bytes.NewReader(text)), jsontext.NewEncoder(&out)
	if err := n.message(d, e, m); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// message copies a message.
func (n *narrower) message(d *jsontext.Decoder, e *jsontext.Encoder, m protoreflect.MessageDescriptor) error {
	if m == nil || d.PeekKind() != '{' || !n.has(m) {
		return copyValue(d, e)
	}
	if field.IsJSON(m) {
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		var one struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(v, &one); err != nil {
			return err
		}
		return e.WriteValue(jsontext.Value(one.Text))
	}
	return copyWithin(d, e, func(name string) error {
		f := m.Fields().ByName(protoreflect.Name(name))
		switch {
		case f.IsMap():
			return copyWithin(d, e, func(string) error { return n.message(d, e, f.MapValue().Message()) })
		case f.IsList():
			return copyWithin(d, e, func(string) error { return n.message(d, e, f.Message()) })
		}
		return n.message(d, e, f.Message())
	})
}

// copyWithin copies an object or a list. copyOne copies each value; name is that of its member.
func copyWithin(d *jsontext.Decoder, e *jsontext.Encoder, copyOne func(name string) error) error {
	begin, err := d.ReadToken()
	if err != nil {
		return err
	}
	if err := e.WriteToken(begin); err != nil {
		return err
	}
	object := begin.Kind() == '{'
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		name := ""
		if object {
			token, err := d.ReadToken()
			if err != nil {
				return err
			}
			name = token.String()
			if err := e.WriteToken(jsontext.String(name)); err != nil {
				return err
			}
		}
		if err := copyOne(name); err != nil {
			return err
		}
	}
	end, err := d.ReadToken()
	if err != nil {
		return err
	}
	return e.WriteToken(end)
}

func copyValue(d *jsontext.Decoder, e *jsontext.Encoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	return e.WriteValue(v)
}
