package contents

import "github.com/modelgateway/modelgateway/extproc/splice"

// Reply reads a complete response. A reason for the end is in OpenAI's words, and Model is the value of
// modelVersion.
func Reply(body []byte, f *splice.ReplyFacts) error {
	*f = splice.ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}
	_, err := read(body, f)
	return err
}

// Event reads the data of one event. No event is marked as the last one. Before any output is reported, Partial is set
// instead of HasUsage.
func Event(data []byte, f *splice.ChunkFacts) error {
	*f = splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}}
	r, err := read(data, &f.ReplyFacts)
	if f.HasUsage && r.n[candidates] < 0 && r.n[thoughts] < 0 && f.FinishReason == "" {
		f.HasUsage, f.Partial = false, true
	}
	return err
}

func whole(body []byte) splice.Span { return splice.Span{End: len(body)} }

// given returns a place; an empty one for null.
func given(body []byte, at splice.Span) splice.Span {
	if body[at.Off] == 'n' {
		return splice.Span{}
	}
	return at
}

// read reads a response or an event.
func read(body []byte, f *splice.ReplyFacts) (report, error) {
	r := newReport()
	if err := splice.Check(body); err != nil {
		return r, err
	}
	called := false
	for name, at := range splice.Members(body, whole(body)) {
		switch string(name) {
		case "candidates":
			f.Choices = 0
			for one := range items(body, at) {
				f.Choices++
				candidate(body, one, f, &r, &called)
			}
		case "modelVersion":
			if f.Model = (splice.Span{}); body[at.Off] == '"' && at.End > at.Off+2 {
				f.Model = at
			}
		case "usageMetadata":
			if f.Usage = given(body, at); !f.Usage.Empty() {
				r.read(body, at)
			}
		case "promptFeedback":
			if len(splice.Lookup(at.Of(body), "blockReason")) > len(`""`) {
				f.FinishReason = "content_filter"
			}
		case "error":
			f.Error = given(body, at)
		}
	}
	if called && f.FinishReason == "stop" {
		f.FinishReason = "tool_calls"
	}
	r.give(f)
	return r, nil
}

// candidate reads a candidate.
func candidate(body []byte, at splice.Span, f *splice.ReplyFacts, r *report, called *bool) {
	for name, value := range splice.Members(body, at) {
		switch string(name) {
		case "content":
			for member, parts := range splice.Members(body, value) {
				if string(member) != "parts" {
					continue
				}
				for one := range items(body, parts) {
					part(body, one, f, called)
				}
			}
		case "finishReason":
			if raw := value.Of(body); raw[0] == '"' {
				f.FinishReason = reason(raw[1 : len(raw)-1])
			}
		case "groundingMetadata":
			r.queries = max(r.queries, queries(body, value))
		}
	}
}

// part reads a part: its text, or the name and the arguments of a call.
func part(body []byte, at splice.Span, f *splice.ReplyFacts, called *bool) {
	for name, value := range splice.Members(body, at) {
		switch string(name) {
		case "text":
			f.Take(body, value)
		case "functionCall":
			*called, f.HasContent = true, true
			for member, inner := range splice.Members(body, value) {
				switch {
				case string(member) == "name":
					f.Take(body, inner)
				case string(member) == "args" && f.Collect: // its JSON is what the model has written
					f.Text = append(f.Text, inner.Of(body)...)
				}
			}
		case "inlineData", "executableCode", "codeExecutionResult":
			f.HasContent = true
		}
	}
}

// queries returns the number of searches of the web that a text is grounded on.
func queries(body []byte, grounding splice.Span) int64 {
	n := int64(0)
	for name, list := range splice.Members(body, grounding) {
		if string(name) != "webSearchQueries" {
			continue
		}
		for one := range items(body, list) {
			if body[one.Off] == '"' && one.End > one.Off+len(`""`) {
				n++
			}
		}
	}
	return n
}

// reason returns a reason for the end in OpenAI's words, as package gemini does.
func reason(raw []byte) string {
	switch string(raw) {
	case "", "FINISH_REASON_UNSPECIFIED":
		return ""
	case "MAX_TOKENS":
		return "length"
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "OTHER", "MODEL_ARMOR", "NO_IMAGE",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER":
		return "content_filter"
	}
	return "stop"
}
