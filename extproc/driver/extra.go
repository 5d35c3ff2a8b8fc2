package driver

import "github.com/modelgateway/modelgateway/extproc/wire"

// Extra returns the members of a request without a canonical form that a provider of another language may know. The
// names of Google's members mean nothing elsewhere, or something else; only the sampling and the tier have OpenAI's names. So the others
// are rejected, or dropped with DropParams, and so are those of callers of a language that is not listed here.
func Extra(r *wire.Request, t Target, provider string) ([]wire.Field, error) {
	if r.Caller.IsOpenAIs() || r.Caller == wire.Anthropic {
		return r.Extra, nil
	}
	var out []wire.Field
	for _, f := range r.Extra {
		switch f.Name {
		case "top_k", "service_tier":
			out = append(out, f)
		default:
			if !t.DropParams {
				return nil, Unsupported(f.Name, provider)
			}
		}
	}
	return out, nil
}
