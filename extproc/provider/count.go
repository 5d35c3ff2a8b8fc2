package provider

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// count is a number of tokens as a provider reports it. Reading one never
// fails: what cannot be a count is remembered as bad, so that a broken report
// costs the report and not the answer.
type count struct {
	n     int64
	given bool
	bad   bool
}

// UnmarshalJSONFrom reads any value; null leaves an earlier report alone.
func (c *count) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() == 'n' {
		return nil
	}
	*c = count{given: true}
	n, notWhole := strconv.ParseInt(string(raw), 10, 64)
	if c.bad = notWhole != nil || n < 0 || n > usage.Limit; !c.bad {
		c.n = n
	}
	return nil
}

// counts is a report whose numbers are looked at together.
type counts []count

// bad reports whether any of them cannot be true.
func (c counts) bad() bool {
	for _, n := range c {
		if n.bad {
			return true
		}
	}
	return false
}

// reported turns tokens into what an answer reports, if they can be true.
func reported(t usage.Tokens) wire.Usage {
	if !t.Sane() {
		return wire.Usage{Bad: true}
	}
	return wire.Usage{Tokens: t, Source: usage.Provider}
}

// decodeLoose reads a provider's JSON. Bytes that are not UTF-8 are replaced:
// an answer is worth more than its encoding.
func decodeLoose(raw []byte, v any) error {
	return json.Unmarshal(raw, v, jsontext.AllowInvalidUTF8(true))
}
