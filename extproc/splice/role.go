package splice

import "bytes"

// developer is the role that OpenAI's newer models have in place of system.
const developer = `"developer"`

// system appends the edits that give the messages of a developer the role system. Most requests
// have no such message: then the text is searched, and not read. A role with escapes is left as it is.
func (r *Request) system(dst []Edit) []Edit {
	at := r.members[Messages].value()
	if !bytes.Contains(at.Of(r.body), []byte(developer)) {
		return dst
	}
	s := scanner{b: r.body}
	w := s.elements(at.Off)
	for w.next() {
		if s.b[w.at] != '{' {
			w.at = s.value(w.at)
			continue
		}
		m := s.members(w.at)
		for m.next() {
			from := m.at
			m.at = s.value(from)
			if m.at > 0 && string(m.name) == "role" && string(s.b[from:m.at]) == developer {
				dst = append(dst, Edit{from, m.at, `"system"`})
			}
		}
		w.at = m.at
	}
	return dst
}
