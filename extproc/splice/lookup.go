package splice

// Lookup returns the value of a member by the names on its path; nil if it is missing. raw must
// be JSON that Scan has accepted. The last member with a name counts, as in Within.
func Lookup(raw []byte, path ...string) []byte {
	for _, name := range path {
		s := scanner{b: raw}
		start := s.space(0)
		if start >= len(raw) || raw[start] != '{' {
			return nil
		}
		var value []byte
		w := s.members(start)
		for w.next() {
			at := w.at
			w.at = s.value(at)
			if string(w.name) == name {
				value = raw[at:w.at]
			}
		}
		raw = value
	}
	return raw
}
