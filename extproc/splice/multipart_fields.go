package splice

import "bytes"

// Limits of the text fields that become members of the document.
const (
	maxText  = 256 << 10 // bytes of all of them
	maxOther = 4 << 10   // bytes of one that the gateway does not know; a longer one is left out
)

// textFields are the fields whose value in a form is text in any case. The value of another
// known field is JSON if it can be read as such.
const textFields FieldSet = 1<<Model | 1<<ResponseFormat | 1<<User | 1<<ServiceTier | 1<<SafetyIdentifier | 1<<Prompt | 1<<Input | 1<<Query |
	1<<PromptID | 1<<GuardrailID | 1<<MemoryID | 1<<TokenSavingPlanID | 1<<LitellmSessionID

// leaf is a text field, with the position in its name up to which it has been read.
type leaf struct {
	*Part

	at int
}

// document checks the fields and returns the text fields as a JSON object. Names with brackets
// become arrays and objects, as the SDKs and web frameworks write them: tags[]=a, metadata[k]=v.
func (f *multipart) document() ([]byte, error) {
	var space [16]leaf
	leaves := space[:0]
	size := 0
	for i := range f.parts {
		p := &f.parts[i]
		text, err := f.admit(p, i)
		if err != nil {
			return nil, err
		}
		if !text {
			continue
		}
		if size += p.Value.End - p.Value.Off; size > maxText {
			return nil, p.Wrong("field_too_long", "With the field %q, the text fields of the form are longer than 262144 bytes. Shorten it.")
		}
		leaves = append(leaves, leaf{p, len(p.Base())})
	}
	dst := append(make([]byte, 0, size+32*len(leaves)+64), '{')
	for len(leaves) > 0 {
		name := leaves[0].Base()
		var group []leaf
		group, leaves = partition(leaves, func(l leaf) bool { return bytes.Equal(l.Name[:len(l.Base())], name) })
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = f.node(appendName(dst, name), group); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// appendName appends a name and the colon. A name has no character that needs an escape.
func appendName(dst, name []byte) []byte {
	dst = append(append(dst, '"'), name...)
	return append(dst, '"', ':')
}

// partition moves the leaves that match to the front, in order.
func partition(list []leaf, match func(leaf) bool) (matching, others []leaf) {
	matching, others = make([]leaf, 0, 1), list[:0]
	for _, l := range list {
		if match(l) {
			matching = append(matching, l)
		} else {
			others = append(others, l)
		}
	}
	return matching, others
}

// admit checks part i, and reports whether it becomes a member of the document.
func (f *multipart) admit(p *Part, i int) (bool, error) {
	base := p.Base()
	row, variant := classify(base)
	switch {
	case variant:
		return false, ambiguous(base)
	case row.verdict == reject:
		return false, unsupported(base)
	case row.verdict == unknown:
		p.field = fields
	default:
		p.field = row.field
	}
	if !bytes.HasSuffix(p.Name, []byte("[]")) {
		for k := range f.parts[:i] {
			if bytes.Equal(f.parts[k].Name, p.Name) {
				return false, p.Wrong("duplicate_parameter", "The field %q occurs twice. Send it once; for a list of values, write [] after the name.")
			}
		}
	}
	value := p.Value.Of(f.body)
	switch {
	case p.IsFile && p.field != fields:
		return false, p.Wrong("invalid_type", "The field %q must be text. Send it without a filename.")
	case p.IsFile && len(value) == 0:
		return false, p.Wrong("empty_file", "The file %q is empty. Send a file with content.")
	case p.IsFile:
		return false, nil
	case badUTF8(value) >= 0:
		return false, p.Wrong("invalid_type", "The field %q must be text in UTF-8. If it is a file, send it with a filename.")
	}
	return p.field != fields || len(value) <= maxOther, nil
}

// node appends the value of the leaves of one name, by the brackets after it.
func (f *multipart) node(dst []byte, group []leaf) ([]byte, error) {
	first := group[0]
	if len(group) == 1 && first.at == len(first.Name) {
		return first.value(dst, first.Value.Of(f.body)), nil
	}
	object := first.at < len(first.Name) && first.Name[first.at+1] != ']'
	closing := byte(']')
	if object {
		dst, closing = append(dst, '{'), '}'
	} else {
		dst = append(dst, '[')
	}
	for n := 0; len(group) > 0; n++ {
		if n > 0 {
			dst = append(dst, ',')
		}
		l := group[0]
		key, ok := l.segment()
		if !ok || (len(key) > 0) != object || !object && l.at+2 != len(l.Name) {
			return nil, l.Wrong("invalid_value", "The name %q does not fit the other fields of that name. Use name for one value, name[] for a list, or name[key] for an object.")
		}
		if !object {
			dst = Quote(dst, string(l.Value.Of(f.body)))
			group = group[1:]
			continue
		}
		var same []leaf
		same, group = partition(group, func(o leaf) bool {
			k, ok := o.segment()
			return ok && bytes.Equal(k, key)
		})
		for i := range same {
			same[i].at += len(key) + 2
		}
		var err error
		if dst, err = f.node(appendName(dst, key), same); err != nil {
			return nil, err
		}
	}
	return append(dst, closing), nil
}

// segment returns what is in the next brackets of the name.
func (l leaf) segment() ([]byte, bool) {
	rest := l.Name[l.at:]
	if len(rest) == 0 {
		return nil, false
	}
	return rest[1:bytes.IndexByte(rest, ']')], true
}

// value appends the value of a leaf as JSON.
func (l leaf) value(dst, text []byte) []byte {
	if l.at == len(l.Base()) && l.field != fields && !textFields.Has(l.field) {
		switch string(text) {
		case "":
			return append(dst, "null"...)
		case "True": // as Python writes it
			return append(dst, "true"...)
		case "False":
			return append(dst, "false"...)
		}
		s := scanner{b: text, depth: 1}
		if end := s.value(s.space(0)); end > 0 && s.space(end) == len(text) {
			return append(dst, text...)
		}
	}
	return Quote(dst, string(text))
}
