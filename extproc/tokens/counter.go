package tokens

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Counter counts tokens. It is safe for concurrent use; a process needs only one.
type Counter struct {
	o200k, cl100k func() *codec.Codec
}

// NewCounter returns a Counter without an unpacked vocabulary.
func NewCounter() *Counter {
	return &Counter{o200k: sync.OnceValue(codec.NewO200kBase), cl100k: sync.OnceValue(codec.NewCl100kBase)}
}

// Count returns the number of tokens of the text for a model, exact or approximate: see the
// package comment.
func (c *Counter) Count(model, text string) int64 {
	return count(c.codec(model), []string{text})
}

// Message is one message of a chat prompt.
type Message struct {
	Role, Name, Content string
}

// The tokens that frame the texts of a chat prompt, by OpenAI's published rules.
const (
	perMessage = 3 // the markers around a message
	perRole    = 1 // each role name is one token
	perName    = 1 // the marker before a participant's name
	perPrompt  = 3 // the start of the response
)

// CountMessages returns the number of tokens of a chat prompt, including the frames of the
// messages. It does not count tools, images and files; add their text with Count.
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
