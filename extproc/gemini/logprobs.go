package gemini

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type looseLogprobs struct {
	Chosen []looseLogprob `json:"chosenCandidates"`
	Top    []struct {
		Candidates []looseLogprob `json:"candidates"`
	} `json:"topCandidates"`
}

type looseLogprob struct {
	Token string  `json:"token"`
	Log   float64 `json:"logProbability"`
}

// logprobs is OpenAI's object, which the canonical form has.
type logprobs struct {
	Content []tokenLogprob `json:"content"`
	Refusal jsontext.Value `json:"refusal"`
}

type tokenLogprob struct {
	topLogprob

	Top []topLogprob `json:"top_logprobs"`
}

type topLogprob struct {
	Token string  `json:"token"`
	Log   float64 `json:"logprob"`
	Bytes []int   `json:"bytes"`
}

// canonical returns the log probabilities in OpenAI's form; nil if there are none.
func (l *looseLogprobs) canonical() jsontext.Value {
	if len(l.Chosen) == 0 {
		return nil
	}
	out := logprobs{Refusal: jsontext.Value("null")}
	for i := range l.Chosen {
		one := tokenLogprob{topLogprob: l.Chosen[i].canonical(), Top: []topLogprob{}}
		if i < len(l.Top) {
			for j := range l.Top[i].Candidates {
				one.Top = append(one.Top, l.Top[i].Candidates[j].canonical())
			}
		}
		out.Content = append(out.Content, one)
	}
	raw, err := json.Marshal(&out, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil
	}
	return raw
}

func (l *looseLogprob) canonical() topLogprob {
	out := topLogprob{Token: l.Token, Log: l.Log, Bytes: make([]int, 0, len(l.Token))}
	for _, b := range []byte(l.Token) {
		out.Bytes = append(out.Bytes, int(b))
	}
	return out
}
