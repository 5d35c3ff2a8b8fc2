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
