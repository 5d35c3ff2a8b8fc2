package mgmt

import (
	"cmp"
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/address"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type modelService struct {
	gatewayv1.UnimplementedModelServiceServer
	service
	sealer operation.Sealer
	prices func(ctx context.Context) ([]byte, error) // nil: the configuration names no place for them
	reach  reach
	// discover returns the models of a deployment's account.
	discover func(ctx context.Context, d *catalog.Deployment) ([]string, error)
	// problem returns why this node has no credential for the provider of a deployment; nil: every one has.
	problem func(d *catalog.Deployment) string
}

// reach limits the addresses of providers that requests set.
type reach struct{ private bool }

// check rejects an address that the gateway may not call. An unchanged address is accepted.
func (r reach) check(param, before, after string) error {
	least := address.Public
	if r.private {
		least = address.Private
	}
	if after == before {
		return nil
	}
	if err := catalog.CheckReach(after, least); err != nil {
		return field.Named(param, err)
	}
	return nil
}

// CreateModel adds a deployment.
func (s modelService) CreateModel(ctx context.Context, in *gatewayv1.CreateModelRequest) (*gatewayv1.DeploymentRecord, error) {
	spec := catalog.DeploymentSpec{ID: in.GetModelInfo().GetId(), ModelName: in.GetModelName()}
	if spec.ID == "" {
		spec.ID = string(catalog.NewDeploymentID())
	}
	if err := describe(&spec, orEmpty(in.GetGatewayParams()), orEmpty(in.GetModelInfo())); err != nil {
		return nil, err
	}
	if err := s.reach.deployment(nil, &spec); err != nil {
		return nil, err
	}
	return changed(ctx, s.state, deploymentRecord, func(c caller) (*catalog.Deployment, error) {
		if err := c.guardDeployment(&spec, nil, in.GetModelInfo().GetGuardrails()); err != nil {
			return nil, err
		}
		return c.view.Catalog.Create(c.tx, spec, s.sealer.Seal)
	})
}

// UpdateModel changes the fields in the request.
func (s modelService) UpdateModel(ctx context.Context, in *gatewayv1.UpdateModelRequest) (*gatewayv1.DeploymentRecord, error) {
	named, err := namedDeployment(in)
	if err != nil {
		return nil, err
	}
	return changed(ctx, s.state, deploymentRecord, func(c caller) (*catalog.Deployment, error) {
		before, err := c.view.Catalog.Changeable(c.tx, "model_id", named)
		if err != nil {
			return nil, err
		}
		spec := before.Spec
		if err := redescribe(&spec, in); err != nil {
			return nil, err
		}
		if err := stays(&before.Spec, &spec, orEmpty(in.GetGatewayParams())); err != nil {
			return nil, err
		}
		if err := s.reach.deployment(&before.Spec, &spec); err != nil {
			return nil, err
		}
		if err := c.guardDeployment(&spec, before.Spec.Guardrails, in.GetModelInfo().GetGuardrails()); err != nil {
			return nil, err
		}
		return c.view.Catalog.Update(c.tx, spec, operation.IfRevision(ctx), s.sealer.Seal)
	})
}

// deployment rejects addresses of a deployment that the gateway may not call. Those that it had before are accepted.
func (r reach) deployment(before, after *catalog.DeploymentSpec) error {
	before = orEmpty(before)
	return cmp.Or(
		r.check("gateway_params.api_base", before.APIBase, after.APIBase),
		r.settings(fieldParams, before.Cloud, after.Cloud),
	)
}

// stays rejects a request that would send a stored secret to another address than before:
// otherwise anybody who can change a deployment could receive the secret.
func stays(before, after *catalog.DeploymentSpec, in *gatewayv1.ModelParams) error {
	secret, sent := !before.APIKey.IsEmpty() || len(before.ExtraHeaders) > 0, in.GetApiKey()
	was, _, _ := strings.Cut(before.Model, "/")
	is, _, _ := strings.Cut(after.Model, "/")
	moves := before.APIBase != after.APIBase || was != is || redirected(before.Cloud, after.Cloud)
	if name := kept(before.Cloud, after.Cloud, in.GetProviderSettings()); moves && name != "" {
		return fault.Field("gateway_params."+name, "missing_required_parameter", "The address changes, and the stored %s is for the old one. Send it as well, or clear it.", name)
	}
	if !moves || !secret || sent != "" && sent != hidden || after.APIKey.IsEmpty() && len(after.ExtraHeaders) == 0 {
		return nil
	}
	return fault.Field("gateway_params.api_key", "missing_required_parameter", "The address changes, and the stored key is for the old one. Send gateway_params.api_key as well, or clear it.")
}

