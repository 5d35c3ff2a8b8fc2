package metering

import (
	"bytes"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/tokens"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Decode returns the request in its canonical form.
type Decode func() (*wire.Request, error)

// Count counts what the model of a deployment reads, with its tokenizer. Anthropic's messages and responses are
// decoded for it, for the size of their pictures.
func (r *Request) Count(counter *tokens.Counter, d *catalog.Deployment, decode Decode) int64 {
	model := estimate.Vocabulary(d)
	if r.Operation.Endpoint.IsChat() && r.Operation.Endpoint != driver.Chat {
		ask, err := decode()
		if err != nil { // passed on unchanged; the provider may read more than the gateway does
			return estimate.Rough(r.Facts)
		}
		return CountPrompt(counter, model, ask)
	}
	messages, others, n := r.readTexts()
	if len(messages) > 0 {
		n += counter.CountMessages(model, messages)
	}
	if len(others) > 0 {
		n += counter.Count(model, others)
	}
	return n
}

// readTexts returns the request's texts, those of each message together and all others, and the tokens that
// frame its tools.
func (r *Request) readTexts() (messages []tokens.Message, others string, framing int64) {
	var rest, content []byte
	var role texts.Role
	body, item := r.Facts.Document(), -1
	end := func() {
		if item >= 0 {
			messages = append(messages, tokens.Message{Role: role.String(), Content: string(content)})
		}
		content = content[:0]
	}
	for t := range r.Operation.Texts.Request(body) {
		if t.Kind == texts.Media || t.Repeat {
			continue
		}
		text := splice.Plain(t.Of(body))
		if t.Role == texts.NoRole || !r.Operation.Endpoint.IsChat() {
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

// ReadHeader is the header in which Amazon Bedrock reports how many tokens a model has read. It is the only report of
// those whose responses have none, such as embeddings.
const ReadHeader = "x-amzn-bedrock-input-token-count"

// ReadInput returns the tokens that a provider has read, by the value of ReadHeader, which may be empty.
func ReadInput(value string) wire.Usage {
	if value == "" {
		return wire.Usage{}
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return wire.Usage{Bad: true}
	}
	return driver.Reported(usage.Tokens{Input: n})
}
