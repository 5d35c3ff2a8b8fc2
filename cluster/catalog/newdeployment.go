package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// deployment checks one deployment and makes it, but for its id and what it was
// made of. It returns nil if there were problems.
func (b *builder) deployment(at string, s *DeploymentSpec) *Deployment {
	before := len(b.problems.list)
	full := b.borrow(at, s)
	if len(b.problems.list) > before {
		return nil // what it lacks may be what it would have borrowed
	}
	provider, model := b.model(at, s)
	model, api := b.name(provider, model)
	b.problems.numbers(at, s)
	b.problems.guardrails(at+".model_info."+fieldGuardrails, s.Guardrails)
	settings := b.settings(at, s, full, provider)
	endpoint, path, settings := b.endpoint(at, full, provider, settings)
	headers := b.problems.headers(at+".gateway_params.extra_headers", s.ExtraHeaders)
	headers = b.problems.organization(at+".gateway_params.organization", headers, full.Organization)
	own := b.ownPrices(at, s.Prices)
	if len(b.problems.list) > before {
		return nil
	}
	d := &Deployment{
		Name: id.ModelName(s.ModelName), Provider: provider, Model: model,
		Endpoint: endpoint, BasePath: path, APIKey: full.APIKey, Cloud: settings, ExtraHeaders: headers,
		Weight: s.Weight, RPM: s.RPM, TPM: s.TPM, Order: s.Order,
		BaseModel: s.BaseModel, API: cmp.Or(s.API, api), DropParams: s.DropParams, Guardrails: s.Guardrails,
		origin: &origin{own: own, limits: [2]int64{s.MaxInputTokens, orElse(s.MaxOutputTokens, s.MaxTokens)}},
	}
	d.origin.stored.Spec = *s
	if b.api(at, d, api); len(b.problems.list) > before {
		return nil
	}
	b.inherit(d)
	key := price.Source{Provider: provider, Model: model, Base: s.BaseModel}
	d.origin.priced = key.Text(own)
	p, ok := b.prices.get(d.origin.priced)
	if !ok {
		var err error
		if p.prices, p.row, err = price.Of(b.find, key, own); err != nil {
			b.problems.list = append(b.problems.list, &fault.Error{Op: "catalog", Kind: fault.Internal, Err: err})
			return nil
		}
	}
	d.Prices, d.origin.row = p.prices, p.row
	d.limit(p.row)
	return d
}

// model checks the names and splits "<provider>/<model_id>".
func (b *builder) model(at string, s *DeploymentSpec) (provider, model string) {
	switch {
	case s.ModelName == "":
		b.problems.add(at+".model_name", codeMissing, "model_name is missing; it is the name that callers send as model")
	case !validName(s.ModelName):
		b.problems.add(at+".model_name", codeInvalid, "model_name is longer than %d bytes, starts or ends with a space, or holds a control character", maxName)
	case strings.Count(s.ModelName, "*") > 1:
		b.problems.add(at+".model_name", codeInvalid, "model_name has more than one star; a wildcard such as openai/* has one")
	}
	param := at + ".gateway_params.model"
	if s.Model == "" {
		b.problems.add(param, codeMissing, "model is missing; write it as <provider>/<model_id>, such as openai/gpt-4o")
		return "", ""
	}
	provider, model, _ = strings.Cut(s.Model, "/")
	_, known := b.base.providers[provider]
	switch {
	case model == "":
		b.problems.add(param, codeInvalid, "model is %s; write the provider before it, as in openai/gpt-4o", quote(s.Model))
	case !known:
		b.problems.add(param, codeProvider, "the provider %s is not known; known are %s", quote(provider), strings.Join(slices.Sorted(maps.Keys(b.base.providers)), ", "))
	case !validModel(model):
		b.problems.add(param, codeInvalid, "the model id is longer than %d bytes, or holds a space or a character that cannot stand in a URL's path", maxName)
	case strings.Count(model, "*") > 1:
		b.problems.add(param, codeInvalid, "model has more than one star")
	case strings.Contains(model, "*") && !strings.Contains(s.ModelName, "*"):
		b.problems.add(param, codeInvalid, "model has a star but model_name has none, so nothing can stand for it; put a star into model_name")
	}
	if s.BaseModel != "" && !validModel(s.BaseModel) {
		b.problems.add(at+".model_info.base_model", codeInvalid, "base_model is not a model name; write it as the price table does, such as azure/gpt-4o")
	}
	return provider, model
}

