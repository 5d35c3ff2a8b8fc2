package pipeline

import (
	"context"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// decode finds the operation and reads the request's fields. The body is scanned once and
// not decoded: same-dialect traffic needs no more.
func (p *Pipeline) decode(_ context.Context, x *Exchange) error {
	if x.op = p.operations[x.Inbound.Path]; x.op == nil {
		return fault.New(fault.NotFound, "", "No operation has this path.")
	}
	if len(x.Body) == 0 {
		return errEmptyBody()
	}
	if err := x.op.scan(x.Body, &x.Facts); err != nil {
		return err
	}
	return x.readOptions()
}

func errEmptyBody() error {
	return fault.New(fault.Malformed, "invalid_json", "The body is empty; send a JSON object with model and messages.")
}

// media rejects a body of another form than the operation's requests, before it is read.
// decode rejects an unknown path.
func (p *Pipeline) media(_ context.Context, x *Exchange) error {
	in := &x.Inbound
	if enc := strings.TrimSpace(in.Encoding); enc != "" && !strings.EqualFold(enc, "identity") {
		return &fault.Error{
			Kind: fault.MediaType, Code: "unsupported_content_encoding", Param: "content-encoding",
			Detail: "Compressed request bodies are not read here; send the body without Content-Encoding.",
		}
	}
	op := p.operations[in.Path]
	if op == nil {
		return nil
	}
	form := &op.request
	media, params, _ := strings.Cut(in.ContentType, ";")
	if !form.Is(strings.ToLower(strings.TrimSpace(media))) {
		return &fault.Error{
			Kind: fault.MediaType, Param: "content-type",
			Detail: "Send the body as " + form.Name + ", with the header Content-Type: " + form.Media + ".",
		}
	}
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if form.Charset != "" && strings.EqualFold(name, "charset") && !strings.EqualFold(strings.Trim(value, `"`), form.Charset) {
			return &fault.Error{
				Kind: fault.MediaType, Param: "content-type",
				Detail: form.Name + " is read as " + strings.ToUpper(form.Charset) + " only; drop the charset from Content-Type or make it " + form.Charset + ".",
			}
		}
	}
	return nil
}

// resource is a field that names an entry of a registry. The registries are empty, and an
// unknown name is rejected: ignoring a guardrail that the caller relies on would let through
// what it should stop.
type resource struct {
	field splice.Field
	kind  fault.Kind
	code  string
	noun  string
}

// resources lists the fields whose registries are empty.
func resources() [6]resource {
	return [6]resource{
		{splice.PromptID, fault.NotFound, "prompt_not_found", "prompt"},
		{splice.GuardrailID, fault.Malformed, "guardrail_not_found", "guardrail"},
		{splice.Guardrails, fault.Malformed, "guardrail_not_found", "guardrail"},
		{splice.MemoryID, fault.NotFound, "memory_not_found", "memory session"},
		{splice.StoreMemory, fault.NotFound, "memory_not_found", "memory session"},
		{splice.TokenSavingPlanID, fault.NotFound, "token_saving_plan_not_found", "token-saving plan"},
	}
}

// unsupported are fields of other gateways that would change how the request is processed.
// This gateway does not implement them, and does not ignore them silently.
const unsupported = 1<<splice.Fallbacks | 1<<splice.ContextWindowFallbacks | 1<<splice.ContentPolicyFallbacks |
	1<<splice.AdditionalDropParams | 1<<splice.AllowedOpenAIParams | 1<<splice.Cache |
	1<<splice.PromptVariables | 1<<splice.PromptVersion

// readOptions reads the gateway's own fields, from the body and from the headers.
func (x *Exchange) readOptions() error {
	x.Options.Retries = -1
	if err := x.headerOptions(); err != nil {
		return err
	}
	if err := x.readLabels(); err != nil {
		return err
	}
	if x.Facts.Present()&splice.Extensions == 0 {
		return nil
	}
	return x.bodyOptions()
}

func (x *Exchange) headerOptions() error {
	o := &x.Options
	if v := x.Inbound.Timeout; v != "" {
		d, ok := seconds([]byte(v))
		if !ok {
			return fault.Field("x-gateway-timeout", "invalid_value", "The header x-gateway-timeout must be a number of seconds above 0 and at most 86400.")
		}
		o.Timeout = d
	}
	if v := x.Inbound.NumRetries; v != "" {
		n, ok := retries([]byte(v))
		if !ok {
			return fault.Field("x-gateway-num-retries", "invalid_value", "The header x-gateway-num-retries must be an integer from 0 to %d.", maxRetries)
		}
		o.Retries = n
	}
	return nil
}

func (x *Exchange) bodyOptions() error {
	for _, r := range resources() {
		raw := x.Facts.Raw(r.field)
		if raw == nil || string(raw) == "null" || string(raw) == "false" {
			continue
		}
		return &fault.Error{Kind: r.kind, Code: r.code, Param: r.field.String(), Detail: "There is no " + r.noun + " of that name that this key may use."}
	}
	if raw := x.Facts.Within(splice.LitellmMetadata, "guardrails"); raw != nil && string(raw) != "null" && string(raw) != "[]" {
		return &fault.Error{Kind: fault.Malformed, Code: "guardrail_not_found", Param: "litellm_metadata.guardrails", Detail: "There is no guardrail of that name that this key may use."}
	}
	present := x.Facts.Present()
	for f := splice.PromptID; splice.Extensions.Has(f); f++ {
		if present.Has(f) && unsupported&(1<<f) != 0 && string(x.Facts.Raw(f)) != "null" {
			return fault.Field(f.String(), "unsupported_parameter", "%s cannot be set in a request; leave it out.", f)
		}
	}
	return x.routingOptions(present)
}

func (x *Exchange) routingOptions(present splice.FieldSet) error {
	o := &x.Options
	for _, f := range [...]splice.Field{splice.Timeout, splice.RequestTimeout, splice.StreamTimeout} {
		if !present.Has(f) || string(x.Facts.Raw(f)) == "null" || f == splice.StreamTimeout && !x.Facts.Stream {
			continue
		}
		d, ok := seconds(x.Facts.Raw(f))
		if !ok {
			return fault.Field(f.String(), "invalid_value", "%s must be a number of seconds above 0 and at most 86400.", f)
		}
		o.Timeout = d
	}
	for _, f := range [...]splice.Field{splice.NumRetries, splice.MaxRetries} {
		if !present.Has(f) || string(x.Facts.Raw(f)) == "null" {
			continue
		}
		n, ok := retries(x.Facts.Raw(f))
		if !ok {
			return fault.Field(f.String(), "invalid_value", "%s must be an integer from 0 to %d.", f, maxRetries)
		}
		o.Retries = n
	}
	for f, to := range map[splice.Field]*bool{splice.DisableFallbacks: &o.NoFallbacks, splice.DropParams: &o.DropParams} {
		switch string(x.Facts.Raw(f)) {
		case "", "null", "false":
		case "true":
			*to = true
		default:
			return fault.Field(f.String(), "invalid_type", "%s must be true or false.", f)
		}
	}
	return nil
}

// maxRetries bounds the retries that a caller may request: each one is paid for.
const maxRetries = 10

// maxTimeout is the longest timeout of one attempt that a caller may request.
const maxTimeout = 24 * time.Hour
