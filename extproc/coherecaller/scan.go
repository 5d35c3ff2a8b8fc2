package coherecaller

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/cohere"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Reply reads a complete response of Cohere's. A reason for the end is in OpenAI's words. One that is a failure of Cohere's is an error.
func Reply(body []byte, f *splice.ReplyFacts) error {
	*f = splice.ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}
	if err := splice.Check(body); err != nil {
		return err
	}
	whole := splice.Span{End: len(body)}
	for name, at := range splice.Members(body, whole) {
		switch string(name) {
		case "message":
			if f.Choices = 1; body[at.Off] == '"' { // an error's message is a text
				f.Error = whole
			}
			message(body, at, f)
		case "finish_reason":
			finish(body, at, whole, f)
		case "usage":
			readUsage(body, at, f)
		}
	}
	return nil
}

// Event reads the data of one event. Done is set for the event with the usage, which is the last one.
func Event(data []byte, f *splice.ChunkFacts) error {
	*f = splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}}
	if splice.IsDone(data) { // some proxies add it
		return nil
	}
	if err := splice.Check(data); err != nil {
		return err
	}
	whole, before := splice.Span{End: len(data)}, len(f.Text)
	typed := false
	for name, at := range splice.Members(data, whole) {
		switch string(name) {
		case "type":
			typed = true
			f.Done = string(at.Of(data)) == `"message-end"`
		case "message":
			if data[at.Off] == '"' {
				f.Error = whole
			}
		case "delta":
			change(data, at, f)
		}
	}
	if len(f.Text) > before {
		f.Choices = 1
	}
	if typed && !f.Done { // an event of a type has its message within
		f.Error = splice.Span{}
	}
	f.Done = f.Done && !f.HasError()
	return nil
}

// change reads what an event adds.
func change(data []byte, delta splice.Span, f *splice.ChunkFacts) {
	whole := splice.Span{End: len(data)}
	for name, at := range splice.Members(data, delta) {
		switch string(name) {
		case "message":
			message(data, at, &f.ReplyFacts)
		case "finish_reason":
			finish(data, at, whole, &f.ReplyFacts)
		case "usage":
			readUsage(data, at, &f.ReplyFacts)
		case "error":
			if raw := at.Of(data); raw[0] == '"' && len(raw) > len(`""`) {
				f.Error = whole
			}
		}
	}
}

// message reads a message, or what an event adds to one: objects in the place of its lists.
func message(body []byte, at splice.Span, f *splice.ReplyFacts) {
	for name, value := range splice.Members(body, at) {
		switch string(name) {
		case "tool_plan":
			f.Take(body, value)
		case "content":
			each(body, value, func(part splice.Span) {
				for member, text := range splice.Members(body, part) {
					if string(member) == "text" || string(member) == "thinking" {
						f.Take(body, text)
					}
				}
			})
		case "tool_calls":
			each(body, value, func(one splice.Span) {
				f.HasContent = true
				call(body, one, f)
			})
		}
	}
}

// call reads a call: its name and its arguments.
func call(body []byte, at splice.Span, f *splice.ReplyFacts) {
	for name, function := range splice.Members(body, at) {
		if string(name) != "function" {
			continue
		}
		for member, text := range splice.Members(body, function) {
			if string(member) == "name" || string(member) == "arguments" {
				f.Take(body, text)
			}
		}
	}
}

// each calls read for the value, or for each element of the array that it is.
func each(body []byte, value splice.Span, read func(splice.Span)) {
	if body[value.Off] != '[' {
		read(value)
		return
	}
	for one := range splice.Elements(value.Of(body)) {
		read(splice.Span{Off: value.Off + one.Off, End: value.Off + one.End})
	}
}

// finish reads a reason for the end.
func finish(body []byte, at, whole splice.Span, f *splice.ReplyFacts) {
	raw := at.Of(body)
	if raw[0] != '"' {
		return
	}
	reason, failure := cohere.ReadFinish(string(splice.Plain(raw[1 : len(raw)-1])))
	if f.FinishReason = string(reason); failure != nil {
		f.Error = whole
	}
}

// readUsage reads a report of usage.
func readUsage(body []byte, at splice.Span, f *splice.ReplyFacts) {
	if body[at.Off] == 'n' {
		return
	}
	f.Usage = at
	u := cohere.ReadUsage(jsontext.Value(at.Of(body)))
	f.Tokens, f.HasUsage, f.BadUsage = u.Tokens, u.Known(), u.Bad
}
