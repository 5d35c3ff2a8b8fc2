package gemini

import (
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type request struct {
	Contents    []content        `json:"contents"`
	System      *content         `json:"systemInstruction,omitzero"`
	Tools       []tool           `json:"tools,omitzero"`
	ToolConfig  *toolConfig      `json:"toolConfig,omitzero"`
	Safety      jsontext.Value   `json:"safetySettings,omitzero"`
	Generation  generationConfig `json:"generationConfig,omitzero"`
	ServiceTier string           `json:"serviceTier,omitzero"`
	Labels      jsontext.Value   `json:"labels,omitzero"`
}

type generationConfig struct {
	Temperature      *float64        `json:"temperature,omitzero"`
	TopP             *float64        `json:"topP,omitzero"`
	TopK             jsontext.Value  `json:"topK,omitzero"`
	CandidateCount   *int64          `json:"candidateCount,omitzero"`
	MaxOutputTokens  *int64          `json:"maxOutputTokens,omitzero"`
	Stop             []string        `json:"stopSequences,omitzero"`
	PresencePenalty  *float64        `json:"presencePenalty,omitzero"`
	FrequencyPenalty *float64        `json:"frequencyPenalty,omitzero"`
	Seed             *int32          `json:"seed,omitzero"`
	ResponseLogprobs *bool           `json:"responseLogprobs,omitzero"`
	Logprobs         *int64          `json:"logprobs,omitzero"`
	MimeType         string          `json:"responseMimeType,omitzero"`
	Schema           jsontext.Value  `json:"responseSchema,omitzero"`
	JSONSchema       jsontext.Value  `json:"responseJsonSchema,omitzero"`
	Modalities       []string        `json:"responseModalities,omitzero"`
	Speech           *speechConfig   `json:"speechConfig,omitzero"`
	MediaResolution  jsontext.Value  `json:"mediaResolution,omitzero"`
	Thinking         *thinkingConfig `json:"thinkingConfig,omitzero"`
}

// builder makes one request.
type builder struct {
	in     *wire.Request
	target driver.Target
	vertex bool // Vertex AI neither shows the calls of its own tools nor takes them back
	part   bool // the messages become a part of another request
	out    request
	calls  map[string]pastCall // of the history, by id
}

// Encode writes a request for generateContent. The model is in its path.
func (c Codec) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	return c.encoded(in, t, false)
}

// EncodePart is Encode for messages that become a part of another request: no turn is added before them.
func (c Codec) EncodePart(in *wire.Request, t driver.Target) ([]byte, error) {
	return c.encoded(in, t, true)
}

// encoded is Encode, or EncodePart for a part.
func (c Codec) encoded(in *wire.Request, t driver.Target, part bool) ([]byte, error) {
	out, err := c.build(in, t, part)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fault.From(err)
	}
	return body, nil
}

// build makes a request for generateContent, or of a part of one.
func (c Codec) build(in *wire.Request, t driver.Target, part bool) (*request, error) {
	b := &builder{in: in, target: t, vertex: c.Vertex, part: part, calls: map[string]pastCall{}}
	for _, step := range []func() error{b.lacking, b.members, b.contents, b.tools, b.format, b.speech, b.sampling} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if b.reasoning(); b.vertex {
		b.out.ServiceTier = ""
	}
	return &b.out, nil
}

// lacking rejects parameters that Gemini lacks.
func (b *builder) lacking() error {
	in := b.in
	serial := "parallel_tool_calls"
	if in.Caller == wire.Anthropic {
		serial = "tool_choice.disable_parallel_tool_use"
	}
	return driver.Lacking(vendor, b.target, []driver.Parameter{
		{Name: "logit_bias", Set: len(in.Sampling.LogitBias) > len("{}")},
		{Name: "modalities", Set: slices.ContainsFunc(in.Modalities, func(kind string) bool {
			return kind != "text" && (kind != "audio" || !b.target.Features.Speaks)
		})},
		{Name: "audio", Set: in.Audio != nil && !b.target.Features.Speaks},
		{Name: serial, Set: in.ParallelTools != nil && !*in.ParallelTools && len(in.Tools) > 0},
	})
}

