package splice

import "github.com/modelgateway/modelgateway/cluster/fault"

// Within returns the raw value of a member of an object field; nil if it is missing. The last
// member with the name counts, as for most JSON readers.
func (r *Request) Within(f Field, name string) []byte {
	return Lookup(r.Raw(f), name)
}

// TextWithin is Text for a member of an object field. The error names both, separated by a dot.
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
