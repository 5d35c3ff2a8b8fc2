package tokens

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Counter counts tokens. It is safe for concurrent use; make one for the process.
type Counter struct {
	o200k, cl100k func() *codec.Codec
}

// NewCounter returns a Counter that has unpacked no vocabulary yet.
func NewCounter() *Counter {
	return &Counter{o200k: sync.OnceValue(codec.NewO200kBase), cl100k: sync.OnceValue(codec.NewCl100kBase)}
}

// Count returns how many tokens the text is for that model, or about how many:
// see the package comment for when it is which.
func (c *Counter) Count(model, text string) int64 {
	return count(c.codec(model), []string{text})
}

// Message is one message of a chat prompt.
type Message struct {
	Role, Name, Content string
}

// What chat models read beside the text, by OpenAI's published recipe.
const (
	perMessage = 3 // the marks around a message
	perRole    = 1 // every role's name is one token
	perName    = 1 // the mark before a participant's name
	perPrompt  = 3 // the start of the answer
)

// CountMessages returns how many tokens a chat prompt is: the texts and what
// frames them. Tools, images and files are not counted; add their text with Count.
func (c *Counter) CountMessages(model string, messages []Message) int64 {
	texts := make([]string, 0, len(messages))
	total := int64(perPrompt)
	for i := range messages {
		m := &messages[i]
		total += perMessage + perRole
		texts = append(texts, m.Content)
		if m.Name != "" {
			total += perName
			texts = append(texts, m.Name)
		}
	}
	return total + count(c.codec(model), texts)
}

func (c *Counter) codec(model string) *codec.Codec {
	switch encodingOf(model) {
	case cl100k:
		return c.cl100k()
	case o200k:
	}
	return c.o200k()
}
