package splice

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// ReplyFacts is the part of a response in OpenAI's format that the gateway needs. Set Collect,
// Text and Most before the call; the call sets all other fields.
type ReplyFacts struct {
	Collect bool       // append the generated text to Text
	Most    usage.Most // an upper limit of the usage: of several reports, the largest within it counts
	Text    []byte     // the generated text of all choices, concatenated; for counting, not for display

	Model        Span         // the value of model with its quotes; empty if it is missing or not a string
	Usage        Span         // the value of usage; empty if it is missing or null
	ServiceTier  Span         // the value of service_tier with its quotes; empty if it is missing or not a string
	Tokens       usage.Tokens // the values in usage; zero unless HasUsage
	HasUsage     bool         // usage exists and is plausible; zero counts are plausible
	BadUsage     bool         // usage exists, and is negative, fractional, not a number, beyond usage.Limit or inconsistent
	Choices      int          // number of choices
	FinishReason string       // the last non-null one
	HasContent   bool         // a choice has text, reasoning, a refusal or a tool call
	Error        Span         // the value of error; empty if it is missing or null

	// Of Response and ResponseEvent only.
	ID       Span // the value of id with its quotes; empty if it is missing, empty or not a string
	Previous Span // the value of previous_response_id; likewise

	// Of List only.
	Items   int  // number of results
	Ordered bool // no result has another index than its place
	Base64  bool // the first embedding is a string
}

// ChunkFacts is the part of a stream event's data that the gateway needs.
type ChunkFacts struct {
	ReplyFacts
	Done    bool // the event is the last one; of OpenAI's chats no other field is set
	Partial bool // Tokens has the input only: the output is not known before the end

	// Of Anthropic's language, whose reports of usage complete each other.
	begun bool
	sofar report
}

// OnlyFilter reports whether an event of a chat has nothing but the results of Azure's filter of the prompt. Clients that do not know
// Azure break on such an event, as it has no choice and is the first one of a stream.
func (f *ChunkFacts) OnlyFilter(data []byte) bool {
	return f.Choices == 0 && f.Usage.Empty() && bytes.Contains(data, []byte(`"prompt_filter_results"`))
}

// HasError reports whether the response carries an error. Some providers send one within a
// stream that began with status 200.
func (f *ReplyFacts) HasError() bool { return !f.Error.Empty() }

// Reply reads a complete response. It fails with a *fault.Error of kind Upstream if the body is
// not one JSON object. The last member with a name counts, as for the clients that read the
// response; of usage the largest counts. Reply appends to Text even if the response turns out
// to be malformed.
func Reply(body []byte, f *ReplyFacts) error {
	*f = ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}
	s := scanner{b: body}
	i, err := s.open()
	if err != nil {
		return err
	}
	return s.close(f.object(&s, i))
}

// open returns the index of the object that a response is.
func (s *scanner) open() (int, error) {
	i := s.space(0)
	if i >= len(s.b) || s.b[i] != '{' {
		return 0, broken("something else than a JSON object", i)
	}
	return i, nil
}

// close checks that the response ended with its object, at end.
func (s *scanner) close(end int) error {
	switch {
	case end < 0:
		return broken("invalid JSON", -1-end)
	case s.space(end) < len(s.b):
		return broken("invalid JSON", s.space(end))
	}
	if i := s.badUTF8(); i >= 0 {
		return broken("invalid UTF-8", i)
	}
	return nil
}

// Chunk reads the data of one event. The end marker sets Done and is no error. Other data that
// is not one JSON object fails as in Reply.
func Chunk(data []byte, f *ChunkFacts) error {
	f.Done = false
	if len(data) > 0 && data[0] != '{' && IsDone(data) {
		*f = ChunkFacts{ReplyFacts: ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}, Done: true}
		return nil
	}
	return Reply(data, &f.ReplyFacts)
}

func broken(what string, at int) error {
	return fault.New(fault.Upstream, "invalid_provider_response", "The provider responded with %s, at byte %d.", what, at)
}

// null reports whether the value at i, which has been scanned, is null.
func (s *scanner) null(i int) bool { return s.b[i] == 'n' }

func (f *ReplyFacts) object(s *scanner, i int) int {
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "choices":
			w.at = f.choices(s, at)
		case "model":
			w.at = s.value(at)
			if f.Model = (Span{}); s.b[at] == '"' {
				f.Model = Span{at, w.at}
			}
		case "usage":
			w.at = f.usage(s, at)
		case "x_groq":
			w.at = f.groq(s, at)
		case "service_tier":
			w.at = s.value(at)
			if f.ServiceTier = (Span{}); w.at > 0 && s.b[at] == '"' {
				f.ServiceTier = Span{at, w.at}
			}
		case "error":
			w.at = s.value(at)
			if f.Error = (Span{}); !s.null(at) {
				f.Error = Span{at, w.at}
			}
		default:
			w.at = s.value(at)
		}
	}
	return w.at
}

