package splice

// Message reads a complete response in Anthropic's language. Otherwise it is like Reply; a reason
// for the end is in OpenAI's words.
func Message(body []byte, f *ReplyFacts) error {
	*f = ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}
	s := scanner{b: body}
	i, err := s.open()
	if err != nil {
		return err
	}
	var r report
	r.clear()
	if err := s.close(f.messageObject(&s, &r, i)); err != nil {
		return err
	}
	if r.n[prompt] >= 0 && r.n[completion] >= 0 || r.bad {
		f.report(r.outside())
	}
	return nil
}

// MessageEvent reads the data of one event in Anthropic's language. The reports of usage of the
// events of a stream complete each other: f must be that of the event before. Before the end the
// output is not known, and Partial is set instead of HasUsage.
func MessageEvent(data []byte, f *ChunkFacts) error {
	if !f.begun {
		f.sofar.clear()
	}
	*f = ChunkFacts{ReplyFacts: ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}, begun: true, sofar: f.sofar}
	s := scanner{b: data}
	i, err := s.open()
	if err != nil {
		return err
	}
	first, counted := false, false
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "type":
			if w.at = s.value(at); w.at > 0 {
				f.Done = string(data[at:w.at]) == `"message_stop"`
			}
		case "message":
			w.at = f.messageObject(&s, &f.sofar, at)
			first = true
		case "usage":
			w.at = f.messageUsage(&s, &f.sofar, at)
			counted = true
		case "delta", "content_block":
			w.at = f.messageBlock(&s, at)
		default:
			w.at = f.common(&s, w.name, at)
		}
	}
	if err := s.close(w.at); err != nil {
		return err
	}
	f.messageReport(first, counted)
	return nil
}

// messageReport takes the reports so far, if the event has one: first is the one that begins the
// stream, with the output of the first token alone, and counted has the output so far.
func (f *ChunkFacts) messageReport(first, counted bool) {
	r := f.sofar
	switch {
	case r.bad:
		f.BadUsage = true
	case counted && r.n[prompt] >= 0 && r.n[completion] >= 0:
		f.report(r.outside())
	case first && r.n[prompt] >= 0:
		r.n[completion], r.n[reasoning] = -1, -1
		f.report(r.outside())
		f.HasUsage, f.Partial = false, f.HasUsage
	}
}

// outside returns the report with the tokens that were read from or written to the cache as a part
// of the input. Anthropic's input excludes them.
func (r *report) outside() *report {
	out := *r
	all := max(r.get(written), r.get(writtenOutside)+r.get(written1h))
	out.n[written] = all
	out.n[prompt] = r.get(prompt) + r.get(cached) + all
	out.n[total] = -1
	return &out
}

// messageObject reads a message.
func (f *ReplyFacts) messageObject(s *scanner, r *report, i int) int {
	if s.b[i] != '{' {
		return s.value(i)
	}
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "content":
			w.at = f.messageContent(s, at)
		case "usage":
			w.at = f.messageUsage(s, r, at)
		case "stop_reason":
			w.at = f.stopReason(s, at)
		default:
			w.at = f.common(s, w.name, at)
		}
	}
	return w.at
}

func (f *ReplyFacts) messageContent(s *scanner, i int) int {
	if s.b[i] != '[' {
		return s.value(i)
	}
	f.Choices = 1
	w := s.elements(i)
	for w.next() {
		w.at = f.messageBlock(s, w.at)
	}
	return w.at
}

// messageBlock reads a block of content, or a delta.
func (f *ReplyFacts) messageBlock(s *scanner, i int) int {
	if s.b[i] != '{' {
		return s.value(i)
	}
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "stop_reason":
			w.at = f.stopReason(s, at)
		case "text", "thinking", "partial_json", "name":
			w.at = s.value(at)
			f.take(s, at, w.at)
		case "input": // a tool's; its JSON is what the model has written
			w.at = s.value(at)
			if w.at-at > len("{}") && f.Collect {
				f.Text = append(f.Text, s.b[at:w.at]...)
			}
		case "data", "signature":
			w.at = s.value(at)
			f.HasContent = f.HasContent || w.at > at+2
		default:
			w.at = s.value(at)
		}
	}
	return w.at
}

// stopReason reads a reason for the end.
func (f *ReplyFacts) stopReason(s *scanner, at int) int {
	end := s.value(at)
	if end < 0 || s.b[at] != '"' {
		return end
	}
	switch string(s.b[at+1 : end-1]) {
	case "max_tokens", "compaction", "model_context_window_exceeded":
		f.FinishReason = "length"
	case "tool_use":
		f.FinishReason = "tool_calls"
	case "refusal":
		f.FinishReason = "content_filter"
	default: // end_turn, stop_sequence, pause_turn
		f.FinishReason = "stop"
	}
	return end
}

// messageUsage reads a report of usage over an earlier one: a number that is missing keeps its
// value.
func (f *ReplyFacts) messageUsage(s *scanner, r *report, i int) int {
	if s.b[i] != '{' {
		end := s.value(i)
		r.bad = r.bad || end > 0 && !s.null(i)
		return end
	}
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "input_tokens":
			w.at = r.number(s, prompt, at)
		case "output_tokens":
			w.at = r.number(s, completion, at)
		case "cache_read_input_tokens":
			w.at = r.number(s, cached, at)
		case "cache_creation_input_tokens":
			w.at = r.number(s, written, at)
		case "cache_creation", "output_tokens_details", "server_tool_use":
			w.at = f.messageUsage(s, r, at)
		case "ephemeral_5m_input_tokens":
			w.at = r.number(s, writtenOutside, at)
		case "ephemeral_1h_input_tokens":
			w.at = r.number(s, written1h, at)
		case "thinking_tokens":
			w.at = r.number(s, reasoning, at)
		case "web_search_requests":
			w.at = r.number(s, searches, at)
		case "service_tier":
			w.at = f.common(s, w.name, at)
		default:
			w.at = s.value(at)
		}
	}
	if w.at > 0 {
		f.Usage = Span{i, w.at}
	}
	return w.at
}