// namedDeployment returns the deployment of a request. Two fields may name it.
func namedDeployment(in *gatewayv1.UpdateModelRequest) (id.Deployment, error) {
	named, other := in.GetModelId(), in.GetModelInfo().GetId()
	switch {
	case named == "" && other == "":
		return "", fault.Field("model_id", "missing_required_parameter", "model_id is missing. Send it, or model_info.id.")
	case named == "":
		named = other
	case other != "" && other != named:
		return "", fault.Field("model_info.id", "invalid_value", "model_info.id and model_id differ. Send one of them.")
	}
	return id.Deployment(named), nil
}

// DeleteModel removes a deployment that was added at run time.
func (s modelService) DeleteModel(ctx context.Context, in *gatewayv1.DeleteModelRequest) (*gatewayv1.DeleteModelResponse, error) {
	name := in.GetId()
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeleteModelResponse, error) {
		if err := c.view.Catalog.Delete(c.tx, id.Deployment(name)); err != nil {
			return nil, err
		}
		return &gatewayv1.DeleteModelResponse{Message: "Model: " + name + " deleted successfully", ModelId: name, Deleted: true}, nil
	})
}

// deploymentRecord returns a new or changed deployment in the form of the API.
func deploymentRecord(d *catalog.Deployment) *gatewayv1.DeploymentRecord {
	s := d.Stored()
	return &gatewayv1.DeploymentRecord{
		ModelId: string(d.ID), ModelName: string(d.Name), GatewayParams: modelParams(&s.Spec), ModelInfo: modelInfo(d), Revision: float64(s.Revision),
	}
}

// modelRecord returns a deployment in the form of lists.
func modelRecord(d *catalog.Deployment) *gatewayv1.ModelRecord {
	s := d.Stored()
	return &gatewayv1.ModelRecord{ModelName: string(d.Name), GatewayParams: modelParams(&s.Spec), ModelInfo: modelInfo(d)}
}

// withhold removes the address, the credential, the weight and the guardrails of a deployment, which only
// concern the operator.
func withhold(r *gatewayv1.ModelRecord) *gatewayv1.ModelRecord {
	r.GatewayParams = &gatewayv1.ModelParams{Model: r.GetGatewayParams().Model}
	r.ModelInfo.CreatedBy, r.ModelInfo.Guardrails, r.ModelInfo.CredentialProblem = "", nil, ""
	return r
}

// modelParams returns a deployment as it was stored, without secrets.
func modelParams(s *catalog.DeploymentSpec) *gatewayv1.ModelParams {
	provider, _, _ := strings.Cut(s.Model, "/")
	out := &gatewayv1.ModelParams{
		Model: &s.Model, ApiBase: &s.APIBase, CustomLlmProvider: &provider,
		Rpm: new(float64(s.RPM)), Tpm: new(float64(s.TPM)), Weight: new(float64(s.Weight)), Order: new(int32(s.Order)),
		Timeout: new(s.Timeout.Seconds()), StreamTimeout: new(s.StreamTimeout.Seconds()), BaseModel: &s.BaseModel, DropParams: &s.DropParams,
		Prices: s.Prices, CredentialName: given(s.CredentialName), Organization: given(s.Organization), ProviderSettings: shownSettings(s.Cloud), Api: given(s.API),
	}
	if s.MaxParallel != 0 {
		out.MaxParallelRequests = new(float64(s.MaxParallel))
	}
	if !s.APIKey.IsEmpty() {
		out.ApiKey = new(hidden)
	}
	if len(s.ExtraHeaders) > 0 {
		out.ExtraHeaders = make(map[string]string, len(s.ExtraHeaders))
		for name := range s.ExtraHeaders {
			out.ExtraHeaders[name] = hidden
		}
	}
	return out
}

