package cohere

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

// Bounds of Cohere's. OpenAI's temperature goes up to 2, its penalties from -2 to 2, and its top_p from 0 to 1.
const (
	highestTemperature = 1.0
	highestPenalty     = 1.0
	lowestP            = 0.01
	highestP           = 0.99
)

// builder makes one request.
type builder struct {
	in     *wire.Request
	target driver.Target
	out    request
}

// Encode writes a chat.
func (Driver) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	b := &builder{in: in, target: t, out: request{Model: t.Model, StopSequences: in.Stop, Stream: in.Stream}}
	for _, step := range []func() error{b.lacking, b.members, b.messages, b.tools, b.sampling} {
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

// lacking rejects what Cohere does not have.
func (b *builder) lacking() error {
	r := b.in
	others := slices.DeleteFunc(driver.ChatsAlone(r), func(p driver.Parameter) bool {
		return p.Name == "seed" || p.Name == "frequency_penalty" || p.Name == "presence_penalty"
	})
	return driver.Lacking(vendor, b.target, others, []driver.Parameter{
		{Name: "logprobs", Set: r.Sampling.Logprobs != nil && *r.Sampling.Logprobs},
		{Name: "top_logprobs", Set: r.Sampling.TopLogprobs != nil && *r.Sampling.TopLogprobs != 0},
		{Name: "parallel_tool_calls", Set: r.ParallelTools != nil && !*r.ParallelTools},
		{Name: "web_search_options", Set: r.WebSearch != nil},
	})
}

// members handles the members without a canonical form: it passes Cohere's own, drops hints of
// others, and rejects the rest.
func (b *builder) members() error {
	var own []wire.Field
	members, err := driver.Extra(b.in, b.target, vendor)
	if err != nil {
		return err
	}
	for _, f := range members {
		switch f.Name {
		case "documents", "citation_options", "safety_mode", "priority":
			own = append(own, f)
		case "top_k", "k":
			b.out.K = f.Value
		case "store", "safety_identifier", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "prediction", "verbosity", "service_tier",
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

// tools lists the tools, and says whether one must be called. If only some are allowed, or one is forced,
// it lists those.
func (b *builder) tools() error {
	c := &b.in.ToolChoice
	strict := 0
	for i := range b.in.Tools {
		t := &b.in.Tools[i]
		switch {
		case t.Type != "" && !b.target.DropParams:
			param := fmt.Sprintf("tools[%d].type", i)
			return fault.Field(param, driver.CodeUnsupported, "%s: the tool %s is not supported by %s; leave it out, or set drop_params on the deployment.", param, fault.Quote(t.Type), vendor)
		case t.Type != "", !c.Allows(t.Name), c.Mode == wire.ChoiceNamed && c.Name != t.Name:
			continue
		}
		parameters := t.Schema
		if len(parameters) == 0 {
			parameters = jsontext.Value(`{"type":"object","properties":{}}`)
		}
		if s := driver.Strict(b.in.Caller, t); s != nil && *s {
			strict++
		}
		b.out.Tools = append(b.out.Tools, tool{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: parameters}})
	}
	if len(b.out.Tools) == 0 {
		if c.Mode == wire.ChoiceNamed && !b.target.DropParams {
			return driver.Unsupported("tool_choice", vendor)
		}
		return nil
	}
	b.out.StrictTools = strict == len(b.out.Tools)
	switch c.Mode {
	case wire.ChoiceRequired, wire.ChoiceNamed:
		b.out.ToolChoice = "REQUIRED"
	case wire.ChoiceNone:
		b.out.ToolChoice = "NONE"
	case wire.ChoiceAuto, wire.ChoiceUnset:
	}
	return nil
}

// sampling writes how tokens are selected, and how many.
func (b *builder) sampling() error {
	s := &b.in.Sampling
	var err error
	for _, p := range []struct {
		name     string
		from     *float64
		to       **float64
		low, top float64
	}{
		{"temperature", s.Temperature, &b.out.Temperature, 0, highestTemperature},
		{"frequency_penalty", s.FrequencyPenalty, &b.out.FrequencyPenalty, 0, highestPenalty},
		{"presence_penalty", s.PresencePenalty, &b.out.PresencePenalty, 0, highestPenalty},
	} {
		if *p.to, err = b.within(p.name, p.from, p.low, p.top); err != nil {
			return err
		}
	}
	if s.TopP != nil { // OpenAI's 0 and 1 mean what Cohere's bounds mean
		nucleus := min(max(*s.TopP, lowestP), highestP)
		b.out.P = &nucleus
	}
	if s.Seed != nil {
		seed := *s.Seed & (1<<63 - 1) // Cohere's have no sign
		b.out.Seed = &seed
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

// within returns a parameter that is within Cohere's bounds. One that is not is rejected, or becomes the
// nearest bound if the deployment drops what its provider lacks.
func (b *builder) within(name string, v *float64, low, top float64) (*float64, error) {
	switch {
	case v == nil, *v >= low && *v <= top:
		return v, nil
	case !b.target.DropParams:
		return nil, fault.Field(name, driver.CodeUnsupported, "%s must be between %g and %g for %s; change it, or set drop_params on the deployment.", name, low, top, vendor)
	}
	bound := min(max(*v, low), top)
	return &bound, nil
}

// format writes response_format. Cohere's has no name.
func (b *builder) format() {
	switch f := &b.in.Format; f.Kind {
	case wire.FormatObject:
		b.out.ResponseFormat = &responseFormat{Type: "json_object"}
	case wire.FormatSchema:
		b.out.ResponseFormat = &responseFormat{Type: "json_object", Schema: f.Schema}
	case wire.FormatText:
	}
}

// reasoning writes thinking. A high effort has no bound, as Cohere's default has none.
func (b *builder) reasoning() {
	r := &b.in.Reasoning
	switch {
	case b.target.Features.NoReasoning:
	case r.Effort == "none", r.Mode == "disabled":
		b.out.Thinking = &thinking{Type: "disabled"}
	case r.Mode == "enabled" && r.Budget > 0:
		b.out.Thinking = &thinking{Type: "enabled", Budget: r.Budget}
	case r.Effort == "minimal", r.Effort == "low", r.Effort == "medium":
		b.out.Thinking = &thinking{Type: "enabled", Budget: wire.BudgetOf(r.Effort)}
	case r.Effort != "", r.Mode == "adaptive":
		b.out.Thinking = &thinking{Type: "enabled"}
	}
}
