package splice

import "github.com/modelgateway/modelgateway/cluster/fault"

// Within returns the value of a member of a field that is an object, as it stands in
// the body; nil if there is none. Where the name occurs twice the last one counts, as
// it does for most readers of JSON.
func (r *Request) Within(f Field, name string) []byte {
	raw := r.Raw(f)
	if raw == nil || raw[0] != '{' {
		return nil
	}
	var value []byte
	s := scanner{b: raw}
	w := s.members(0)
	for w.next() {
		at := w.at
		w.at = s.value(at)
		if string(w.name) == name {
			value = raw[at:w.at]
		}
	}
	return value
}

// TextWithin is Text for a member of a field that is an object. The error names both,
// with a dot in between.
func (r *Request) TextWithin(f Field, name string) (string, error) {
	raw := r.Within(f, name)
	if raw == nil || raw[0] == 'n' {
		return "", nil
	}
	if raw[0] != '"' {
		param := f.String() + "." + name
		return "", fault.Field(param, "invalid_type", "The field %q must be a string.", param)
	}
	return string(appendUnescaped(nil, raw[1:len(raw)-1])), nil
}
