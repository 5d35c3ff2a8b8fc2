package config

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/address"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

const (
	// mostCount bounds rates, token limits and weights.
	mostCount = 1_000_000_000_000
	// mostParallel bounds requests in flight.
	mostParallel = 1_000_000_000
	// mostSpan bounds the time that one attempt may take.
	mostSpan = 24 * time.Hour
	// nobodyUses is the reason for api_version and max_retries.
	nobodyUses = "no built-in provider and no routing strategy uses it"
	// useRouter stands for a setting that a deployment leaves to the router.
	useRouter = -1
)

// settings are what litellm_settings says about every deployment, and about records.
type settings struct {
	dropParams bool
	defaults   tenancy.Defaults // of users and teams
	keyRules   tenancy.KeyRules
}

// model reads one entry of model_list.
func (d *decoder) model(item *node, s settings) Model {
	var m Model
	d.notEmpty(item)
	o := d.open(item)
	o.str("model_name", &m.Name)
	if m.Name == "" && item.kind == mapping && !d.failedIn(item.value("model_name")) {
		d.fail(item.value("model_name"), "has no model_name: write the name that callers send as model")
	}
	body, own := o.take("gateway_params")
	theirs, both := o.take("litellm_params")
	switch {
	case own && both:
		d.fail(theirs, "is another name of gateway_params, which is there too: merge the two")
	case both:
		body = theirs
	case !own && item.kind == mapping:
		d.fail(item, "has no gateway_params: add them with a model such as openai/gpt-4o")
	}
	m.Params = Params{MaxRetries: useRouter, DropParams: s.dropParams}
	if body != nil && body.kind != absent {
		d.params(body, &m.Params)
	}
	info, _ := o.take("model_info")
	d.info(info, &m.Info)
	o.also = deployment.protectors
	o.rest(d.documented(deployment))
	return m
}

// notEmpty reports an entry of a list that has nothing after its dash.
func (d *decoder) notEmpty(item *node) {
	if item.kind == absent {
		d.fail(item, "is empty: write the entry, or remove the dash")
	}
}

// failedIn reports whether the last problem is one of this value.
func (d *decoder) failedIn(n *node) bool {
	return len(d.problems) > 0 && d.problems[len(d.problems)-1].Path == n.path
}

// params reads gateway_params.
func (d *decoder) params(n *node, p *Params) {
	o := d.open(n)
	o.str("model", &p.Model)
	if p.Model == "" && n.kind == mapping && !d.failedIn(n.value("model")) {
		d.fail(n.value("model"), "has no model: write the provider and its model, such as openai/gpt-4o")
	}
	d.provider(o, p)
	d.base(o, &p.APIBase)
	o.secret("api_key", &p.APIKey)
	o.str("api_version", &p.APIVersion)
	o.str("organization", &p.Organization)
	o.duration("timeout", &p.Timeout, time.Millisecond, mostSpan)
	o.duration("stream_timeout", &p.StreamTimeout, time.Millisecond, mostSpan)
	o.integer("rpm", &p.RPM, 0, mostCount)
	o.integer("tpm", &p.TPM, 0, mostCount)
	o.integer("max_parallel_requests", &p.MaxParallel, 0, mostParallel)
	o.integer("weight", &p.Weight, 0, mostCount)
	o.integer("order", &p.Order, 0, 1_000_000)
	o.integer("max_retries", &p.MaxRetries, 0, 100)
	d.headers(o, &p.ExtraHeaders)
	o.boolean("drop_params", &p.DropParams)
	o.str("base_model", &p.BaseModel)
	for _, name := range []string{"api_version", "max_retries"} {
		if n := o.n.field(name); n != nil {
			d.warn(n, "has no effect: %s", nobodyUses)
		}
	}
	o.also = func() []string { return append(priceUnits(), params.protectors()...) }
	known := d.documented(params)
	o.rest(func(f field) bool { return d.takePrice(f, &p.Prices) || known(f) })
}

// provider puts the provider before a model that is written without one, as
// LiteLLM allows for the models that everybody knows.
func (d *decoder) provider(o *object, p *Params) {
	var named string
	o.str("custom_llm_provider", &named)
	switch {
	case p.Model == "" || named != "" && strings.HasPrefix(p.Model, named+"/"):
		return
	case named == "" && strings.Contains(p.Model, "/"):
		return
	case named == "":
		if named = vendor(p.Model); named == "" {
			return // the catalogue asks for it, and knows which there are
		}
		d.warn(o.n.value("model"), "is read as %s/%s: write it so", named, p.Model)
	}
	p.Model = named + "/" + p.Model
}

// vendor returns who makes a model of this name, or "".
func vendor(model string) string {
	model = strings.TrimPrefix(model, "ft:")
	for _, p := range []string{"gpt-", "chatgpt-", "o1", "o3", "o4", "text-embedding-3-", "text-embedding-ada-", "dall-e-", "whisper-", "tts-"} {
		if strings.HasPrefix(model, p) {
			return "openai"
		}
	}
	if strings.HasPrefix(model, "claude-") {
		return "anthropic"
	}
	return ""
}

