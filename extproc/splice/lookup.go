package splice

// Lookup returns the value of a member by the names on its path; nil if it is missing. raw must
// be JSON that Scan has accepted. The last member with a name counts, as in Within.
func Lookup(raw []byte, path ...string) []byte {
	for _, name := range path {
		var value []byte
		for member, at := range Members(raw, Span{End: len(raw)}) {
			if string(member) == name {
				value = at.Of(raw)
			}
		}
		raw = value
	}
	return raw
}
