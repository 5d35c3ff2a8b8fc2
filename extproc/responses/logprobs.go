package responses

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// logprob is the log probability of a token, and those of others in its place.
type logprob struct {
	Token   string       `json:"token"`
	Bytes   []int        `json:"bytes"`
	Logprob float64      `json:"logprob"`
	Top     []topLogprob `json:"top_logprobs"`
}

type topLogprob struct {
	Token   string  `json:"token"`
	Bytes   []int   `json:"bytes"`
	Logprob float64 `json:"logprob"`
}

// chatLogprobs is the canonical form: the object of OpenAI's chat.
type chatLogprobs struct {
	Content []logprob `json:"content"`
	Refusal []logprob `json:"refusal"`
}

// logprobsOf converts the canonical form; nil if there is none, or if it is not of that form.
func logprobsOf(raw jsontext.Value) []logprob {
	var in chatLogprobs
	if len(raw) == 0 || json.Unmarshal(raw, &in) != nil {
		return nil
	}
	return in.Content
}

// stepLogprob is the form that events have, which lacks the bytes.
type stepLogprob struct {
	Token   string    `json:"token"`
	Logprob float64   `json:"logprob"`
	Top     []stepTop `json:"top_logprobs"`
}

type stepTop struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
}

// appendSteps appends the log probabilities of an event, which requires at least a list.
func appendSteps(dst []byte, in []logprob) []byte {
	if len(in) == 0 {
		return append(member(dst, "logprobs"), "[]"...)
	}
	out := make([]stepLogprob, 0, len(in))
	for _, p := range in {
		top := make([]stepTop, 0, len(p.Top))
		for _, t := range p.Top {
			top = append(top, stepTop{t.Token, t.Logprob})
		}
		out = append(out, stepLogprob{p.Token, p.Logprob, top})
	}
	return value(dst, "logprobs", out)
}

// chatForm converts log probabilities to the canonical form; nil if there are none.
func chatForm(in []logprob) jsontext.Value {
	if len(in) == 0 {
		return nil
	}
	out, err := json.Marshal(&chatLogprobs{Content: in}, jsontext.AllowInvalidUTF8(true), json.FormatNilSliceAsNull(true))
	if err != nil {
		return nil
	}
	return out
}
