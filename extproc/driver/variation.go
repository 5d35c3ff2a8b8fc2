package driver

import (
	"slices"

	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Variation is how the chats and embeddings of a provider differ from those of the language that it
// speaks. The zero value is no difference. It applies to requests that are translated, and, as edits in
// place, to those that are passed on.
type Variation struct {
	OldLimit      bool     // takes max_tokens, and not max_completion_tokens
	NoDeveloper   bool     // rejects the role developer: system means the same there
	NoUsageOption bool     // rejects stream_options: it reports the usage of a stream without being asked
	Lacks         []string // parameters of OpenAI's chats that it rejects
	OutputSize    bool     // takes output_dimension for embeddings, and not dimensions
	NoUser        bool     // rejects user, which is a hint
}

// Rejects returns an error if a request needs a parameter that the provider lacks. The error names it.
func (v *Variation) Rejects(r *wire.Request, t Target, provider string) error {
	if len(v.Lacks) == 0 || t.DropParams {
		return nil
	}
	for _, p := range v.parameters(r) {
		if p.Set && slices.Contains(v.Lacks, p.Name) {
			return Unsupported(p.Name, provider)
		}
	}
	return nil
}

// parameters lists the parameters that some providers lack.
func (v *Variation) parameters(r *wire.Request) []Parameter {
	s := &r.Sampling
	return append(ChatsAlone(r),
		Parameter{"logprobs", s.Logprobs != nil && *s.Logprobs},
		Parameter{"top_logprobs", s.TopLogprobs != nil && *s.TopLogprobs != 0},
		Parameter{"parallel_tool_calls", r.ParallelTools != nil && !*r.ParallelTools},
	)
}

// Without returns the request without the parameters that the provider lacks.
func (v *Variation) Without(r wire.Request) wire.Request {
	for _, name := range v.Lacks {
		s := &r.Sampling
		switch name {
		case "n":
			s.N = nil
		case "logit_bias":
			s.LogitBias = nil
		case "frequency_penalty":
			s.FrequencyPenalty = nil
		case "presence_penalty":
			s.PresencePenalty = nil
		case "seed":
			s.Seed = nil
		case "logprobs":
			s.Logprobs = nil
		case "top_logprobs":
			s.TopLogprobs = nil
		case "parallel_tool_calls":
			r.ParallelTools = nil
		}
	}
	return r
}
