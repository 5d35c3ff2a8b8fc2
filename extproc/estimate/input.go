package estimate

import (
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/tokens"
)

// Input has the bounds of one request's input, by vocabulary. The zero value has none.
type Input struct {
	model  string // whose vocabulary it is; empty before the first
	tokens int64
	other  string // a second vocabulary
	more   int64
}

// bytesPerToken is the estimate of a token's bytes where nothing depends on it: English prose has about
// four, and the JSON around it makes up for what other languages need. It applies to images, audio and
// files too, whose tokens are not proportional to their bytes.
const bytesPerToken = 4

// Tokens that models read around the texts of a request.
const (
	perPrompt  = 3
	perText    = 1 // the mark between two of them
	perMessage = 4 // the markers and the name of the role
	perTool    = 8
	perCall    = 3
)

// leastMedia is the shortest length of a medium that counts by its bytes. A shorter one is an address.
const leastMedia = 256

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

// Bound returns an upper bound of the tokens of a request's input: of all texts in it, and of what frames
// them. It does not use the tokenizer, which would cost more than all other work on a request.
func Bound(facts *splice.Request, reader texts.Reader, model string) int64 {
	body := facts.Document()
	c := count{bound: tokens.NewBound(model), item: -1}
	for t := range reader.Request(body) {
		c.add(&t, body)
	}
	return c.bound.Tokens() + perPrompt + c.framing + perMessage*int64(max(c.messages, facts.MessageCount)) + int64(c.media)/bytesPerToken
}

// count adds up the texts of a request.
type count struct {
	bound    tokens.Bound
	framing  int64
	media    int // bytes
	messages int

	// Of the last message.
	role texts.Role
	item int
}

func (c *count) add(t *texts.Text, body []byte) {
	raw := t.Of(body)
	if t.Kind == texts.Media && len(raw) >= leastMedia {
		c.media += len(raw)
		return
	}
	if t.Role != texts.NoRole && (t.Role != c.role || t.Item != c.item) {
		c.role, c.item = t.Role, t.Item
		c.messages++
	}
	if t.Kind == texts.ToolName {
		if c.framing += perTool; t.Role != texts.NoRole {
			c.framing += perCall - perTool
		}
	}
	c.framing += perText
	c.bound.Add(raw)
}

// Rough estimates the input by its bytes.
func Rough(facts *splice.Request) int64 {
	return int64(facts.Length(texts.Unread)) / bytesPerToken
}

// Vocabulary names the model whose vocabulary applies to a deployment.
func Vocabulary(d *catalog.Deployment) string {
	if d.BaseModel != "" {
		return d.BaseModel
	}
	return d.Model
}
