package estimate

import (
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/tokens"
)

// Unread are the members of a request that no model reads. All others count, unknown ones
// too: models read most members that providers add.
const Unread = splice.Extensions | 1<<splice.Model | 1<<splice.Stream | 1<<splice.StreamOptions | 1<<splice.N |
	1<<splice.MaxTokens | 1<<splice.MaxCompletionTokens | 1<<splice.MaxOutputTokens | 1<<splice.EncodingFormat | 1<<splice.Temperature | 1<<splice.TopP |
	1<<splice.User | 1<<splice.ServiceTier | 1<<splice.Metadata | 1<<splice.SafetyIdentifier |
	1<<splice.PreviousResponse

// Input has the bounds of one request's input, by vocabulary. The zero value has none.
type Input struct {
	model  string // whose vocabulary it is; empty before the first
	tokens int64
	other  string // a second vocabulary
	more   int64
}

const (
	// bytesPerToken is the estimate of a token's bytes where nothing depends on it: English
	// prose has about four, and the JSON around it makes up for what other languages need.
	// It applies to images, audio and files too, whose tokens are not proportional to their bytes.
	bytesPerToken = 4
	// framing is subtracted per message: the JSON around it (names of members, quotes) is
	// estimated higher than the perMessage marks that models read instead.
	framing    = 6
	perMessage = 4
	perPrompt  = 3
)

// For returns the bound for a deployment. It calls bound, with the name of the model whose
// vocabulary applies, once for each vocabulary.
func (e *Input) For(d *catalog.Deployment, bound func(model string) int64) int64 {
	model := Vocabulary(d)
	switch {
	case e.model != "" && tokens.SameBound(e.model, model):
		return e.tokens
	case e.other != "" && tokens.SameBound(e.other, model):
		return e.more
	}
	n := bound(model)
	if e.model == "" {
		e.model, e.tokens = model, n
	} else {
		e.other, e.more = model, n
	}
	return n
}

// ChatInput returns an upper bound of the tokens of a chat's input: the whole body except what no
// model reads. It does not use the tokenizer, which would cost more than all other work on a
// request.
func ChatInput(facts *splice.Request, body []byte, model string) int64 {
	return inputOf(facts, body, model, splice.Messages)
}

// ResponsesInput is ChatInput for a request whose messages are items of the input.
func ResponsesInput(facts *splice.Request, body []byte, model string) int64 {
	return inputOf(facts, body, model, splice.Input)
}

// TextInput is ChatInput for a request without messages.
func TextInput(facts *splice.Request, _ []byte, model string) int64 {
	bound := tokens.NewBound(model)
	for part := range facts.Parts(Unread) {
		bound.Add(part)
	}
	return bound.Tokens()
}

// RoughInput estimates the input by its bytes.
func RoughInput(facts *splice.Request) int64 {
	n := 0
	for part := range facts.Parts(Unread) {
		n += len(part)
	}
	return int64(n) / bytesPerToken
}

func inputOf(facts *splice.Request, body []byte, model string, of splice.Field) int64 {
	bound := tokens.NewBound(model)
	for part := range facts.Parts(Unread | 1<<of) {
		bound.Add(part)
	}
	var space [16]splice.Span
	media, data := facts.Media(space[:0], of), 0
	messages := facts.Span(of)
	at := messages.Off
	for _, m := range media {
		bound.Add(body[at:m.Off])
		data += m.End - m.Off
		at = m.End
	}
	bound.Add(body[at:messages.End])
	count := int64(max(facts.MessageCount, 0))
	least := perPrompt + perMessage*count
	return max(bound.Tokens()-framing*count, least) + int64(data)/bytesPerToken
}

// Vocabulary names the model whose vocabulary applies to a deployment.
func Vocabulary(d *catalog.Deployment) string {
	if d.BaseModel != "" {
		return d.BaseModel
	}
	return d.Model
}
