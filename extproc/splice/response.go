package splice

import "bytes"

// Response reads a complete response in OpenAI's language of responses. Otherwise it is like
// Reply; the reason for the end is in the words of chats.
func Response(body []byte, f *ReplyFacts) error {
	*f = ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}
	s := scanner{b: body}
	i, err := s.open()
	if err != nil {
		return err
	}
	var r report
	r.clear()
	if err := s.close(f.responseObject(&s, &r, i)); err != nil {
		return err
	}
	f.report(&r)
	return nil
}

// ResponseEvent reads the data of one event in OpenAI's language of responses. Done is set for
// the event with the complete response.
func ResponseEvent(data []byte, f *ChunkFacts) error {
	*f = ChunkFacts{ReplyFacts: ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}}
	s := scanner{b: data}
	i, err := s.open()
	if err != nil {
		return err
	}
	// The texts of a response as a whole repeat those of the events before it.
	collect, text := f.Collect, len(f.Text)
	var r report
	r.clear()
	var kind string
	delta := Span{}
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "type":
			if w.at = s.value(at); w.at > 0 && s.b[at] == '"' {
				kind = eventType(s.b[at+1 : w.at-1])
			}
		case "delta":
			w.at = s.value(at)
			delta = Span{at, w.at}
		case "response":
			f.Collect = false
			w.at = f.responseObject(&s, &r, at)
			f.Collect = collect
		default:
			w.at = f.common(&s, w.name, at)
		}
	}
	if err := s.close(w.at); err != nil {
		return err
	}
	f.report(&r)
	f.HasContent = false
	switch kind {
	case "delta":
		f.take(&s, delta.Off, delta.End)
	case "end":
		f.Done = true
	case "error":
		if f.Error.Empty() {
			f.Error = Span{i, w.at} // the event is the error
		}
	}
	if len(f.Text) > text {
		f.Choices = 1
	}
	return nil
}

// eventType returns what an event of a type is to the gateway: text of the model, the last event,
// an error, or another one.
func eventType(raw []byte) string {
	switch string(raw) {
	case "response.completed", "response.incomplete":
		return "end"
	case "error", "response.failed":
		return "error"
	}
	if bytes.HasSuffix(raw, []byte(".delta")) && !bytes.Contains(raw, []byte("audio")) {
		return "delta"
	}
	return ""
}

// responseObject reads a response.
func (f *ReplyFacts) responseObject(s *scanner, r *report, i int) int {
	if s.b[i] != '{' {
		return s.value(i)
	}
	incomplete, status := Span{}, Span{}
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "output":
			w.at = f.responseOutput(s, at)
		case "usage":
			w.at = r.units(s, at)
			if w.at > 0 && !s.null(at) {
				f.Usage = Span{at, w.at}
			}
		case "status":
			w.at = s.value(at)
			status = Span{at, w.at}
		case "incomplete_details":
			w.at = s.value(at)
			incomplete = Span{at, w.at}
		case "id":
			w.at = s.value(at)
			f.ID = s.text(at, w.at)
		case "previous_response_id":
			w.at = s.value(at)
			f.Previous = s.text(at, w.at)
		default:
			w.at = f.common(s, w.name, at)
		}
	}
	if w.at < 0 {
		return w.at
	}
	switch string(status.Of(s.b)) {
	case `"completed"`:
		f.FinishReason = "stop"
	case `"incomplete"`:
		f.FinishReason = "length"
		if bytes.Contains(incomplete.Of(s.b), []byte("content_filter")) {
			f.FinishReason = "content_filter"
		}
	}
	return w.at
}

// responseOutput reads the items of a response.
func (f *ReplyFacts) responseOutput(s *scanner, i int) int {
	if s.b[i] != '[' {
		return s.value(i)
	}
	f.Choices = 1
	w := s.elements(i)
	for w.next() {
		w.at = f.responseItem(s, w.at)
	}
	return w.at
}

// responseItem reads an item, or a part of its content.
func (f *ReplyFacts) responseItem(s *scanner, i int) int {
	if s.b[i] != '{' {
		return s.value(i)
	}
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "content", "summary":
			w.at = f.responseOutput(s, at)
		case "text", "refusal", "arguments", "input", "name":
			w.at = s.value(at)
			f.take(s, at, w.at)
		default:
			w.at = s.value(at)
		}
	}
	return w.at
}

// text returns the span of a value that has been scanned if it is a string with characters; else an empty one.
func (s *scanner) text(at, end int) Span {
	if end <= at+2 || s.b[at] != '"' {
		return Span{}
	}
	return Span{at, end}
}
