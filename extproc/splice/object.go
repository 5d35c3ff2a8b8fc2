package splice

import (
	"bytes"
	"iter"
	"slices"
)

// Object is a JSON object whose members are changed by name. Bytes of members that do not change
// stay as they are, white space included. Read makes one; it refers to the body, which must not
// change meanwhile.
type Object struct {
	body    []byte
	members []namedMember
	added   []namedMember // after the others
	start   int           // of the object: its opening brace
	end     int           // of the last member, or of the opening brace
}

// namedMember is a member of an Object.
type namedMember struct {
	name  []byte
	from  int      // the opening quote of its name
	value Span     // of its value; empty for an added one
	parts [][]byte // its new value, in parts; nil if it keeps the one in the body
	gone  bool
}

// ReadObject reads a body that is a JSON object and that a scan has accepted.
func ReadObject(body []byte) *Object {
	s := scanner{b: body}
	o := &Object{body: body, start: s.space(0), members: make([]namedMember, 0, 16)}
	o.end = o.start + 1
	w := s.members(o.start)
	for w.next() {
		at := w.at
		w.at = s.value(at)
		o.end = w.at
		// Sliced from the body and not from w, as in Request.object, unless it has escapes.
		name := body[w.from+1 : w.to]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = bytes.Clone(w.name)
		}
		o.members = append(o.members, namedMember{name: name, from: w.from, value: Span{at, w.at}})
	}
	return o
}

// Get returns the value of a member as JSON; nil if there is none, or if it is null.
func (o *Object) Get(name string) []byte {
	m := o.find(name)
	if m == nil {
		return nil
	}
	value := o.valueOf(m)
	if string(value) == "null" {
		return nil
	}
	return value
}

// All returns the members, with their values as JSON.
func (o *Object) All() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, list := range [...][]namedMember{o.members, o.added} {
			for i := range list {
				if m := &list[i]; !m.gone && !yield(string(m.name), o.valueOf(m)) {
					return
				}
			}
		}
	}
}

// Len returns the number of members.
func (o *Object) Len() int {
	n := len(o.added)
	for i := range o.members {
		if !o.members[i].gone {
			n++
		}
	}
	return n
}

// valueOf returns the value of a member.
func (o *Object) valueOf(m *namedMember) []byte {
	if m.parts != nil {
		return bytes.Join(m.parts, nil)
	}
	return m.value.Of(o.body)
}

// Set sets a member to a value: JSON, in one part or several. A new member follows all others.
func (o *Object) Set(name string, parts ...[]byte) {
	if m := o.find(name); m != nil {
		m.parts = parts
		return
	}
	o.added = append(o.added, namedMember{name: []byte(name), parts: parts})
}

// Remove removes a member, and reports whether there was one.
func (o *Object) Remove(name string) bool {
	n := o.Len()
	for i := range o.members {
		if string(o.members[i].name) == name {
			o.members[i].gone = true
		}
	}
	o.added = slices.DeleteFunc(o.added, func(m namedMember) bool { return string(m.name) == name })
	return o.Len() < n
}

// find returns the last member with a name, which counts for most JSON readers.
func (o *Object) find(name string) *namedMember {
	for i := range slices.Backward(o.added) {
		if string(o.added[i].name) == name {
			return &o.added[i]
		}
	}
	for i := range slices.Backward(o.members) {
		if m := &o.members[i]; string(m.name) == name && !m.gone {
			return m
		}
	}
	return nil
}

// Append appends the object with its changes, and what is around it in the body.
func (o *Object) Append(dst []byte) []byte {
	size := len(o.body)
	for _, list := range [...][]namedMember{o.members, o.added} {
		for i := range list {
			size += list[i].growth()
		}
	}
	dst = slices.Grow(dst, size)
	dst = append(dst, o.body[:o.start+1]...)
	at, first := o.start+1, true
	for i := range o.members {
		m := &o.members[i]
		if m.gone {
			at = m.value.End
			continue
		}
		between := o.body[at:m.from] // white space, and the comma unless it is the first
		if comma := bytes.IndexByte(between, ','); first && comma >= 0 {
			between = between[comma+1:]
		}
		dst = append(dst, between...)
		if m.parts == nil {
			dst = Append(dst, o.body[m.from:m.value.End])
		} else {
			dst = m.appendValue(append(dst, o.body[m.from:m.value.Off]...))
		}
		at, first = m.value.End, false
	}
	for i := range o.added {
		if !first {
			dst = append(dst, ',')
		}
		dst = o.added[i].appendValue(append(Quote(dst, string(o.added[i].name)), ':'))
		first = false
	}
	return append(dst, o.body[o.end:]...)
}

// growth returns at most how many bytes a member adds.
func (m *namedMember) growth() int {
	if m.parts == nil {
		return 0
	}
	n := len(m.name) + len(`,"":`)
	for _, part := range m.parts {
		n += len(part)
	}
	return n
}

func (m *namedMember) appendValue(dst []byte) []byte {
	for _, part := range m.parts {
		dst = Append(dst, part)
	}
	return dst
}

// Surround puts elements before and after those of a member that is an array: both are elements
// without brackets, or empty. A text becomes an element between the two parts of around. If the
// member is missing, the others alone are its value. A value of another type stays.
func (o *Object) Surround(name string, before, after []byte, around [2]string) {
	var inner [][]byte
	switch value := o.Get(name); {
	case value == nil:
	case value[0] == '[':
		if s := (scanner{b: value}); value[s.space(1)] != ']' {
			inner = [][]byte{value[1 : len(value)-1]}
		}
	case value[0] == '"':
		inner = [][]byte{[]byte(around[0]), value, []byte(around[1])}
	default:
		return
	}
	parts := append(make([][]byte, 0, 9), []byte("["))
	for _, list := range [...][][]byte{{before}, inner, {after}} {
		if len(list) == 0 || len(list[0]) == 0 {
			continue
		}
		if len(parts) > 1 {
			parts = append(parts, []byte(","))
		}
		parts = append(parts, list...)
	}
	o.Set(name, append(parts, []byte("]"))...)
}
