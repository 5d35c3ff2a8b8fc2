package driver

import "github.com/modelgateway/modelgateway/extproc/wire"

// Parameter is a parameter that a provider lacks.
type Parameter struct {
	Name string // in the caller's language
	Set  bool   // the request needs it
}

// ChatsAlone lists the parameters that only OpenAI's chats have. A request does not need one for what every
// provider does anyway: n=1, a penalty of zero.
func ChatsAlone(r *wire.Request) []Parameter {
	s := &r.Sampling
	nonzero := func(f *float64) bool { return f != nil && *f != 0 }
	return []Parameter{
		{"n", s.N != nil && *s.N != 1},
		{"logit_bias", len(s.LogitBias) > len("{}")},
		{"frequency_penalty", nonzero(s.FrequencyPenalty)},
		{"presence_penalty", nonzero(s.PresencePenalty)},
		{"seed", s.Seed != nil},
		{"audio", r.Audio != nil},
		{"modalities", len(r.Modalities) > 1 || len(r.Modalities) == 1 && r.Modalities[0] != "text"},
	}
}

// Lacking rejects a request that needs one of the parameters, unless the deployment drops what its provider lacks.
func Lacking(provider string, t Target, lists ...[]Parameter) error {
	if t.DropParams {
		return nil
	}
	for _, list := range lists {
		for _, p := range list {
			if p.Set {
				return Unsupported(p.Name, provider)
			}
		}
	}
	return nil
}
