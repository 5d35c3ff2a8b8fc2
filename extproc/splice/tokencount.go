package splice

import "github.com/modelgateway/modelgateway/cluster/usage"

// TokenCount reads a complete response that is a count of tokens: an object with input_tokens.
// Otherwise it is like Reply.
func TokenCount(body []byte, f *ReplyFacts) error {
	*f = ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}
	s := scanner{b: body}
	i, err := s.open()
	if err != nil {
		return err
	}
	found := false
	w := s.members(i)
	for w.next() {
		at := w.at
		if string(w.name) != "input_tokens" {
			w.at = f.common(&s, w.name, at)
			continue
		}
		if w.at = s.value(at); w.at > 0 {
			_, found = integer(s.b[at:w.at], usage.Limit)
		}
	}
	if err := s.close(w.at); err != nil {
		return err
	}
	if !found && !f.HasError() {
		return broken("no count of tokens", i)
	}
	return nil
}
