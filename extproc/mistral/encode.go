package mistral

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// highestTemperature is the highest temperature that Mistral takes. OpenAI's goes up to 2.
const highestTemperature = 1.5

// longestName is the most characters of a function's name.
const longestName = 64

// builder makes one request.
type builder struct {
	in     *wire.Request
	target driver.Target
	out    request
}

// Encode writes a chat.
func (Driver) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	b := &builder{in: in, target: t, out: request{
		Model: t.Model, Stop: in.Stop, Metadata: in.Metadata, Stream: in.Stream,
		TopP: in.Sampling.TopP, PresencePenalty: in.Sampling.PresencePenalty, FrequencyPenalty: in.Sampling.FrequencyPenalty,
		N: (*dialect.Whole)(in.Sampling.N),
	}}
	for _, step := range []func() error{b.lacking, b.members, b.messages, b.tools, b.choice, b.sampling} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	b.format()
	b.reasoning()
	body, err := json.Marshal(&b.out)
	if err != nil {
		return nil, fault.From(err)
	}
	return body, nil
}

// lacking rejects what Mistral does not have.
func (b *builder) lacking() error {
	r := b.in
	if err := driver.FunctionNames(r, longestName, vendor); err != nil {
		return err
	}
	others := slices.DeleteFunc(driver.ChatsAlone(r), func(p driver.Parameter) bool {
		return p.Name == "n" || p.Name == "seed" || p.Name == "frequency_penalty" || p.Name == "presence_penalty"
	})
	return driver.Lacking(vendor, b.target, others, []driver.Parameter{
		{Name: "logprobs", Set: r.Sampling.Logprobs != nil && *r.Sampling.Logprobs},
		{Name: "top_logprobs", Set: r.Sampling.TopLogprobs != nil && *r.Sampling.TopLogprobs != 0},
		{Name: "web_search_options", Set: r.WebSearch != nil},
	})
}

// members handles the members without a canonical form: it passes Mistral's own, drops hints of
// others, and rejects the rest.
func (b *builder) members() error {
	var own []wire.Field
	members, err := driver.Extra(b.in, b.target, vendor)
	if err != nil {
		return err
	}
	for _, f := range members {
		switch f.Name {
		case "safe_prompt", "prompt_mode", "prompt_cache_key", "prediction":
			own = append(own, f)
		case "top_k":
			if b.in.Caller.IsOpenAIs() { // a hint elsewhere; Mistral's own otherwise
				own = append(own, f)
			}
		case "store", "safety_identifier", "prompt_cache_options", "prompt_cache_retention", "verbosity", "service_tier",
			"cache_control", "context_management", "diagnostics", "speed", "user_profile_id", "workspace_id":
		default:
			if !b.target.DropParams {
				return driver.Unsupported(f.Name, vendor)
			}
		}
	}
	b.out.Extra, err = driver.Object(own)
	return err
}

// tools lists the tools. If only some are allowed, it lists those.
func (b *builder) tools() error {
	for i := range b.in.Tools {
		t := &b.in.Tools[i]
		switch {
		case t.Type != "" && !b.target.DropParams:
			param := fmt.Sprintf("tools[%d].type", i)
			return fault.Field(param, driver.CodeUnsupported, "%s: the tool %s is not supported by %s; leave it out, or set drop_params on the deployment.", param, fault.Quote(t.Type), vendor)
		case t.Type == "" && b.in.ToolChoice.Allows(t.Name):
			parameters := t.Schema
			if len(parameters) == 0 {
				parameters = jsontext.Value(`{"type":"object","properties":{}}`)
			}
			b.out.Tools = append(b.out.Tools, tool{Type: "function", Function: function{
				Name: t.Name, Description: t.Description, Parameters: parameters, Strict: driver.Strict(b.in.Caller, t),
			}})
		}
	}
	if len(b.out.Tools) > 0 {
		b.out.ParallelToolCalls = b.in.ParallelTools
	}
	return nil
}

// choice writes tool_choice, which means nothing without tools.
func (b *builder) choice() error {
	c := &b.in.ToolChoice
	if len(b.out.Tools) == 0 {
		if c.Mode == wire.ChoiceNamed && !b.target.DropParams {
			return driver.Unsupported("tool_choice", vendor)
		}
		return nil
	}
	switch c.Mode {
	case wire.ChoiceAuto:
		b.out.ToolChoice = jsontext.Value(`"auto"`)
	case wire.ChoiceNone:
		b.out.ToolChoice = jsontext.Value(`"none"`)
	case wire.ChoiceRequired:
		b.out.ToolChoice = jsontext.Value(`"any"`)
	case wire.ChoiceNamed:
		var err error
		b.out.ToolChoice, err = json.Marshal(&toolChoice{Type: "function", Function: functionName{c.Name}})
		return err
	case wire.ChoiceUnset:
	}
	return nil
}

// sampling writes how tokens are selected, and how many.
func (b *builder) sampling() error {
	s := &b.in.Sampling
	b.out.Temperature = s.Temperature
	if s.Temperature != nil && *s.Temperature > highestTemperature {
		if !b.target.DropParams {
			return fault.Field("temperature", driver.CodeUnsupported, "temperature above %g is not supported by %s; lower it, or set drop_params on the deployment.", highestTemperature, vendor)
		}
		highest := highestTemperature
		b.out.Temperature = &highest
	}
	if s.Seed != nil {
		seed := *s.Seed & (1<<63 - 1) // Mistral's have no sign
		b.out.RandomSeed = &seed
	}
	if most := b.in.MaxTokens; most != nil {
		limit := dialect.Whole(*most)
		if b.target.MaxOutputTokens > 0 {
			limit = min(limit, dialect.Whole(b.target.MaxOutputTokens))
		}
		b.out.MaxTokens = &limit
	}
	return nil
}

// format writes response_format.
func (b *builder) format() {
	f := &b.in.Format
	switch f.Kind {
	case wire.FormatObject:
		b.out.ResponseFormat = &responseFormat{Type: "json_object"}
	case wire.FormatSchema:
		name := f.Name
		if name == "" {
			name = "answer"
		}
		b.out.ResponseFormat = &responseFormat{Type: "json_schema", JSONSchema: &jsonSchema{Name: name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}}
	case wire.FormatText:
	}
}

// reasoning writes the effort. Mistral's models have two: they think, or they do not.
func (b *builder) reasoning() {
	r := &b.in.Reasoning
	word := r.Word()
	switch {
	case b.target.Features.NoReasoning:
	case word == "none", word == "minimal", r.Mode == "disabled":
		b.out.ReasoningEffort = "none"
	case word != "", r.Mode == "adaptive":
		b.out.ReasoningEffort = "high"
	}
}
