package mistral

import "github.com/modelgateway/modelgateway/extproc/wire"

// understood is what the assistant says between a tool's result and what the user says next: Mistral
// takes no user there, and no message without a text.
const understood = "I have read the result."

// append adds a message where Mistral takes it.
func (b *builder) append(m message) {
	if m.Role == string(wire.Developer) {
		m.Role = string(wire.System)
	}
	last := ""
	if n := len(b.out.Messages); n > 0 {
		last = b.out.Messages[n-1].Role
	}
	if m.Role == string(wire.System) && (last == string(wire.Assistant) || last == string(wire.ToolRole)) {
		m.Role = string(wire.User)
	}
	switch {
	case m.Role == string(wire.User) && last == string(wire.ToolRole):
		b.out.Messages = append(b.out.Messages, message{Role: string(wire.Assistant), Content: content{text: understood}})
	case m.Role == string(wire.Assistant) && m.Content.isEmpty() && len(m.ToolCalls) == 0:
		return // Mistral rejects it, and it says nothing
	case m.Role == string(wire.Assistant) && m.Content.isEmpty():
		m.Content.none = true
	}
	b.out.Messages = append(b.out.Messages, m)
}

// prefix marks a last turn of the assistant's as the beginning of the response.
func (b *builder) prefix() {
	if n := len(b.out.Messages) - 1; n >= 0 {
		last := &b.out.Messages[n]
		last.Prefix = last.Role == string(wire.Assistant) && len(last.ToolCalls) == 0
	}
}
