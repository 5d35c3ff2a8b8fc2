package cohere

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// units is a count of Cohere's. Its type is a number, so a whole one may have a fraction of zero.
type units struct{ driver.Count }

// UnmarshalJSONFrom reads any value.
func (u *units) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if whole, fraction, ok := bytes.Cut(raw, []byte(".")); ok && len(bytes.Trim(fraction, "0")) == 0 {
		raw = whole
	}
	return u.Count.UnmarshalJSONFrom(jsontext.NewDecoder(bytes.NewReader(raw)))
}

type looseUsage struct {
	Billed looseTokens `json:"billed_units"`
	Tokens looseTokens `json:"tokens"`
	Cached units       `json:"cached_tokens"`
}

type looseTokens struct {
	Input    units `json:"input_tokens"`
	Output   units `json:"output_tokens"`
	Searches units `json:"search_units"`
}

// ReadUsage reads a report. What is billed counts: the other count has what Cohere adds to the prompt.
func ReadUsage(raw jsontext.Value) wire.Usage {
	if !driver.Given(raw) {
		return wire.Usage{}
	}
	var u looseUsage
	if driver.DecodeLoose(raw, &u) != nil {
		return wire.Usage{Bad: true}
	}
	b, t := &u.Billed, &u.Tokens
	if (driver.Counts{b.Input.Count, b.Output.Count, b.Searches.Count, t.Input.Count, t.Output.Count, u.Cached.Count}).Bad() {
		return wire.Usage{Bad: true}
	}
	if !b.Input.Given || !b.Output.Given {
		b = t
	}
	if !b.Input.Given || !b.Output.Given {
		return wire.Usage{}
	}
	return driver.Reported(usage.Tokens{
		Input: b.Input.N, CacheRead: min(u.Cached.N, b.Input.N), Output: b.Output.N, SearchQueries: u.Billed.Searches.N,
	})
}
