package texts

import "bytes"

// Flow is what an event of a stream says besides its texts.
type Flow struct {
	Bare    bool  // nothing: without its texts the event can be left out
	All     bool  // all texts of the stream have ended
	Item    int   // the texts of this item have ended; -1 for none
	Choices []int // the texts of these choices have ended
}

// Choices reports whether events have choices, as those of OpenAI's chats.
func (r Reader) Choices() bool { return r.event == chatResponse || r.event == contentsAnswer }

// Flow reads an event's data into f. Data that is no JSON object, such as OpenAI's [DONE], ends all texts.
func (r Reader) Flow(data []byte, f *Flow) {
	*f = Flow{Item: -1, Choices: f.Choices[:0]}
	i := space(data, 0)
	if i >= len(data) || data[i] != '{' {
		f.All = true
		return
	}
	switch r.event { //nolint:exhaustive // the nodes of events
	case chatResponse:
		f.chat(data, i)
	case messagesEvent:
		f.messages(data, i)
	case responsesEvent:
		f.responses(data, i)
	case contentsAnswer:
		f.contents(data, i)
	case converseEvent:
		f.converse(data, i)
	case turnsEvent:
		f.turns(data, i)
	default:
		f.All = true
	}
}

// chat reads a chunk of OpenAI's chats or completions. Usage comes behind all texts.
func (f *Flow) chat(b []byte, i int) {
	f.Bare = true
	choices := 0
	for i++; ; {
		text, at, ok := name(b, i)
		if !ok {
			break
		}
		switch string(text) {
		case "choices":
			choices = f.choices(b, at)
		case "usage", "error":
			f.Bare = f.Bare && absent(b, at)
		}
		i = skip(b, at)
	}
	f.All = choices == 0
	f.Bare = f.Bare && choices > 0
}

// choices reads the choices of a chunk, and returns how many there are.
func (f *Flow) choices(b []byte, i int) (n int) {
	if i >= len(b) || b[i] != '[' {
		return 0
	}
	for i++; ; n++ {
		at, ok := element(b, i)
		if !ok {
			return n
		}
		if i = skip(b, at); b[at] != '{' {
			continue
		}
		if finish := member(b, at, "finish_reason"); finish > 0 && !absent(b, finish) {
			f.Choices, f.Bare = append(f.Choices, index(b, at, "index", n)), false
		}
		if delta := member(b, at, "delta"); delta > 0 && b[delta] == '{' {
			f.delta(b, delta)
		}
	}
}

// delta looks for what a delta of a chat has besides texts: a role, and the id of a call.
func (f *Flow) delta(b []byte, i int) {
	for i++; ; {
		text, at, ok := name(b, i)
		if !ok {
			return
		}
		i = skip(b, at)
		switch {
		case absent(b, at):
		case string(text) == "content", string(text) == "reasoning_content", string(text) == "reasoning", string(text) == "refusal":
		case string(text) == "tool_calls" && b[at] == '[':
			for next := at + 1; ; {
				call, ok := element(b, next)
				if !ok {
					break
				}
				next = skip(b, call)
				f.Bare = f.Bare && (b[call] != '{' || find(b, call, "id") == nil)
			}
		default:
			f.Bare = false
		}
	}
}

// absent reports whether the value at i is null, or an empty text.
func absent(b []byte, i int) bool {
	return bytes.HasPrefix(b[i:], []byte("null")) || bytes.HasPrefix(b[i:], []byte(`""`))
}

// messages reads an event of Anthropic's streams.
func (f *Flow) messages(b []byte, i int) {
	switch string(find(b, i, "type")) {
	case "content_block_delta":
		f.Bare = true
	case "content_block_stop":
		f.Item = index(b, i, "index", 0)
	case "message_start", "content_block_start", "ping":
	default:
		f.All = true
	}
}

// responses reads an event of OpenAI's responses.
func (f *Flow) responses(b []byte, i int) {
	switch typed := find(b, i, "type"); {
	case hasSuffix(typed, ".delta"):
		f.Bare = true
	case hasSuffix(typed, ".done"):
		f.Item = index(b, i, "output_index", 0)
	case hasSuffix(typed, ".added"), hasSuffix(typed, ".created"), hasSuffix(typed, ".queued"), hasSuffix(typed, ".in_progress"),
		hasSuffix(typed, ".searching"), hasSuffix(typed, ".generating"), hasSuffix(typed, ".interpreting"), hasSuffix(typed, ".partial_image"):
	default:
		f.All = true
	}
}
