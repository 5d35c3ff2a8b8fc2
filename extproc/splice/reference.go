package splice

// Given reports whether the body has the field with another value than null.
func (r *Request) Given(f Field) bool {
	raw := r.Raw(f)
	return raw != nil && raw[0] != 'n'
}

// Reference returns the index of the first item of the input that only names an item which the
// provider has stored; -1 if there is none.
func (r *Request) Reference() int {
	raw := r.Raw(Input)
	if raw == nil || raw[0] != '[' {
		return -1
	}
	s := scanner{b: raw}
	w := s.elements(0)
	for w.next() {
		if raw[w.at] != '{' {
			w.at = s.value(w.at)
			continue
		}
		var refers bool
		if w.at, refers = s.reference(w.at); refers {
			return w.n - 1
		}
	}
	return -1
}

// reference reads an item, and reports whether it is a reference. Such an item may lack its type; a
// message may too, and then has a role.
func (s *scanner) reference(i int) (end int, refers bool) {
	typed, role := false, false
	w := s.members(i)
	for w.next() {
		at := w.at
		w.at = s.value(at)
		switch string(w.name) {
		case "type":
			typed = s.b[at] == '"'
			refers = typed && string(appendUnescaped(nil, s.b[at+1:w.at-1])) == "item_reference"
		case "role":
			role = !s.null(at)
		}
	}
	return w.at, refers || !typed && !role
}
