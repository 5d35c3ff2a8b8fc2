package wire

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Finish is why a response ended, in OpenAI's words.
type Finish string

// The reasons. The empty Finish means that the response has not ended.
const (
	FinishStop      Finish = "stop"
	FinishLength    Finish = "length"
	FinishToolCalls Finish = "tool_calls"
	FinishFilter    Finish = "content_filter"
)

// Response is a whole response.
type Response struct {
	ID          string // the provider's
	Model       string // as the provider names it
	Created     int64  // unix seconds; 0 if the provider sends none
	Choices     []Choice
	Usage       Usage
	ServiceTier string
	Fingerprint string
}

// Generated returns all text of a response, for counting.
func (r *Response) Generated() []byte {
	var out []byte
	for i := range r.Choices {
		c := &r.Choices[i]
		out = append(append(out, c.Text...), c.Refusal...)
		for j := range c.Thinking {
			out = append(out, c.Thinking[j].Text...)
		}
		for j := range c.ToolCalls {
			out = append(append(out, c.ToolCalls[j].Name...), c.ToolCalls[j].Arguments...)
		}
	}
	return out
}

// Choice is one of the requested choices.
type Choice struct {
	Index       int
	Text        string
	Refusal     string
	Thinking    []Thinking
	ToolCalls   []ToolCall
	Annotations []Annotation
	Audio       jsontext.Value // OpenAI's audio object; nil if none
	Logprobs    jsontext.Value // OpenAI's logprobs object; nil if none
	Finish      Finish
	Ending      Ending
}

// Ending is what is known of the end beyond a Finish. The zero value means that nothing more is known.
type Ending struct {
	Sequence string         // the text of Request.Stop that ended the response, with FinishStop; empty if none did
	Paused   bool           // the provider paused a long turn, with FinishStop; it goes on if it gets the response back
	Window   bool           // the model's context window is full, with FinishLength
	Details  jsontext.Value // Anthropic's stop_details object; nil if none
}

// Thinking is a block of the model's reasoning. A block with a Signature, or a
// redacted one, must go back to the provider unchanged when a tool's result does.
type Thinking struct {
	Text      string
	Signature string
	Redacted  string // opaque data in place of Text and Signature
}

// Annotation is a source for a part of the text. Start and End count Unicode code
// points of the choice's text.
type Annotation struct {
	URL      string // on the web; empty for a source of another kind, which only Citation names
	Title    string
	Start    int
	End      int
	Citation jsontext.Value // Anthropic's citation object; nil if the source is another provider's
}

// Usage is what a response consumed, and the source of that number.
type Usage struct {
	Tokens usage.Tokens
	Source usage.Source // None: the provider reported nothing plausible
	Bad    bool         // the provider reported something impossible
	// Partial means that Tokens has the input only: a stream ended before its
	// provider reported the output. Source is None then, and the output must be estimated.
	Partial bool
	Cost    *money.Pico // nil if not known; drivers never set it
}

// Known reports whether Tokens is complete.
func (u *Usage) Known() bool { return u.Source != usage.None }
