package splice

// Length returns the number of bytes of the body without the members in skip, names and values.
func (r *Request) Length(skip FieldSet) int {
	n := len(r.body)
	for _, f := range r.order[:r.known] {
		if skip.Has(f) {
			n -= int(r.members[f].end - r.members[f].from)
		}
	}
	return n
}
