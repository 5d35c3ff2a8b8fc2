package config

import (
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/address"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/config/litellm"
)

const (
	// mostCount bounds rates, token limits and weights.
	mostCount = 1_000_000_000_000
	// mostParallel bounds requests in flight.
	mostParallel = 1_000_000_000
	// mostSpan bounds the time that one attempt may take.
	mostSpan = 24 * time.Hour
	// useRouter is a setting that a deployment leaves to the router.
	useRouter = -1
)

// model reads one entry of model_list; dropParams is the default of drop_params.
func (d *decoder) model(item *node, dropParams bool) Model {
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
	m.Params = Params{MaxRetries: useRouter, DropParams: dropParams}
	if body != nil && body.kind != absent {
		d.params(body, &m.Params)
	}
	info, _ := o.take("model_info")
	d.info(info, &m.Info)
	o.also = litellm.ModelList.Protectors
	o.rest(d.documented(litellm.ModelList))
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

// settings returns gateway_params without prices.
func (p *Params) settings() []setting {
	count := func(to *int64, most int64) number { return number{to: to, most: most, without: unset} }
	text := func(to *string) word { return word{to: to, without: unset} }
	timeout := func(to *time.Duration) span {
		return span{to: to, least: time.Millisecond, most: mostSpan, without: "of `router_settings`"}
	}
	table := []setting{
		{"model", custom{
			func(o *object, name string) { o.d.providerModel(o, name, p) },
			func(w *writer, name string) { w.str(name, p.Model) }, unset,
		}, "provider and model, such as `openai/gpt-4o`; required"},
		{"api_base", own(&p.APIBase, (*decoder).base, (*writer).given, "of the provider"), "where the provider is reached"},
		{"api_key", secretText{&p.APIKey}, "the credential at the provider, best as `os.environ/NAME`"},
		{"organization", text(&p.Organization), "sent to OpenAI as its organization"},
		{"timeout", timeout(&p.Timeout), "how long one attempt may take"},
		{"stream_timeout", timeout(&p.StreamTimeout), "how long one streamed attempt may take"},
		{"rpm", count(&p.RPM, mostCount), "requests a minute that the deployment can serve; a weight"},
		{"tpm", count(&p.TPM, mostCount), "tokens a minute that the deployment can serve; a weight"},
		{"max_parallel_requests", number{to: &p.MaxParallel, most: mostParallel, without: "`router_settings.default_max_parallel_requests`"}, "requests in flight"},
		{"weight", count(&p.Weight, mostCount), "share of the requests within the group"},
		{"order", count(&p.Order, 1_000_000), "level within the group; deployments of a lower one are tried first"},
		{"max_retries", number{to: &p.MaxRetries, standard: useRouter, most: 100, without: unset}, "has no effect"},
		{"extra_headers", own(&p.ExtraHeaders, (*decoder).headers, (*writer).headers, unset), "headers of requests to the provider, by name"},
		{"drop_params", toggle{&p.DropParams}, "whether parameters that the provider does not know are dropped; also `litellm_settings.drop_params`, for all deployments"},
		{"base_model", text(&p.BaseModel), "the model whose prices and limits apply"},
		{"api", text(&p.API), "the interface that chats go to, as far as the provider has it for the model: `chat`, `responses`, `messages`, `converse`, `invoke` or `gemini`; without it, the one that needs the least translation"},
		{"guardrails", names{to: &p.Guardrails, without: unset}, "where LiteLLM has `model_info.guardrails`; those of both apply"},
	}
	for _, s := range cloud.Table() {
		table = append(table, setting{s.Name, p.cloud(s), s.Text})
	}
	return table
}

// providerModel reads the model, and the provider if it is given apart.
func (d *decoder) providerModel(o *object, name string, p *Params) {
	o.str(name, &p.Model)
	if at := o.n.value(name); p.Model == "" && !o.lost && !d.failedIn(at) {
		d.fail(at, "has no model: write the provider and its model, such as openai/gpt-4o")
	}
	d.provider(o, p)
}

// params reads gateway_params.
func (d *decoder) params(n *node, p *Params) {
	o := d.open(n)
	o.settings(p.settings())
	if n := o.n.field("max_retries"); n != nil {
		d.warn(n, "has no effect: %s", litellm.NobodyUses)
	}
	o.also = func() []string { return append(litellm.PriceUnits(), litellm.Params.Protectors()...) }
	d.apiVersion(n, p)
	known := d.documented(litellm.Params)
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
			return // the catalogue requires a provider, and lists them in its error
		}
		d.warn(o.n.value("model"), "is read as %s/%s: write it so", named, p.Model)
	}
	p.Model = named + "/" + p.Model
}

// vendor returns the vendor of a model of this name, or "".
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
	if strings.HasPrefix(model, "gemini-") {
		return "gemini"
	}
	return ""
}

// base reads api_base. It is checked here as well as in the catalogue, because
// here the problem has a line.
func (d *decoder) base(o *object, name string, to *string) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	s, ok := d.text(n)
	if !ok {
		return
	}
	base, _ := cloud.CutVersion(strings.TrimSpace(s)) // the catalogue knows whose address may have one
	if _, _, err := catalog.ParseBase(base); err != nil {
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
func (d *decoder) headers(o *object, name string, to *[]Header) {
	n, ok := o.take(name)
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

// settings returns model_info without prices and what else the file says.
func (i *Info) settings() []setting {
	count := func(to *int64) number { return number{to: to, most: mostCount, without: unset} }
	return []setting{
		{"id", word{to: &i.ID, without: "derived"}, "the deployment's id"},
		{"base_model", word{to: &i.BaseModel, without: unset}, "as in `gateway_params`, which takes precedence"},
		{"mode", word{to: &i.Mode, without: unset}, "shown only"},
		{"max_tokens", count(&i.MaxTokens), "tokens of the model, if one number is for both input and output"},
		{"max_input_tokens", count(&i.MaxInputTokens), "the context window of the model"},
		{"max_output_tokens", count(&i.MaxOutputTokens), "tokens of one response of the model"},
		{"guardrails", names{to: &i.Guardrails, without: unset}, "[guardrails](guardrails.md), by name or id, of all requests that may reach the deployment, also as a fallback; while one of them does not exist, these requests are rejected"},
	}
}

// info reads model_info.
func (d *decoder) info(n *node, i *Info) {
	o := d.open(n)
	o.settings(i.settings())
	known := d.documented(litellm.ModelInfo)
	o.rest(func(f field) bool {
		if !d.takePrice(f, &i.Prices) && !known(f) {
			i.Extras = append(i.Extras, Extra{f.name, string(free(f.name, f.value))})
		}
		return true
	})
}

// takePrice adds a price, and reports whether the field is one.
func (d *decoder) takePrice(f field, to *[]Price) bool {
	if !litellm.IsPrice(f.name) {
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
// out: nothing needs it, and free values are shown to every caller that may list
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