// members handles the members without a canonical form: it passes Gemini's own, in either spelling,
// drops hints of other languages, and rejects the rest. A member that is not listed is never
// passed: cachedContent could name what another tenant has stored in the account.
func (b *builder) members() error {
	members, err := driver.Extra(b.in, b.target, vendor)
	if err != nil {
		return err
	}
	for _, f := range members {
		switch f.Name {
		case "top_k", "topK":
			b.out.Generation.TopK = f.Value
		case "safety_settings", "safetySettings":
			b.out.Safety = f.Value
		case "media_resolution", "mediaResolution":
			b.out.Generation.MediaResolution = f.Value
		case "labels":
			b.out.Labels = f.Value
		case "service_tier", "serviceTier":
			b.out.ServiceTier = tierOf(driver.Text(f.Value))
		default:
			if !b.target.DropParams && !isHint(b.in.Caller, f.Name) {
				return driver.Unsupported(f.Name, vendor)
			}
		}
	}
	return nil
}

// tierOf names a service tier as Gemini does; empty for the one that it takes by itself.
func tierOf(tier string) string {
	switch tier {
	case "default", "standard", "standard_only":
		return "standard"
	case "flex", "priority":
		return tier
	}
	return ""
}

// isHint reports whether a member does not change what a good response is.
func isHint(caller wire.Dialect, name string) bool {
	switch name {
	case "store", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "prediction":
		return true
	}
	return caller == wire.Anthropic && slices.Contains([]string{
		"cache_control", "context_management", "diagnostics", "speed", "user_profile_id", "workspace_id",
	}, name)
}

// mostStops is the most texts that may end a response.
const mostStops = 5

// sampling writes how tokens are selected, and what ends the response.
func (b *builder) sampling() error {
	s, g := &b.in.Sampling, &b.out.Generation
	g.Temperature, g.TopP, g.PresencePenalty, g.FrequencyPenalty = s.Temperature, s.TopP, s.PresencePenalty, s.FrequencyPenalty
	if b.target.Features.NoSampling {
		g.Temperature, g.TopP, g.TopK = nil, nil, nil
	}
	if s.N != nil && *s.N != 1 {
		g.CandidateCount = s.N
	}
	if s.Seed != nil {
		seed := seedOf(*s.Seed)
		g.Seed = &seed
	}
	if s.Logprobs != nil && *s.Logprobs {
		g.ResponseLogprobs = s.Logprobs
		if s.TopLogprobs != nil && *s.TopLogprobs > 0 {
			g.Logprobs = s.TopLogprobs
		}
	}
	if b.in.MaxTokens != nil {
		limit := *b.in.MaxTokens
		if most := b.target.MaxOutputTokens; most > 0 {
			limit = min(limit, most)
		}
		g.MaxOutputTokens = &limit
	}
	g.Stop = b.in.Stop
	switch {
	case len(g.Stop) <= mostStops:
		return nil
	case b.target.DropParams:
		g.Stop = g.Stop[:mostStops]
		return nil
	}
	param := "stop"
	if b.in.Caller == wire.Anthropic {
		param = "stop_sequences"
	}
	return fault.Field(param, driver.CodeUnsupported, "%s: %s takes %d texts at most; send fewer, or set drop_params on the deployment.", param, vendor, mostStops)
}

// seedOf returns a seed of 32 bits, which is all that Gemini takes: the same one for the same seed.
func seedOf(seed int64) int32 {
	if seed >= math.MinInt32 && seed <= math.MaxInt32 {
		return int32(seed)
	}
	return int32((seed ^ seed>>32) & math.MaxInt32) // 31 bits remain
}
