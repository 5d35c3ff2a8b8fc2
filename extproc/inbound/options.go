package inbound

import (
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Options are the gateway's own fields of a request: how to route it.
type Options struct {
	Timeout     time.Duration // of one attempt; 0 means the deployment's or the router's
	Retries     int           // within the group; -1 means the router's
	NoFallbacks bool
	DropParams  bool
	Tags        []string
	EndUser     string
	Customer    id.Customer // EndUser, not truncated
	Prompt      Prompt
	// Guardrails are those that the request names, in order and each once.
	Guardrails           []Guardrail
	GuardrailsInMetadata bool   // some stand within metadata, which goes to the provider
	Session              string // the caller's own name for what the request is a part of
}

// resource is a field that names an entry of a registry. The registries are empty, and an
// unknown name is rejected: without what it stands for, the response would be another one.
type resource struct {
	field splice.Field
	kind  fault.Kind
	code  string
	noun  string
}

// resources lists the fields whose registries are empty.
func resources() [3]resource {
	return [3]resource{
		{splice.MemoryID, fault.NotFound, "memory_not_found", "memory session"},
		{splice.StoreMemory, fault.NotFound, "memory_not_found", "memory session"},
		{splice.TokenSavingPlanID, fault.NotFound, "token_saving_plan_not_found", "token-saving plan"},
	}
}

// unsupported are fields of other gateways that would change how the request is processed.
// This gateway does not implement them, and does not ignore them silently.
const unsupported = 1<<splice.Fallbacks | 1<<splice.ContextWindowFallbacks | 1<<splice.ContentPolicyFallbacks |
	1<<splice.AdditionalDropParams | 1<<splice.AllowedOpenAIParams | 1<<splice.Cache

// reader reads the options of one request.
type reader struct {
	*Headers

	facts *splice.Request
	to    Options
}

// Read reads the gateway's own fields, from the headers and from the body.
func Read(h *Headers, facts *splice.Request) (Options, error) {
	r := reader{Headers: h, facts: facts, to: Options{Retries: -1}}
	if err := r.headerOptions(); err != nil {
		return Options{}, err
	}
	if err := r.readLabels(); err != nil {
		return Options{}, err
	}
	if err := r.readPrompt(); err != nil {
		return Options{}, err
	}
	if err := r.readGuardrails(); err != nil {
		return Options{}, err
	}
	if facts.Present()&splice.Extensions != 0 {
		if err := r.bodyOptions(); err != nil {
			return Options{}, err
		}
	}
	return r.to, nil
}

func (r *reader) headerOptions() error {
	o := &r.to
	if v := r.Timeout; v != "" {
		d, ok := seconds([]byte(v))
		if !ok {
			return fault.Field("x-gateway-timeout", "invalid_value", "The header x-gateway-timeout must be a number of seconds above 0 and at most 86400.")
		}
		o.Timeout = d
	}
	if v := r.NumRetries; v != "" {
		n, ok := retries([]byte(v))
		if !ok {
			return fault.Field("x-gateway-num-retries", "invalid_value", "The header x-gateway-num-retries must be an integer from 0 to %d.", maxRetries)
		}
		o.Retries = n
	}
	return nil
}

func (r *reader) bodyOptions() error {
	for _, of := range resources() {
		raw := r.facts.Raw(of.field)
		if raw == nil || string(raw) == "null" || string(raw) == "false" {
			continue
		}
		return &fault.Error{Kind: of.kind, Code: of.code, Param: of.field.String(), Detail: "There is no " + of.noun + " of that name that this key may use."}
	}
	present := r.facts.Present()
	for f := splice.PromptID; splice.Extensions.Has(f); f++ {
		if present.Has(f) && unsupported&(1<<f) != 0 && string(r.facts.Raw(f)) != "null" {
			return fault.Field(f.String(), "unsupported_parameter", "%s cannot be set in a request; leave it out.", f)
		}
	}
	return r.routingOptions(present)
}

func (r *reader) routingOptions(present splice.FieldSet) error {
	o := &r.to
	for _, f := range [...]splice.Field{splice.Timeout, splice.RequestTimeout, splice.StreamTimeout} {
		if !present.Has(f) || string(r.facts.Raw(f)) == "null" || f == splice.StreamTimeout && !r.facts.Stream {
			continue
		}
		d, ok := seconds(r.facts.Raw(f))
		if !ok {
			return fault.Field(f.String(), "invalid_value", "%s must be a number of seconds above 0 and at most 86400.", f)
		}
		o.Timeout = d
	}
	for _, f := range [...]splice.Field{splice.NumRetries, splice.MaxRetries} {
		if !present.Has(f) || string(r.facts.Raw(f)) == "null" {
			continue
		}
		n, ok := retries(r.facts.Raw(f))
		if !ok {
			return fault.Field(f.String(), "invalid_value", "%s must be an integer from 0 to %d.", f, maxRetries)
		}
		o.Retries = n
	}
	var err error
	if o.NoFallbacks, err = r.flag(splice.DisableFallbacks); err != nil {
		return err
	}
	o.DropParams, err = r.flag(splice.DropParams)
	return err
}

// flag reads a field that is true or false.
func (r *reader) flag(f splice.Field) (bool, error) {
	switch string(r.facts.Raw(f)) {
	case "", "null", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, fault.Field(f.String(), "invalid_type", "%s must be true or false.", f)
}

// maxRetries bounds the retries that a caller may request: each one is paid for.
const maxRetries = 10

// maxTimeout is the longest timeout of one attempt that a caller may request.
const maxTimeout = 24 * time.Hour
