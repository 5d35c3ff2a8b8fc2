package rest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// Place says where a route of the management API has its parameters.
type Place struct {
	Path []string // names of those in the path
	Body bool     // whether the others are in the body; else they are in the query
}

// invalid is an entry of the detail of an invalid request, as FastAPI has it.
type invalid struct {
	Type    string `json:"type"`
	Where   []any  `json:"loc"`
	Message string `json:"msg"`
}

// Detail returns the detail of an error about fields of the request.
func (p Place) Detail(e *fault.Error) []invalid {
	var out []invalid
	for _, one := range field.Problems(e) {
		out = append(out, invalid{one.Code, p.locate(one.Param), one.Message})
	}
	return out
}

// locate returns a param as a list: where it is, and then names and indices.
func (p Place) locate(param string) []any {
	if param == field.HeaderIfMatch || param == field.HeaderIdempotency {
		return []any{"header", param}
	}
	out := []any{"query"}
	for part := range strings.SplitSeq(param, ".") {
		name, index, indexed := strings.Cut(part, "[")
		switch {
		case len(out) == 1 && slices.Contains(p.Path, name):
			out[0] = "path"
		case len(out) == 1 && p.Body:
			out[0] = "body"
		}
		out = append(out, name)
		if n, err := strconv.Atoi(strings.TrimSuffix(index, "]")); indexed && err == nil {
			out = append(out, n)
		}
	}
	return out
}

// WithDetail adds the detail of an error as a top-level member, where clients of other
// gateways read it.
func WithDetail(body []byte, detail any) []byte {
	var v struct {
		Error  jsontext.Value `json:"error"`
		Detail any            `json:"detail"`
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return body
	}
	v.Detail = detail
	out, err := json.Marshal(v)
	if err != nil { // a message is not UTF-8
		return body
	}
	return out
}
