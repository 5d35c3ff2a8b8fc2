package bedrock

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Codec translates chats to and from Converse.
type Codec struct{}

// builder makes one request. Its steps run in the order of Encode, because later ones depend on what
// earlier ones decided.
type builder struct {
	in     *wire.Request
	target driver.Target
	family *family
	out    request
	fields []wire.Field // additionalModelRequestFields
	points int          // cache points so far
	names  map[string]int
	calls  []string // names of tools that the history calls
	forced bool     // the model must call a tool
	part   bool     // it is a part of a request, which need not begin with the user's turn
}

// Encode writes a request of Converse. The model is in its path.
func (Codec) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	return (&builder{in: in, target: t, family: familyNamed(t.Features.Family), names: map[string]int{}}).encode()
}

// EncodePart is Encode for a part of a request, such as a prompt that is put into one. Its target need not be a deployment: then
// the part has what any model of Bedrock may have.
func (Codec) EncodePart(in *wire.Request, t driver.Target) ([]byte, error) {
	return (&builder{in: in, target: t, family: familyNamed(t.Features.Family), names: map[string]int{}, part: true}).encode()
}

// encode runs the steps.
func (b *builder) encode() ([]byte, error) {
	for _, step := range []func() error{
		b.lacking, b.members,
		b.messages,  // system and messages
		b.tools,     // needs to know whether messages refer to tools
		b.format,    // may add a tool, and force it
		b.reasoning, // not possible with a forced tool
		b.sampling,  // not possible with reasoning
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	var err error
	if b.out.Fields, err = driver.Object(b.fields); err != nil {
		return nil, fault.From(err)
	}
	body, err := json.Marshal(&b.out)
	if err != nil {
		return nil, fault.From(err)
	}
	return body, nil
}

// lacking rejects parameters that Converse lacks.
func (b *builder) lacking() error {
	in := b.in
	return driver.Lacking(vendor, b.target, driver.ChatsAlone(in), []driver.Parameter{
		{Name: "logprobs", Set: in.Sampling.Logprobs != nil && *in.Sampling.Logprobs},
		{Name: "top_logprobs", Set: in.Sampling.TopLogprobs != nil && *in.Sampling.TopLogprobs != 0},
		{Name: b.serialParam(), Set: b.serial() && len(in.Tools) > 0 && !b.mayCallSerially()},
		{Name: b.word("stop", "stop_sequences"), Set: b.family.noStops && len(in.Stop) > 0},
	})
}

// word returns the name of a member in the caller's language.
func (b *builder) word(chat, messages string) string {
	if b.in.Caller == wire.Anthropic {
		return messages
	}
	return chat
}

// members handles the members without a canonical form: it passes Converse's own, drops hints of other
// languages, and rejects the rest. guardrailConfig names a guardrail of the account, and applies in addition
// to those that the account enforces.
func (b *builder) members() error {
	members, err := driver.Extra(b.in, b.target, vendor)
	if err != nil {
		return err
	}
	for _, f := range members {
		switch f.Name {
		case "top_k", "topK":
			b.topK(f.Value)
		case "guardrailConfig", "guardrail_config":
			b.out.Guardrail = f.Value
		case "performanceConfig", "performance_config":
			b.out.Performance = f.Value
		case "requestMetadata", "request_metadata":
			b.out.Metadata = f.Value
		case "service_tier", "serviceTier":
			b.tier(f.Value)
		case "additionalModelRequestFields", "additional_model_request_fields":
			if err := b.own(f); err != nil {
				return err
			}
		default:
			if !b.target.DropParams && !isHint(b.in.Caller, f.Name) {
				return driver.Unsupported(f.Name, vendor)
			}
		}
	}
	return nil
}

// isHint reports whether a member does not change what a good response is.
func isHint(caller wire.Dialect, name string) bool {
	switch name {
	case "store", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "prediction", "verbosity":
		return true
	}
	return caller == wire.Anthropic && slices.Contains([]string{
		"cache_control", "context_management", "diagnostics", "speed", "user_profile_id", "workspace_id", "inference_geo",
	}, name)
}

// topK sends top_k under the name that it has in the model's own API.
func (b *builder) topK(value jsontext.Value) {
	switch b.family.topK {
	case "":
		if b.family.name == "" {
			b.set("top_k", value)
		}
	case "inferenceConfig.topK":
		b.set("inferenceConfig", slices.Concat(jsontext.Value(`{"topK":`), value, jsontext.Value("}")))
	default:
		b.set(b.family.topK, value)
	}
}

// set adds a member of the model's own API. One that the caller has written there goes first.
func (b *builder) set(name string, value jsontext.Value) {
	if !slices.ContainsFunc(b.fields, func(f wire.Field) bool { return f.Name == name }) {
		b.fields = append(b.fields, wire.Field{Name: name, Value: value})
	}
}

// unset removes a member of the model's own API.
func (b *builder) unset(name string) {
	b.fields = slices.DeleteFunc(b.fields, func(f wire.Field) bool { return f.Name == name })
}

// own adds the members that the caller has for the model's own API.
func (b *builder) own(f wire.Field) error {
	dec := jsontext.NewDecoder(bytes.NewReader(f.Value))
	if dec.PeekKind() != '{' {
		return fault.Field(f.Name, dialect.CodeType, "%s must be an object.", f.Name)
	}
	_, _ = dec.ReadToken()
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return fault.From(err)
		}
		text := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return fault.From(err)
		}
		b.unset(text)
		b.set(text, value.Clone())
	}
	return nil
}

// tier names the service tier as Bedrock does; auto is what it does by itself.
func (b *builder) tier(value jsontext.Value) {
	word := driver.Text(value)
	if value.Kind() == '{' { // Bedrock's own form
		var own serviceTier
		_ = json.Unmarshal(value, &own)
		word = own.Type
	}
	switch word {
	case "default", "standard", "standard_only":
		b.out.Tier = &serviceTier{"default"}
	case "flex", "priority", "reserved":
		b.out.Tier = &serviceTier{word}
	}
}

// sampling runs last: a Claude that thinks takes no temperature but 1, and no top_k. OpenAI's temperature goes
// up to 2, Bedrock's to 1.
func (b *builder) sampling() error {
	s, out := &b.in.Sampling, &b.out.Inference
	for _, text := range b.in.Stop {
		if strings.TrimSpace(text) != "" && !b.family.noStops { // the API rejects others
			out.Stop = append(out.Stop, text)
		}
	}
	switch {
	case b.target.Features.NoSampling:
		b.unset("top_k")
		return nil
	case b.thinksWithClaude():
		b.unset("top_k")
		if s.TopP != nil && *s.TopP >= 0.95 {
			out.TopP = s.TopP
		}
		return nil
	}
	var err error
	out.Temperature, out.TopP, err = driver.Sampling(s, b.target, vendor)
	return err
}

// placeOf returns the path of a part of the i-th message.
func placeOf(p *wire.Part, i int) string {
	if at := p.At.String(); at != "" {
		return at
	}
	return fmt.Sprintf("messages[%d]", i)
}
