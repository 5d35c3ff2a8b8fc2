package fake

import "maps"

// responseEvents collects the events of a streamed response, which are numbered.
type responseEvents struct{ list []event }

// add appends an event; more has its members but for type and sequence_number.
func (e *responseEvents) add(name string, more map[string]any) {
	more["type"], more["sequence_number"] = name, len(e.list)
	e.list = append(e.list, jsonEvent(name, more))
}

// growing is one text of an item: its part, if it is in one, the pieces in which it comes, and the
// whole of it.
type growing struct {
	at     map[string]any // the members that say where it is
	part   string         // the beginning of the names of the part's events; empty if there is no part
	text   string         // of those of the text's events
	member string         // which has the whole text
	pieces []string
	whole  string
	first  any // the part at its beginning
	last   any // and at its end
}

// grow appends the events of a text.
func (e *responseEvents) grow(g growing) {
	with := func(key string, value any) map[string]any {
		out := maps.Clone(g.at)
		out[key] = value
		if key != "part" && g.text == "response.output_text" {
			out["logprobs"] = []any{}
		}
		return out
	}
	if g.part != "" {
		e.add(g.part+".added", with("part", g.first))
	}
	for _, p := range g.pieces {
		e.add(g.text+".delta", with("delta", p))
	}
	e.add(g.text+".done", with(g.member, g.whole))
	if g.part != "" {
		e.add(g.part+".done", with("part", g.last))
	}
}

// events is the streamed answer: each item begins, grows and ends before the next one.
func (r *responseAnswer) events() []event {
	var e responseEvents
	e.add("response.created", map[string]any{"response": r.document([]any{}, "in_progress", "")})
	e.add("response.in_progress", map[string]any{"response": r.document([]any{}, "in_progress", "")})
	output := r.output()
	for i, done := range output {
		begun, g := r.begin(done)
		g.at["output_index"] = i
		e.add("response.output_item.added", map[string]any{"output_index": i, "item": begun})
		e.grow(g)
		e.add("response.output_item.done", map[string]any{"output_index": i, "item": done})
	}
	status, reason := r.status()
	e.add("response."+status, map[string]any{"response": r.document(output, status, reason)})
	e.list[len(e.list)-1].last = true
	return e.list
}

// begin returns an item as it is at its beginning, and how its text grows.
func (r *responseAnswer) begin(done any) (any, growing) {
	switch t := done.(type) {
	case outputReasoning:
		g := growing{
			at:   map[string]any{"item_id": t.ID, "summary_index": 0},
			part: "response.reasoning_summary_part", text: "response.reasoning_summary_text", member: "text",
			pieces: r.thinking, whole: t.Summary[0].Text, first: summaryText{Type: t.Summary[0].Type}, last: t.Summary[0],
		}
		t.Summary, t.Encrypted = []summaryText{}, ""
		return t, g
	case outputMessage:
		g := growing{
			at:   map[string]any{"item_id": t.ID, "content_index": 0},
			part: "response.content_part", text: "response.output_text", member: "text",
			pieces: r.choices[0].pieces, whole: t.Content[0].Text, first: textPart(""), last: t.Content[0],
		}
		t.Status, t.Content = "in_progress", []outputText{}
		return t, g
	}
	t, _ := done.(outputCall)
	nothing, at := "", map[string]any{"item_id": t.ID}
	if t.Input != nil {
		g := growing{at: at, text: "response.custom_tool_call_input", member: "input", pieces: fragments(*t.Input), whole: *t.Input}
		t.Input = &nothing
		return t, g
	}
	g := growing{at: at, text: "response.function_call_arguments", member: "arguments", pieces: fragments(*t.Arguments), whole: *t.Arguments}
	t.Arguments, t.Status = &nothing, "in_progress"
	return t, g
}