// groq reads what Groq adds to its last event: the usage, if it is not in its usual place.
func (f *ReplyFacts) groq(s *scanner, i int) int {
	if s.b[i] != '{' {
		return s.value(i)
	}
	w := s.members(i)
	for w.next() {
		if at := w.at; string(w.name) == "usage" && !f.HasUsage {
			w.at = f.usage(s, at)
		} else {
			w.at = s.value(at)
		}
	}
	return w.at
}

func (f *ReplyFacts) choices(s *scanner, i int) int {
	f.Choices = 0
	if s.b[i] != '[' {
		return s.value(i)
	}
	w := s.elements(i)
	for w.next() {
		if s.b[w.at] == '{' {
			w.at = f.choice(s, w.at)
		} else {
			w.at = s.value(w.at)
		}
	}
	f.Choices = w.n
	return w.at
}

func (f *ReplyFacts) choice(s *scanner, i int) int {
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "delta", "message":
			w.at = f.message(s, at)
		case "text": // of /v1/completions
			w.at = f.content(s, at)
		case "finish_reason":
			if w.at = s.value(at); w.at > 0 && s.b[at] == '"' {
				f.FinishReason = reason(s.b[at+1 : w.at-1])
			}
		default:
			w.at = s.value(at)
		}
	}
	return w.at
}

// message reads a message or a delta. It reads only one of reasoning and reasoning_content:
// providers that send both send the same text twice.
func (f *ReplyFacts) message(s *scanner, i int) int {
	if s.b[i] != '{' {
		return s.value(i)
	}
	var reasoning Span
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "content", "refusal":
			w.at = f.content(s, at)
		case "reasoning_content", "reasoning":
			if w.at = s.value(at); w.at > at+2 && s.b[at] == '"' {
				reasoning = Span{at, w.at}
			}
		case "tool_calls":
			w.at = f.calls(s, at)
		case "function_call":
			w.at = f.function(s, at)
		default:
			w.at = s.value(at)
		}
	}
	if w.at >= 0 {
		f.take(s, reasoning.Off, reasoning.End)
	}
	return w.at
}

// take records a non-empty string from its opening quote at from to its end.
func (f *ReplyFacts) take(s *scanner, from, end int) {
	if end-from <= 2 || s.b[from] != '"' {
		return
	}
	f.HasContent = true
	if !f.Collect {
		return
	}
	raw := s.b[from+1 : end-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		f.Text = append(f.Text, raw...)
	} else {
		f.Text = appendUnescaped(f.Text, raw)
	}
}

// content reads a string, or an array of parts with text.
func (f *ReplyFacts) content(s *scanner, i int) int {
	if s.b[i] != '[' {
		end := s.value(i)
		f.take(s, i, end)
		return end
	}
	w := s.elements(i)
	for w.next() {
		if s.b[w.at] == '{' {
			w.at = f.part(s, w.at)
		} else {
			w.at = s.value(w.at)
		}
	}
	f.HasContent = f.HasContent || w.at >= 0 && w.n > 0
	return w.at
}

// part reads a part of content: text, or thinking with parts of text.
func (f *ReplyFacts) part(s *scanner, i int) int {
	w := s.members(i)
	for w.next() {
		at := w.at
		switch {
		case string(w.name) == "thinking" && s.b[at] == '[':
			in := s.elements(at)
			for in.next() {
				in.at = f.strings(s, in.at, "text", "")
			}
			w.at = in.at
		case string(w.name) == "text" || string(w.name) == "thinking" || string(w.name) == "refusal":
			w.at = s.value(at)
			f.take(s, at, w.at)
		default:
			w.at = s.value(at)
		}
	}
	return w.at
}

// strings records the string members one and two of an object.
func (f *ReplyFacts) strings(s *scanner, i int, one, two string) int {
	if s.b[i] != '{' {
		return s.value(i)
	}
	w := s.members(i)
	for w.next() {
		at := w.at
		w.at = s.value(at)
		if string(w.name) == one || string(w.name) == two {
			f.take(s, at, w.at)
		}
	}
	return w.at
}

// calls reads tool calls: functions with arguments and custom tools with input.
func (f *ReplyFacts) calls(s *scanner, i int) int {
	if s.b[i] != '[' {
		return s.value(i)
	}
	w := s.elements(i)
	for w.next() {
		if s.b[w.at] != '{' {
			w.at = s.value(w.at)
			continue
		}
		call := s.members(w.at)
		for call.next() {
			switch at := call.at; string(call.name) {
			case "function":
				call.at = f.function(s, at)
			case "custom":
				call.at = f.strings(s, at, "name", "input")
			default:
				call.at = s.value(at)
			}
		}
		w.at = call.at
	}
	f.HasContent = f.HasContent || w.at >= 0 && w.n > 0
	return w.at
}

func (f *ReplyFacts) function(s *scanner, i int) int {
	return f.strings(s, i, "name", "arguments")
}

// reason returns a finish reason, without an allocation for the usual ones.
func reason(raw []byte) string {
	switch string(raw) {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "tool_calls":
		return "tool_calls"
	case "content_filter":
		return "content_filter"
	case "function_call":
		return "function_call"
	}
	return string(appendUnescaped(nil, raw))
}