// base reads api_base. It is checked here as well as in the catalogue, because
// here the problem has a line.
func (d *decoder) base(o *object, to *string) {
	n, ok := o.take("api_base")
	if !ok {
		return
	}
	s, ok := d.text(n)
	if !ok {
		return
	}
	if _, _, err := catalog.ParseBase(strings.TrimSpace(s)); err != nil {
		d.fail(n, "%s", fault.From(err).Message())
		return
	}
	// The author of the file decides which private networks the gateway uses. No
	// provider is at a metadata service.
	if err := catalog.CheckReach(strings.TrimSpace(s), address.Private); err != nil {
		d.fail(n, "%s", fault.From(err).Message())
		return
	}
	*to = strings.TrimSpace(s)
}

// headers reads extra_headers. Their values may be credentials.
func (d *decoder) headers(o *object, to *[]Header) {
	n, ok := o.take("extra_headers")
	if !ok {
		return
	}
	for _, f := range d.open(n).n.fields {
		switch {
		case !isHeader(f.name):
			d.report(f.at, n.path, quote(f.name)+" cannot name a header: use letters, digits and -")
		case reserved(f.name):
			d.report(f.at, n.path, quote(f.name)+" is set by the gateway itself: remove it (a provider's key belongs into api_key)")
		case slices.ContainsFunc(*to, func(h Header) bool { return strings.EqualFold(h.Name, f.name) }):
			d.report(f.at, n.path, quote(f.name)+" is there twice in different letters: keep one")
		case f.value.kind == absent:
			d.fail(f.value, "has no value: write one, or remove the line")
		default:
			*to = append(*to, Header{f.name, d.secret(f.value)})
		}
	}
}

// isHeader reports whether name is a token as HTTP has it.
func isHeader(name string) bool {
	return name != "" && len(name) <= 128 && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}

// reserved reports whether a header is none of a deployment's business: it frames
// the message, names the connection or is how the gateway steers Envoy.
func reserved(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "keep-alive",
		"proxy-connection", "expect", "content-type", "content-encoding":
		return true
	}
	return strings.HasPrefix(name, "x-envoy-") || strings.HasPrefix(name, "x-gateway-")
}

// info reads model_info.
func (d *decoder) info(n *node, i *Info) {
	o := d.open(n)
	o.str("id", &i.ID)
	o.str("base_model", &i.BaseModel)
	o.str("mode", &i.Mode)
	o.integer("max_tokens", &i.MaxTokens, 0, mostCount)
	o.integer("max_input_tokens", &i.MaxInputTokens, 0, mostCount)
	o.integer("max_output_tokens", &i.MaxOutputTokens, 0, mostCount)
	known := d.documented(modelInfo)
	o.rest(func(f field) bool {
		if !d.takePrice(f, &i.Prices) && !known(f) {
			i.Extras = append(i.Extras, Extra{f.name, string(free(f.name, f.value))})
		}
		return true
	})
}

// takePrice adds a price, and reports whether the field is one.
func (d *decoder) takePrice(f field, to *[]Price) bool {
	if !isPrice(f.name) {
		return false
	}
	if f.value.kind != absent {
		if p, ok := d.price(f); ok {
			*to = append(*to, p)
		}
	}
	return true
}

// free returns a free value as JSON. What its name calls a credential is left
// out: nothing needs it, and free values are shown to everybody who may list
// the models.
func free(name string, n *node) []byte {
	switch {
	case n.kind == absent:
		return []byte("null")
	case isCredential(name):
		return []byte(`"` + redacted + `"`)
	case n.kind == scalar:
		return freeScalar(n)
	case n.kind == list:
		b := []byte("[")
		for i, item := range n.items {
			b = append(comma(b, i), free(name, item)...)
		}
		return append(b, ']')
	}
	b := []byte("{")
	for i, f := range n.fields {
		b = append(append(comma(b, i), jsonString(f.name)...), ": "...)
		b = append(b, free(f.name, f.value)...)
	}
	return append(b, '}')
}

// comma separates the items of a list.
func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ", "...)
	}
	return b
}

// freeScalar returns a free scalar: true, false and numbers as they are written,
// all else as a string.
func freeScalar(n *node) []byte {
	if !n.quoted {
		switch s := strings.ToLower(n.text); {
		case s == "true" || s == "false":
			return []byte(s)
		case isJSONNumber(strings.TrimPrefix(n.text, "-")):
			return []byte(n.text)
		}
	}
	return jsonString(n.text)
}

// isJSONNumber reports whether s is a number without a sign that JSON takes too.
func isJSONNumber(s string) bool {
	return isDecimal(s) && (len(s) == 1 || s[0] != '0' || s[1] < '0' || s[1] > '9')
}

// isCredential reports whether a name says that its value is to be kept quiet.
func isCredential(name string) bool {
	name = strings.ToLower(name)
	for _, end := range []string{"key", "secret", "password", "credential", "credentials", "access_token", "auth_token", "authorization"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// jsonString returns s as a JSON string, which is a YAML string as well.
func jsonString(s string) []byte {
	b, _ := jsontext.AppendQuote(nil, s) // the error is that s is not UTF-8, and then it is made so
	return b
}