// modelInfo returns the values in force for a deployment, and its author.
func modelInfo(d *catalog.Deployment) *gatewayv1.ModelInfo {
	s := d.Stored()
	out := &gatewayv1.ModelInfo{
		Id: s.Spec.ID, DbModel: !s.Static, Provider: d.Provider, Key: s.Spec.Model, BaseModel: s.Spec.BaseModel,
		MaxInputTokens: float64(d.MaxInputTokens), MaxOutputTokens: float64(d.MaxOutputTokens),
		Prices:    map[string]float64{},
		CreatedAt: moment(s.CreatedAt), CreatedBy: s.CreatedBy, UpdatedAt: moment(s.UpdatedAt), Revision: float64(s.Revision),
		Guardrails: s.Spec.Guardrails,
	}
	for _, p := range d.Prices.List() {
		out.Prices[p.Key] = inDouble(p.Value)
	}
	out.InputCostPerToken, out.OutputCostPerToken = out.GetPrices()["input_cost_per_token"], out.GetPrices()["output_cost_per_token"]
	return out
}

// inDouble returns an exact decimal as a double, for responses. Charges are computed from the
// decimal.
func inDouble(decimal string) float64 {
	v, _ := strconv.ParseFloat(decimal, 64) // the catalogue has read it
	return v
}

// hidden is the placeholder for a credential in responses.
const hidden = "[redacted]"

// maxSecret bounds a credential: the longest that providers give out are tokens of a few kilobytes.
const maxSecret = 16 << 10

// describe changes a specification by the fields of a request. The catalogue makes most
// checks.
func describe(spec *catalog.DeploymentSpec, p *gatewayv1.ModelParams, info *gatewayv1.ModelInfoInput) error {
	if err := describeModel(spec, p); err != nil {
		return err
	}
	spec.APIBase = orElse(p.ApiBase, spec.APIBase)
	spec.BaseModel = orElse(p.BaseModel, orElse(info.BaseModel, spec.BaseModel))
	spec.CredentialName = orElse(p.CredentialName, spec.CredentialName)
	spec.Organization = orElse(p.Organization, spec.Organization)
	spec.Order = int(orElse(p.Order, int32(spec.Order)))
	spec.DropParams = orElse(p.DropParams, spec.DropParams)
	spec.API = orElse(p.Api, spec.API)
	if err := describeNumbers(spec, p, info); err != nil {
		return err
	}
	if len(p.GetPrices()) > 0 {
		prices := make(map[string]string, len(spec.Prices)+len(p.GetPrices()))
		maps.Copy(prices, spec.Prices)
		maps.Copy(prices, p.GetPrices())
		spec.Prices = prices
	}
	return cmp.Or(describeSettings(spec, p.GetProviderSettings()), describeSecrets(spec, p))
}

// describeModel reads the provider and its model, which have two forms.
func describeModel(spec *catalog.DeploymentSpec, p *gatewayv1.ModelParams) error {
	named := p.GetCustomLlmProvider()
	model := cmp.Or(p.GetModel(), spec.Model)
	switch {
	case named == "" || model == "" || strings.HasPrefix(model, named+"/"):
	case p.Model == nil:
		return fault.Field("gateway_params.custom_llm_provider", "invalid_value", "The deployment's model is of another provider. Send gateway_params.model, too.")
	default:
		model = named + "/" + model
	}
	spec.Model = model
	return nil
}

func describeNumbers(spec *catalog.DeploymentSpec, p *gatewayv1.ModelParams, info *gatewayv1.ModelInfoInput) error {
	return cmp.Or(
		assign(&spec.RPM, p.Rpm, "gateway_params.rpm", field.Whole),
		assign(&spec.TPM, p.Tpm, "gateway_params.tpm", field.Whole),
		assign(&spec.MaxParallel, p.MaxParallelRequests, "gateway_params.max_parallel_requests", field.Whole),
		assign(&spec.Weight, p.Weight, "gateway_params.weight", field.Whole),
		assign(&spec.MaxTokens, info.MaxTokens, "model_info.max_tokens", field.Whole),
		assign(&spec.MaxInputTokens, info.MaxInputTokens, "model_info.max_input_tokens", field.Whole),
		assign(&spec.MaxOutputTokens, info.MaxOutputTokens, "model_info.max_output_tokens", field.Whole),
		assign(&spec.Timeout, p.Timeout, "gateway_params.timeout", field.Seconds),
		assign(&spec.StreamTimeout, p.StreamTimeout, "gateway_params.stream_timeout", field.Seconds),
	)
}

// assign reads a number if the request has it.
func assign[T any](to *T, given *float64, param string, read func(param string, v float64) (T, error)) (err error) {
	if given != nil {
		*to, err = read(param, *given)
	}
	return err
}

