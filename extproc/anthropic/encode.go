package anthropic

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type request struct {
	Version     string          `json:"anthropic_version,omitzero"` // at clouds, whose addresses name the model
	Model       string          `json:"model,omitzero"`
	MaxTokens   int64           `json:"max_tokens"`
	System      []contentBlock  `json:"system,omitzero"`
	Messages    []message       `json:"messages"`
	Tools       []any           `json:"tools,omitzero"`
	ToolChoice  *toolChoice     `json:"tool_choice,omitzero"`
	Stop        []string        `json:"stop_sequences,omitzero"`
	Temperature *float64        `json:"temperature,omitzero"`
	TopP        *float64        `json:"top_p,omitzero"`
	TopK        jsontext.Value  `json:"top_k,omitzero"`
	Thinking    *thinkingConfig `json:"thinking,omitzero"`
	Output      *outputConfig   `json:"output_config,omitzero"`
	Metadata    *metadata       `json:"metadata,omitzero"`
	ServiceTier string          `json:"service_tier,omitzero"`
	Stream      bool            `json:"stream,omitzero"`
	Extra       jsontext.Value  `json:",embed"`
}

type metadata struct {
	UserID string `json:"user_id"`
}

type outputConfig struct {
	Effort string        `json:"effort,omitzero"`
	Format *outputFormat `json:"format,omitzero"`
}

type outputFormat struct {
	Type   string         `json:"type"`
	Schema jsontext.Value `json:"schema"`
}

// builder makes one request. Its steps run in the order of Encode, because later
// ones depend on what earlier ones decided.
type builder struct {
	in     *wire.Request
	target driver.Target
	out    request
	extra  []wire.Field
	forced bool // the tool choice that is sent makes the model call a tool
	part   bool // other turns follow the messages
}

// Encode writes a Messages request.
func (d Driver) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	b := &builder{in: in, target: t}
	if b.out.Version = d.Version; d.Version == "" {
		b.out.Model = t.Model
	}
	return b.encode()
}

// EncodePart is Encode for messages that become a part of another request: other turns follow
// them, so none is added or trimmed.
func EncodePart(in *wire.Request, t driver.Target) ([]byte, error) {
	b := &builder{in: in, target: t, part: true}
	b.out.Model = t.Model
	return b.encode()
}

func (b *builder) encode() ([]byte, error) {
	b.out.Stream = b.in.Stream
	for _, step := range []func() error{
		b.lacking,   // first what Anthropic does not have at all
		b.members,   // members of the request that have no canonical form
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
	if b.out.Extra, err = driver.Object(b.extra); err != nil {
		return nil, fault.From(err)
	}
	body, err := json.Marshal(&b.out)
	if err != nil {
		return nil, fault.From(err)
	}
	return body, nil
}

// lacking rejects parameters that Anthropic lacks. Requests for no log probabilities are accepted.
func (b *builder) lacking() error {
	s := &b.in.Sampling
	return driver.Lacking(vendor, b.target, driver.ChatsAlone(b.in), []driver.Parameter{
		{Name: "logprobs", Set: s.Logprobs != nil && *s.Logprobs},
		{Name: "top_logprobs", Set: s.TopLogprobs != nil && *s.TopLogprobs != 0},
	})
}

// members handles the members without a canonical form: it passes Anthropic's
// own, drops hints of OpenAI's, and rejects the rest. A caller of Anthropic's language
// may know members that are unknown here. mcp_servers is not passed on
// purpose: it would bypass the gateway's rules for tools.
func (b *builder) members() error {
	members, err := driver.Extra(b.in, b.target, vendor)
	if err != nil {
		return err
	}
	for _, f := range members {
		if b.in.Caller == wire.Anthropic && f.Name != "top_k" && f.Name != "service_tier" && f.Name != "mcp_servers" {
			b.extra = append(b.extra, f)
			continue
		}
		switch f.Name {
		case "top_k":
			b.out.TopK = f.Value
		case "context_management", "container", "inference_geo", "speed":
			b.extra = append(b.extra, f)
		case "service_tier":
			switch driver.Text(f.Value) {
			case "auto":
				b.out.ServiceTier = "auto"
			case "default", "standard_only":
				b.out.ServiceTier = "standard_only"
			}
		case "store", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "safety_identifier", "prediction":
		default:
			if !b.target.DropParams {
				return driver.Unsupported(f.Name, vendor)
			}
		}
	}
	user := b.in.User
	if user == "" {
		user = driver.Text(b.in.ExtraNamed("safety_identifier"))
	}
	if user != "" {
		b.out.Metadata = &metadata{UserID: user}
	}
	for _, s := range b.in.Stop {
		if strings.TrimSpace(s) != "" { // the API rejects others
			b.out.Stop = append(b.out.Stop, s)
		}
	}
	return nil
}

// sampling runs last: with thinking enabled, the API accepts only temperature 1
// and no top_k. OpenAI's temperature goes up to 2, Anthropic's to 1.
func (b *builder) sampling() error {
	s := &b.in.Sampling
	if b.target.Features.NoSampling {
		b.out.TopK = nil
		return nil
	}
	if b.thinks() {
		b.out.TopK = nil
		if s.TopP != nil && *s.TopP >= 0.95 {
			b.out.TopP = s.TopP
		}
		return nil
	}
	var err error
	b.out.Temperature, b.out.TopP, err = driver.Sampling(s, b.target, vendor)
	return err
}
