package driver

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// RestoreVectors returns a list of embeddings of a provider with OpenAI's shape that reports a total of tokens
// alone: OpenAI's clients need the tokens of the input, which are the same. All other bytes stay.
func RestoreVectors(body []byte) (Restored, error) {
	var facts splice.ReplyFacts
	switch err := splice.List(body, &facts); {
	case err != nil:
		return Restored{}, InvalidResponse("is not valid JSON of the expected shape")
	case facts.HasError():
		return Restored{}, FailureIn(body)
	case facts.Items == 0:
		return Restored{}, InvalidResponse("has no embeddings")
	case !facts.HasUsage || splice.Lookup(facts.Usage.Of(body), "prompt_tokens") != nil:
		return Restored{Body: body}, nil
	}
	n := strconv.FormatInt(facts.Tokens.Input, 10)
	return Restored{Body: splice.Replace(nil, body, facts.Usage, []byte(`{"prompt_tokens":`+n+`,"total_tokens":`+n+`}`))}, nil
}

// rank is one of the documents in a ranking.
type rank struct {
	Index    jsontext.Value `json:"index"`
	Score    jsontext.Value `json:"relevance_score"`
	Document jsontext.Value `json:"document,omitzero"`
}

// ranks is Cohere's ranking.
type ranks struct {
	Results []rank `json:"results"`
	Meta    *meta  `json:"meta,omitzero"`
}

// meta is what Cohere's ranking reports.
type meta struct {
	Billed counted `json:"billed_units"`
	Tokens counted `json:"tokens"`
}

type counted struct {
	Input int64 `json:"input_tokens"`
}

// RestoreRanks returns a ranking in Cohere's form. The provider's has the results as results or data, a document as
// a text or as an object, and a total of tokens.
func RestoreRanks(body []byte) (Restored, error) {
	var in struct {
		Results []rank         `json:"results"`
		Data    []rank         `json:"data"`
		Error   jsontext.Value `json:"error"`
		Detail  jsontext.Value `json:"detail"`
		Usage   struct {
			Total Count `json:"total_tokens"`
		} `json:"usage"`
	}
	if f := ReadResponse(body, &in); f != nil {
		return Restored{}, f
	}
	out := ranks{Results: in.Results}
	if out.Results == nil {
		out.Results = in.Data
	}
	switch {
	case Given(in.Error), out.Results == nil && Given(in.Detail):
		return Restored{}, FailureIn(body)
	case out.Results == nil:
		return Restored{}, InvalidResponse("has no results")
	}
	for i := range out.Results {
		r := &out.Results[i]
		if r.Index.Kind() != '0' || r.Score.Kind() != '0' {
			return Restored{}, InvalidResponse("has a result without an index or a score")
		}
		if k := r.Document.Kind(); k == '"' {
			r.Document = append(append([]byte(`{"text":`), r.Document...), '}')
		} else if k != '{' {
			r.Document = nil
		}
	}
	total := in.Usage.Total
	var u wire.Usage
	switch {
	case Counts{total}.Bad():
		u.Bad = true
	case total.Given:
		u = Reported(usage.Tokens{Input: total.N})
		out.Meta = &meta{counted{total.N}, counted{total.N}}
	}
	restored, err := json.Marshal(&out, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return Restored{}, InvalidResponse("is not valid JSON of the expected shape")
	}
	return Restored{Body: restored, Usage: u}, nil
}
