package wire

import "github.com/go-json-experiment/json/jsontext"

// Chunk is one step of one choice of a streamed response. All of its parts may be
// empty: such a chunk means that the provider has begun.
type Chunk struct {
	Index       int // of the choice
	Text        string
	Refusal     string
	Thinking    string    // more of the reasoning, for reading along
	Block       *Thinking // a block of reasoning that is now whole, text included
	Tool        *ToolDelta
	Annotations []Annotation
	Audio       jsontext.Value // OpenAI's audio delta; nil if none
	Logprobs    jsontext.Value // OpenAI's logprobs of this step; nil if none
	Finish      Finish
	Ending      Ending // of the chunk with Finish
	Usage       *Usage // what the provider reported before its response began; nil if nothing
}

// ToolDelta is a step of a tool call. The first step of a call has ID and Name;
// the Arguments of all steps, joined, are those of the call.
type ToolDelta struct {
	Index     int // of the call within its choice, from 0
	ID        string
	Name      string
	Arguments string
	Custom    bool
}

// Content reports whether the chunk has something that a caller would see twice if
// the request were sent again.
func (c *Chunk) Content() bool {
	return c.Text != "" || c.Refusal != "" || c.Thinking != "" || c.Block != nil || c.Tool != nil || c.Audio != nil
}
