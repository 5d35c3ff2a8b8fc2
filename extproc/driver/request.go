package driver

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Plain is a header that is no secret.
func Plain(name, value string) Header {
	return Header{Name: name, Value: vault.NewSecret(value)}
}

// WithHeaders returns own with more, where more replaces headers of the same name.
func WithHeaders(own, more []Header) []Header {
	out := make([]Header, 0, len(own)+len(more))
	for _, h := range own {
		replaced := false
		for _, m := range more {
			replaced = replaced || strings.EqualFold(m.Name, h.Name)
		}
		if !replaced {
			out = append(out, h)
		}
	}
	return append(out, more...)
}

// EndpointPath appends an endpoint to a base path. Operators like to configure the
// whole address of a chat endpoint; what is before it counts as the base path.
func EndpointPath(base string, e Endpoint) string {
	base = strings.TrimRight(base, "/")
	for _, chat := range [...]Endpoint{Chat, Messages, Responses} {
		if before, ok := strings.CutSuffix(base, string(chat)); ok {
			base = before
			break
		}
	}
	return base + string(e)
}

// CodeEndpoint is the code of errors about an endpoint that a provider does not serve.
const CodeEndpoint = "unsupported_endpoint"

// NotServed is the error for an endpoint that a provider does not serve.
func NotServed(provider string) error {
	return fault.New(fault.Unsupported, CodeEndpoint, "%s has no endpoint of that kind.", provider)
}

// CodeUnsupported is the code of errors about what a provider lacks.
const CodeUnsupported = "unsupported_parameter"

// Unsupported rejects a parameter that the provider lacks. JSON allows a member whose name is
// empty; the error calls it "", because an empty Param means that no field is at fault.
func Unsupported(param, provider string) error {
	if param == "" {
		param = `""`
	}
	return fault.Field(param, CodeUnsupported, "%s is not supported by %s; leave it out, or set drop_params on the deployment.", param, provider)
}

// Unsendable rejects content that the provider cannot take. drop_params does not
// apply: content is never dropped.
func Unsendable(param, what, provider string) error {
	return fault.Field(param, CodeUnsupported, "%s: %s cannot be sent to %s.", param, what, provider)
}

// Object writes fields as one JSON object; nil for none.
func Object(fields []wire.Field) (jsontext.Value, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	out := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = jsontext.AppendQuote(out, f.Name); err != nil {
			return nil, err
		}
		out = append(append(out, ':'), f.Value...)
	}
	return append(out, '}'), nil
}
