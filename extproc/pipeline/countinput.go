package pipeline

import (
	"bytes"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/tokens"
)

// countInput counts what the model reads, with the tokenizer. Anthropic's messages and responses are
// decoded for it, for the size of their pictures.
func (p *Pipeline) countInput(x *Exchange) int64 {
	if x.op.Endpoint.IsChat() && x.op.Endpoint != driver.Chat {
		x.mu.Lock()
		ask, err := p.canonicalLocked(x)
		x.mu.Unlock()
		if err != nil { // passed on unchanged; the provider may read more than the gateway does
			return estimate.Rough(&x.Facts)
		}
		all := prompt{model: x.tokenizer()}
		return all.count(p.deps.Tokens, ask)
	}
	messages, others, n := x.readTexts()
	if len(messages) > 0 {
		n += p.deps.Tokens.CountMessages(x.tokenizer(), messages)
	}
	if len(others) > 0 {
		n += p.deps.Tokens.Count(x.tokenizer(), others)
	}
	return n
}

// readTexts returns the request's texts, those of each message together and all others, and the tokens that
// frame its tools.
func (x *Exchange) readTexts() (messages []tokens.Message, others string, framing int64) {
	var rest, content []byte
	var role texts.Role
	body, item := x.Facts.Document(), -1
	end := func() {
		if item >= 0 {
			messages = append(messages, tokens.Message{Role: role.String(), Content: string(content)})
		}
		content = content[:0]
	}
	for t := range x.op.Texts.Request(body) {
		if t.Kind == texts.Media || t.Repeat {
			continue
		}
		text := splice.Plain(t.Of(body))
		if t.Role == texts.NoRole || !x.op.Endpoint.IsChat() {
			if t.Kind == texts.ToolName {
				framing += perTool
			}
			rest = append(append(rest, text...), '\n')
			continue
		}
		if t.Item == item {
			content = append(content, '\n')
		} else {
			end()
			role, item = t.Role, t.Item
		}
		content = append(content, text...)
	}
	end()
	return messages, string(bytes.TrimSpace(rest)), framing
}
