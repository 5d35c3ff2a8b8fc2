package driver

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Count is a number of tokens as a provider reports it. Reading one never
// fails: an invalid count is marked as bad, so a broken report invalidates the
// report and not the response.
type Count struct {
	N     int64 // 0 if it is bad
	Given bool
	bad   bool
}

// UnmarshalJSONFrom reads any value; null keeps an earlier report.
func (c *Count) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() == 'n' {
		return nil
	}
	*c = Count{Given: true}
	n, notWhole := strconv.ParseInt(string(raw), 10, 64)
	if c.bad = notWhole != nil || n < 0 || n > usage.Limit; !c.bad {
		c.N = n
	}
	return nil
}

// Counts is the numbers of one report.
type Counts []Count

// Bad reports whether any of them cannot be true.
func (c Counts) Bad() bool {
	for _, n := range c {
		if n.bad {
			return true
		}
	}
	return false
}

// Reported returns the usage of a report: bad, if the tokens cannot be true.
func Reported(t usage.Tokens) wire.Usage {
	if !t.Sane() {
		return wire.Usage{Bad: true}
	}
	return wire.Usage{Tokens: t, Source: usage.Provider}
}

// DecodeLoose reads a provider's JSON. Bytes that are not UTF-8 are replaced: a
// response with them is better than none.
func DecodeLoose(raw []byte, v any) error {
	return json.Unmarshal(raw, v, jsontext.AllowInvalidUTF8(true))
}
