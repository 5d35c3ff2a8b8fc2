package responses

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// vendor names the provider in texts for callers.
const vendor = "OpenAI's Responses API"

// Codec translates chats to and from the Responses API of a provider.
type Codec struct{}

// builder makes one request.
type builder struct {
	in     *wire.Request
	target driver.Target
	out    request
	extra  []wire.Field
}

// Encode writes a request. Nothing is stored: the caller sends the history along.
func (Codec) Encode(in *wire.Request, t driver.Target) ([]byte, error) {
	b := &builder{in: in, target: t}
	store := false
	b.out.Model, b.out.Stream, b.out.Store = t.Model, in.Stream, &store
	b.out.User, b.out.Metadata = shortened(in.User, ""), in.Metadata
	for _, step := range []func() error{b.lacking, b.members, b.items, b.tools, b.choice} {
		if err := step(); err != nil {
			return nil, fault.From(err)
		}
	}
	b.format()
	b.reasoning()
	b.sampling()
	if in.MaxTokens != nil {
		limit := *in.MaxTokens
		if t.MaxOutputTokens > 0 {
			limit = min(limit, t.MaxOutputTokens)
		}
		limit = max(limit, leastOutput)
		b.out.MaxOutputTokens = (*dialect.Whole)(&limit)
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

// lacking rejects parameters that the API lacks.
func (b *builder) lacking() error {
	stop := "stop"
	if !b.in.Caller.IsOpenAIs() {
		stop = "stop_sequences"
	}
	return driver.Lacking(vendor, b.target, driver.ChatsAlone(b.in), []driver.Parameter{{Name: stop, Set: len(b.in.Stop) > 0}})
}

// members handles the members without a canonical form: it passes those that the API has,
// drops hints, and rejects the rest. A member that is not listed is never passed: it could
// name a response that another caller's request has stored.
func (b *builder) members() error {
	members, err := driver.Extra(b.in, b.target, vendor)
	if err != nil {
		return err
	}
	for _, f := range members {
		switch f.Name {
		case "verbosity":
			b.text().Verbosity = driver.Text(f.Value)
		case "safety_identifier", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "moderation":
			b.extra = append(b.extra, f)
		case "service_tier":
			b.extra = append(b.extra, wire.Field{Name: f.Name, Value: tierFor(b.in.Caller, f.Value)})
		case "store", "prediction":
		default:
			if !b.target.DropParams && !foreignHint(b.in.Caller, f.Name) {
				return driver.Unsupported(f.Name, vendor)
			}
		}
	}
	return nil
}

// tierFor converts the service tier that a caller requests.
func tierFor(caller wire.Dialect, tier jsontext.Value) jsontext.Value {
	switch {
	case caller != wire.Anthropic:
		return tier
	case driver.Text(tier) == "standard_only":
		return jsontext.Value(`"default"`)
	}
	return jsontext.Value(`"auto"`)
}

// foreignHint reports whether a member is a hint of another language, which is dropped.
func foreignHint(caller wire.Dialect, name string) bool {
	return !caller.IsOpenAIs() && slices.Contains([]string{
		"top_k", "cache_control", "context_management", "diagnostics", "speed", "user_profile_id", "workspace_id",
	}, name)
}

// text returns the member text, which it makes if there is none.
func (b *builder) text() *textConfig {
	if b.out.Text == nil {
		b.out.Text = &textConfig{}
	}
	return b.out.Text
}

// format gives the response's text a form.
func (b *builder) format() {
	f := &b.in.Format
	switch f.Kind {
	case wire.FormatText:
	case wire.FormatObject:
		b.text().Format = &textFormat{Type: "json_object"}
	case wire.FormatSchema:
		name := f.Name
		if name == "" {
			name = "answer" // the API requires one
		}
		b.text().Format = &textFormat{Type: "json_schema", Name: name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}
	}
}

// reasoning writes how much to think. The encrypted reasoning is requested with it, so that
// the caller can send it back, and always of models that have no other API, all of which think. It is
// not requested otherwise: models that do not think reject that.
func (b *builder) reasoning() {
	r := &b.in.Reasoning
	out := reasoning{Effort: r.Word(), Summary: r.Summary}
	thinks := r.Mode == "enabled" || r.Mode == "adaptive"
	if out.Summary == "" && thinks && r.Display != "omitted" {
		out.Summary = "auto" // a caller that turns thinking on expects to read it
	}
	if out != (reasoning{}) {
		b.out.Reasoning = &out
	}
	alone := b.target.Features.ResponsesOnly && out.Effort != "none"
	if thinks || alone || out.Summary != "" || out.Effort != "" && out.Effort != "none" || b.thought() {
		b.out.Include = append(b.out.Include, includeReasoning)
	}
}

// thought reports whether the history has encrypted reasoning.
func (b *builder) thought() bool {
	return slices.ContainsFunc(b.out.Input.items, func(t item) bool { return t.Type == typeReasoning })
}

// sampling writes how tokens are selected, and which probabilities of them are requested.
func (b *builder) sampling() {
	s := &b.in.Sampling
	if !b.target.Features.NoSampling {
		b.out.Temperature, b.out.TopP = s.Temperature, s.TopP
	}
	if s.Logprobs != nil && *s.Logprobs {
		b.out.TopLogprobs = (*dialect.Whole)(s.TopLogprobs)
		b.out.Include = append(b.out.Include, includeLogprobs)
	}
}

// leastOutput is the lowest limit of output tokens that the API accepts. Callers of other APIs ask for
// a single token to see whether a model answers.
const leastOutput = 16

// longestID is the most characters of ids and of names of users.
const longestID = 64

// shortened makes an id that the API accepts. A longer one becomes its hash: the same one in a
// call and in its result.
func shortened(id, prefix string) string {
	if len(id) <= longestID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return (prefix + hex.EncodeToString(sum[:]))[:longestID]
}