// endpoint finds the upstream, and returns the settings as the driver reads them.
func (b *builder) endpoint(at string, s *DeploymentSpec, provider string, settings cloud.Settings) (Endpoint, string, cloud.Settings) {
	defaults, known := b.base.providers[provider]
	if !known {
		return Endpoint{}, "", settings // reported already
	}
	if defaults.NeedsKey && s.APIKey.IsEmpty() {
		b.problems.add(at+".gateway_params.api_key", codeMissing, "api_key is missing or empty; the provider %s needs one", quote(provider))
	}
	param := at + ".gateway_params.api_base"
	address, read, err := defaults.address(s, settings)
	if err != nil {
		e := fault.From(err)
		b.problems.add(at+".gateway_params."+cmp.Or(e.Param, "api_base"), e.Code, "%s", e.Message())
		return Endpoint{}, "", settings
	}
	settings = read
	if address == "" || s.APIBase == "" && defaults.NeedsBase {
		b.problems.add(param, codeMissing, "api_base is missing; the provider %s has no address of its own", quote(provider))
		return Endpoint{}, "", settings
	}
	parsed, ok := b.bases[address]
	if !ok {
		parsed.endpoint, parsed.path, parsed.err = ParseBase(address)
		b.bases[address] = parsed
	}
	if e, ok := b.endpoints.get(string(parsed.endpoint.ID)); ok {
		parsed.endpoint = e // equal, but its strings are in memory already
	}
	if parsed.err != nil {
		e := fault.From(parsed.err)
		b.problems.add(param, e.Code, "%s", e.Detail)
	}
	return parsed.endpoint, parsed.path, settings
}

// address returns the address of a deployment, and its settings as the driver reads them.
func (d *ProviderDefaults) address(s *DeploymentSpec, settings cloud.Settings) (string, cloud.Settings, error) {
	address, err := s.APIBase, error(nil)
	if d.Read != nil {
		if address, settings, err = d.Read(address, !s.APIKey.IsEmpty(), settings); err != nil {
			return "", nil, err
		}
	}
	switch {
	case address == "" && d.Base != nil:
		_, model, _ := strings.Cut(s.Model, "/")
		address, err = d.Base(model, settings)
	case address == "":
		address = d.DefaultBase
	}
	return address, settings, err
}

// derive makes an id from the names. Not from the position in the list, which
// changes when an entry is added above, and never from the key, which would make
// a new deployment of every rotation.
func (b *builder) derive(s *DeploymentSpec) string {
	parts := []string{s.ModelName, s.Model, s.APIBase}
	for _, v := range cloud.Of(s.Cloud) {
		if known, _ := cloud.Named(v.Name); !known.Secret {
			parts = append(parts, v.Name+"="+v.Value.Reveal())
		}
	}
	same := strings.Join(parts, "\n")
	sum := sha256.Sum256([]byte(same + "\n" + strconv.Itoa(b.derived[same])))
	b.derived[same]++
	return hex.EncodeToString(sum[:16])
}

// id reports whether an id that was given can be one.
func (p *problems) id(at, name string) bool {
	if len(name) > maxID || !printable(name) {
		p.add(at+"."+paramID, codeInvalid, "id is longer than %d bytes or holds a space or a non-ASCII character; it is sent as a header's value", maxID)
		return false
	}
	return true
}

// numbers checks the limits.
func (p *problems) numbers(at string, s *DeploymentSpec) {
	for _, n := range [...]struct {
		param string
		value int64
		most  int64
	}{
		{".gateway_params.weight", s.Weight, maxWeight},
		{".gateway_params.rpm", s.RPM, maxWeight},
		{".gateway_params.tpm", s.TPM, maxWeight},
		{".gateway_params.max_parallel_requests", s.MaxParallel, maxParallel},
		{".gateway_params.order", int64(s.Order), maxOrder},
		{".gateway_params.timeout", int64(s.Timeout), int64(maxTimeout)},
		{".gateway_params.stream_timeout", int64(s.StreamTimeout), int64(maxTimeout)},
		{".model_info.max_tokens", s.MaxTokens, maxTokensOfModel},
		{".model_info.max_input_tokens", s.MaxInputTokens, maxTokensOfModel},
		{".model_info.max_output_tokens", s.MaxOutputTokens, maxTokensOfModel},
	} {
		field := n.param[strings.LastIndexByte(n.param, '.')+1:]
		switch {
		case n.value < 0:
			p.add(at+n.param, codeInvalid, "%s is negative; leave it out for none", field)
		case n.value > n.most:
			p.add(at+n.param, codeInvalid, "%s is larger than anything that makes sense; check its unit", field)
		}
	}
}