// describeSecrets reads the secrets of a request. The placeholder of responses stands for the
// stored secret.
func describeSecrets(spec *catalog.DeploymentSpec, p *gatewayv1.ModelParams) error {
	var err error
	if p.ApiKey != nil {
		if spec.APIKey, err = secretOf("gateway_params.api_key", p.GetApiKey(), spec.APIKey); err != nil {
			return err
		}
	}
	if len(p.GetExtraHeaders()) == 0 {
		return nil
	}
	headers := make(map[string]vault.Secret, len(p.GetExtraHeaders()))
	for _, name := range field.SortedNames(p.GetExtraHeaders()) {
		if headers[name], err = secretOf("gateway_params.extra_headers."+field.ShortName(name), p.GetExtraHeaders()[name], spec.ExtraHeaders[name]); err != nil {
			return err
		}
	}
	spec.ExtraHeaders = headers
	return nil
}

// secretOf reads a secret that replaces another one.
func secretOf(param, value string, before vault.Secret) (vault.Secret, error) {
	if value == hidden && !before.IsEmpty() {
		return before, nil
	}
	return vault.NewSecret(value), checkSecret(param, value)
}

// clearings returns functions that clear the fields of a deployment which a request may clear.
func clearings(spec *catalog.DeploymentSpec) map[string]func() {
	return map[string]func(){
		"gateway_params.api_base": func() { spec.APIBase = "" },
		"gateway_params.api_key":  func() { spec.APIKey = vault.Secret{} },
		"gateway_params.rpm":      func() { spec.RPM = 0 },
		"gateway_params.tpm":      func() { spec.TPM = 0 },
		"gateway_params.weight":   func() { spec.Weight = 0 },
		"gateway_params.order":    func() { spec.Order = 0 },

		"gateway_params.max_parallel_requests": func() { spec.MaxParallel = 0 },
		"gateway_params.timeout":               func() { spec.Timeout = 0 },
		"gateway_params.stream_timeout":        func() { spec.StreamTimeout = 0 },
		"gateway_params.base_model":            func() { spec.BaseModel = "" },
		"gateway_params.extra_headers":         func() { spec.ExtraHeaders = nil },
		"gateway_params.drop_params":           func() { spec.DropParams = false },
		"gateway_params.prices":                func() { spec.Prices = nil },
		"gateway_params.credential_name":       func() { spec.CredentialName = "" },
		"gateway_params.organization":          func() { spec.Organization = "" },
		"model_info.base_model":                func() { spec.BaseModel = "" },
		"model_info.guardrails":                func() { spec.Guardrails = nil },
		"model_info.max_tokens":                func() { spec.MaxTokens = 0 },
		"model_info.max_input_tokens":          func() { spec.MaxInputTokens = 0 },
		"model_info.max_output_tokens":         func() { spec.MaxOutputTokens = 0 },
		"gateway_params.api":                   func() { spec.API = "" },
		"gateway_params.provider_settings":     func() { spec.Cloud = nil },
	}
}

// redescribe is describe for a deployment that exists, and a request that also clears fields.
func redescribe(spec *catalog.DeploymentSpec, in *gatewayv1.UpdateModelRequest) error {
	spec.ModelName = orElse(in.ModelName, spec.ModelName)
	clears := clearings(spec)
	names, err := cleared(in.GetClear(), field.SortedNames(clears)...)
	if err != nil {
		return err
	}
	for name := range names {
		clears[name]()
	}
	return describe(spec, orEmpty(in.GetGatewayParams()), orEmpty(in.GetModelInfo()))
}

// orEmpty returns m, or an empty message for nil.
func orEmpty[T any](m *T) *T {
	if m == nil {
		return new(T)
	}
	return m
}

// checkSecret rejects a value that a header cannot carry, the placeholder, and references to
// environment variables: a caller that may add deployments could otherwise send a variable of
// the gateway to an address of its own. Its errors never repeat the value.
func checkSecret(param, value string) error {
	switch {
	case value == hidden:
		return fault.Field(param, "invalid_value", "%s stands for a credential that was left out of an answer. Send the credential.", hidden)
	case strings.HasPrefix(value, "os.environ/"), strings.HasPrefix(value, "${"):
		return fault.Field(param, "invalid_value", "Variables of the environment are read from the configuration file only. Send the credential.")
	case len(value) > maxSecret:
		return fault.Field(param, "too_long", "The credential is longer than %d bytes.", maxSecret)
	case value == "" || strings.TrimSpace(value) != value || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return fault.Field(param, "invalid_value", "The credential is empty, begins or ends with a space, or holds a character that is not printable ASCII. Copy it again.")
	}
	return nil
}
