package openai

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// completionObject is the type of a response and of each event of a stream.
const completionObject = "text_completion"

type completion struct {
	ID          string             `json:"id"`
	Object      string             `json:"object"`
	Created     int64              `json:"created"`
	Model       string             `json:"model"`
	Choices     []completionChoice `json:"choices"`
	Usage       jsontext.Value     `json:"usage,omitzero"`
	Fingerprint string             `json:"system_fingerprint,omitzero"`
}

type completionChoice struct {
	Text     string        `json:"text"`
	Index    int           `json:"index"`
	Logprobs *textLogprobs `json:"logprobs"`
	Finish   *string       `json:"finish_reason"`
}

// textLogprobs are the log probabilities of the tokens of a text.
type textLogprobs struct {
	Tokens  []string             `json:"tokens"`
	Logs    []float64            `json:"token_logprobs"`
	Top     []map[string]float64 `json:"top_logprobs"`
	Offsets []int                `json:"text_offset"` // in characters from the beginning of the text
}

// tokenLogprob is the log probability of a token in the form of chats.
type tokenLogprob struct {
	Token   string         `json:"token"`
	Logprob float64        `json:"logprob"`
	Top     []tokenLogprob `json:"top_logprobs"`
}

// completionProbs converts log probabilities of a chat's tokens, the first of which begins at an
// offset; nil if there are none.
func completionProbs(raw jsontext.Value, offset int) *textLogprobs {
	var in struct {
		Content []tokenLogprob `json:"content"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &in) != nil || len(in.Content) == 0 {
		return nil
	}
	out := &textLogprobs{}
	for _, t := range in.Content {
		top := map[string]float64{t.Token: t.Logprob}
		for _, other := range t.Top {
			top[other.Token] = other.Logprob
		}
		out.Tokens, out.Logs = append(out.Tokens, t.Token), append(out.Logs, t.Logprob)
		out.Top, out.Offsets = append(out.Top, top), append(out.Offsets, offset)
		offset += utf8.RuneCountInString(t.Token)
	}
	return out
}

// completionEncoder writes one stream.
type completionEncoder struct {
	meta dialect.Meta
	ends map[int]int // characters of each choice so far, by its index
}

// Chunk writes the text, and the finish in an event of its own, as for chats.
func (e *completionEncoder) Chunk(dst []byte, c *wire.Chunk) []byte {
	if text := c.Text + c.Refusal; text != "" || c.Logprobs != nil {
		dst = e.step(dst, completionChoice{Text: text, Index: c.Index, Logprobs: completionProbs(c.Logprobs, e.ends[c.Index])})
		e.ends[c.Index] += utf8.RuneCountInString(text)
	}
	if c.Finish != "" {
		reason := completionFinish(c.Finish)
		dst = e.step(dst, completionChoice{Index: c.Index, Finish: &reason})
	}
	return dst
}

// End writes the usage, if the caller requested it, and the terminator.
func (e *completionEncoder) End(dst []byte, u *wire.Usage) []byte {
	if out := usageOf(u); e.meta.IncludeUsage && out != nil {
		dst = e.event(dst, &completion{Choices: []completionChoice{}, Usage: appendJSON(nil, out)})
	}
	return append(dst, "data: [DONE]\n\n"...)
}

// Fail writes the error, without a terminator after it.
func (e *completionEncoder) Fail(dst []byte, err *fault.Error) []byte {
	return (&chatEncoder{}).Fail(dst, err)
}

// step writes one event with one choice. Where usage comes at the end, it is null until then.
func (e *completionEncoder) step(dst []byte, c completionChoice) []byte {
	out := &completion{Choices: []completionChoice{c}}
	if e.meta.IncludeUsage {
		out.Usage = jsontext.Value("null")
	}
	return e.event(dst, out)
}

func (e *completionEncoder) event(dst []byte, c *completion) []byte {
	c.ID, c.Object, c.Created, c.Model = e.meta.ID, completionObject, e.meta.Created, e.meta.Model
	return append(appendJSON(append(dst, "data: "...), c), "\n\n"...)
}