// inherit fills in the router's limits where the deployment has none of its own. A
// stream's own timeout, wherever it stands, goes before a general one.
func (b *builder) inherit(d *Deployment) {
	router, s := &b.router.settings, &d.origin.stored.Spec
	d.MaxParallel = orElse(s.MaxParallel, int64(router.DefaultMaxParallel))
	d.Timeout, d.StreamTimeout = s.Timeout, s.StreamTimeout
	if d.StreamTimeout == 0 && (b.router.streams || d.Timeout == 0) {
		d.StreamTimeout = router.StreamTimeout
	}
	if d.Timeout == 0 {
		d.Timeout = router.Timeout
	}
	if d.StreamTimeout == 0 {
		d.StreamTimeout = d.Timeout
	}
}

// headers checks extra_headers. What frames the message or names its target is
// the gateway's to set: a wrong value there would not fail but misroute.
func (p *problems) headers(at string, spec map[string]vault.Secret) []Header {
	headers := make([]Header, 0, len(spec))
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		lower := strings.ToLower(name)
		switch {
		case !token(name):
			p.add(at, codeInvalid, "the header name %s is not one", quote(name))
		case reserved(lower):
			p.add(at+"."+name, codeInvalid, "the header %s is set by the gateway; remove it", quote(name))
		case strings.ContainsFunc(spec[name].Reveal(), func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			p.add(at+"."+name, codeInvalid, "the value of the header %s holds a control character", quote(name))
		case slices.ContainsFunc(headers, func(h Header) bool { return h.Name == lower }):
			p.add(at+"."+name, codeInvalid, "the header %s is given twice, in different case", quote(name))
		default:
			headers = append(headers, Header{Name: lower, Value: spec[name]})
		}
	}
	slices.SortFunc(headers, func(x, y Header) int { return strings.Compare(x.Name, y.Name) })
	return headers
}

// organizationHeader is how a provider is told on whose account a request runs.
const organizationHeader = "openai-organization"

const wrongOrganization = "organization is longer than 256 bytes or holds a space or a character that cannot stand in a header"

func validOrganization(s string) bool { return len(s) <= maxName && printable(s) }

// organization adds the header of an organization. One that is written out among
// the headers goes before it.
func (p *problems) organization(param string, headers []Header, name string) []Header {
	i, written := slices.BinarySearchFunc(headers, organizationHeader, func(h Header, want string) int { return strings.Compare(h.Name, want) })
	switch {
	case name == "" || written:
		return headers
	case !validOrganization(name):
		p.add(param, codeInvalid, "%s", wrongOrganization)
		return headers
	}
	return slices.Insert(headers, i, Header{Name: organizationHeader, Value: vault.NewSecret(name)})
}

func reserved(header string) bool {
	switch header {
	case "host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade", "keep-alive", "content-type", "content-encoding":
		return true
	}
	return strings.HasPrefix(header, "x-envoy-") || strings.HasPrefix(header, "x-gateway-")
}

// token reports whether s is a header's name by RFC 9110 section 5.6.2.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		alphanumeric := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alphanumeric && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// ownPrices checks a deployment's own prices. A key that no model of the table
// has is refused: as a misspelt price it would make requests free.
func (b *builder) ownPrices(at string, spec map[string]string) []price.Entry {
	own := make([]price.Entry, 0, len(spec))
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		param := at + ".gateway_params." + key
		if !b.base.list.Has(key) {
			b.problems.add(param, codeInvalid, "%s is not a price; the keys are those of the price table, such as input_cost_per_token", quote(key))
			continue
		}
		err := price.Check(spec[key])
		switch {
		case err == nil:
			own = append(own, price.Entry{Key: key, Value: spec[key]})
		case errors.Is(err, price.ErrSyntax):
			b.problems.add(param, codeInvalid, "%s is %s, which is not a number; write dollars per unit, such as 0.0000025", key, quote(spec[key]))
		default:
			b.problems.add(param, codeInvalid, "%s is %s, which is %v; write dollars per unit, such as 0.0000025", key, quote(spec[key]), err)
		}
	}
	return own
}
