package mgmt

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/vault"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// hidden is what is shown of a credential.
const hidden = "[redacted]"

// maxSecret bounds a credential: the longest that providers give out are tokens of a few kilobytes.
const maxSecret = 16 << 10

// Names that the rewriting of a request moves between.
const (
	fieldParams  = "gateway_params"
	fieldForeign = "litellm_params"
	fieldPrices  = "prices"
)

type modelService struct {
	gatewayv1.UnimplementedModelServiceServer
	state Deployments
	view  func() *cluster.View
}

// modelForms reads the forms that clients write a deployment in: LiteLLM's name of
// gateway_params, and prices beside the other fields. A price's digits stay those
// of the request: a price is multiplied exactly, so it must not pass through a float.
func modelForms(members map[string]jsontext.Value) error {
	if foreign, ok := members[fieldForeign]; ok {
		if _, both := members[fieldParams]; both {
			return fault.Field(fieldForeign, "invalid_value", "%s is another name of %s, which is there too. Send one.", fieldForeign, fieldParams)
		}
		members[fieldParams] = foreign
		delete(members, fieldForeign)
	}
	v, given := members[fieldParams]
	if !given || v.Kind() == 'n' {
		return nil
	}
	params, err := objectAt(fieldParams, v)
	if err != nil {
		return err
	}
	if err := foreignParams(params); err != nil {
		return err
	}
	if err := gatherPrices(params); err != nil {
		return err
	}
	members[fieldParams], err = json.Marshal(params)
	return err
}

// foreignParams refuses by name what other gateways have and this one does not: a
// deployment that lacks what its author believes it has would fail, or worse,
// answer from somewhere else.
func foreignParams(params map[string]jsontext.Value) error {
	for _, name := range sortedNames(params) {
		param := fieldParams + "." + shortName(name)
		switch {
		case strings.HasPrefix(name, "aws_"):
			return fault.Field(param, "unsupported_parameter", "No provider here uses credentials or regions of AWS. Remove %s.", param)
		case strings.HasPrefix(name, "vertex_"), strings.HasPrefix(name, "azure_"):
			return fault.Field(param, "unsupported_parameter", "No provider here is authorized in that way. Give the provider's key as %s.api_key.", fieldParams)
		}
	}
	return nil
}

// gatherPrices moves prices that stand beside the other fields into their own.
func gatherPrices(params map[string]jsontext.Value) error {
	prices := map[string]jsontext.Value{}
	if v, ok := params[fieldPrices]; ok && v.Kind() != 'n' {
		entries, err := objectAt(fieldParams+"."+fieldPrices, v)
		if err != nil {
			return err
		}
		prices = entries
	}
	for _, name := range sortedNames(params) {
		v := params[name]
		if !isPrice(name) || v.Kind() == 'n' {
			continue
		}
		param := fieldParams + "." + shortName(name)
		if _, twice := prices[name]; twice {
			return fault.Field(param, "invalid_value", "%s is given in prices, too. Send it once.", param)
		}
		prices[name] = v
		delete(params, name)
	}
	for _, name := range sortedNames(prices) {
		v := prices[name]
		if v.Kind() == '"' {
			continue
		}
		if v.Kind() != '0' {
			return wrongType(fieldParams+"."+shortName(name), "a number")
		}
		quoted, err := jsontext.AppendQuote(nil, string(v))
		if err != nil {
			return err
		}
		prices[name] = quoted
	}
	if len(prices) == 0 {
		return nil
	}
	text, err := json.Marshal(prices)
	params[fieldPrices] = text
	return err
}

// isPrice reports whether a field is a price. Which prices there are is for the
// catalogue to say, which refuses what it does not know.
func isPrice(name string) bool {
	return strings.Contains(name, "cost_per_") || strings.Contains(name, "_cost")
}

// CreateModel adds a deployment.
func (s modelService) CreateModel(ctx context.Context, in *gatewayv1.CreateModelRequest) (*gatewayv1.CreateModelResponse, error) {
	spec, err := deploymentSpec(in)
	if err != nil {
		return nil, err
	}
	made, err := s.state.CreateDeployment(ctx, principal(ctx).Alias, spec)
	if err != nil {
		return nil, err
	}
	v := show(ctx, s.view())
	d, ok := v.Catalog.Deployment(id.Deployment(made.Spec.ID))
	if !ok { // somebody has deleted it since
		d = &catalog.Deployment{}
	}
	return &gatewayv1.CreateModelResponse{
		ModelId: made.Spec.ID, ModelName: made.Spec.ModelName,
		GatewayParams: modelParams(&made.Spec), ModelInfo: modelInfo(d, &made),
	}, nil
}

// deploymentSpec reads a request. What the catalogue checks is not checked here.
func deploymentSpec(in *gatewayv1.CreateModelRequest) (catalog.DeploymentSpec, error) {
	p, info := in.GetGatewayParams(), in.GetModelInfo()
	spec := catalog.DeploymentSpec{
		ID: info.GetId(), ModelName: in.GetModelName(), Model: p.GetModel(), APIBase: p.GetApiBase(),
		BaseModel: cmp.Or(p.GetBaseModel(), info.GetBaseModel()), Order: int(p.GetOrder()), DropParams: p.GetDropParams(),
	}
	if named := p.GetCustomLlmProvider(); named != "" && spec.Model != "" && !strings.HasPrefix(spec.Model, named+"/") {
		spec.Model = named + "/" + spec.Model
	}
	if len(p.GetPrices()) > 0 {
		spec.Prices = p.GetPrices()
	}
	if spec.ID == "" {
		spec.ID = string(catalog.NewDeploymentID())
	}
	if spec.Order < 0 {
		return spec, fault.Field("gateway_params.order", "invalid_value", "order is negative; leave it out for none.")
	}
	for _, n := range []struct {
		param string
		value float64
		to    *int64
	}{
		{"gateway_params.rpm", p.GetRpm(), &spec.RPM},
		{"gateway_params.tpm", p.GetTpm(), &spec.TPM},
		{"gateway_params.weight", p.GetWeight(), &spec.Weight},
		{"model_info.max_tokens", info.GetMaxTokens(), &spec.MaxTokens},
		{"model_info.max_input_tokens", info.GetMaxInputTokens(), &spec.MaxInputTokens},
		{"model_info.max_output_tokens", info.GetMaxOutputTokens(), &spec.MaxOutputTokens},
	} {
		var err error
		if *n.to, err = whole(n.param, n.value); err != nil {
			return spec, err
		}
	}
	for _, n := range []struct {
		param string
		value float64
		to    *time.Duration
	}{
		{"gateway_params.timeout", p.GetTimeout(), &spec.Timeout},
		{"gateway_params.stream_timeout", p.GetStreamTimeout(), &spec.StreamTimeout},
	} {
		var err error
		if *n.to, err = seconds(n.param, n.value); err != nil {
			return spec, err
		}
	}
	return spec, credentials(p, &spec)
}

// credentials reads what is secret in a request.
func credentials(p *gatewayv1.ModelParams, spec *catalog.DeploymentSpec) error {
	if p.GetApiKey() != "" {
		if err := checkSecret("gateway_params.api_key", p.GetApiKey()); err != nil {
			return err
		}
		spec.APIKey = vault.NewSecret(p.GetApiKey())
	}
	if len(p.GetExtraHeaders()) == 0 {
		return nil
	}
	spec.ExtraHeaders = make(map[string]vault.Secret, len(p.GetExtraHeaders()))
	for name, value := range p.GetExtraHeaders() {
		if err := checkSecret("gateway_params.extra_headers."+shortName(name), value); err != nil {
			return err
		}
		spec.ExtraHeaders[name] = vault.NewSecret(value)
	}
	return nil
}

// checkSecret refuses what cannot stand in a header, and what stands for
// something else. Its errors never repeat the value. A variable of the gateway's
// environment is not read for a request: who may add deployments could send it to
// an address of their own.
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

// largestWhole is the largest number below which a double holds every whole number.
const largestWhole = 1 << 53

// whole reads a whole number that is not negative.
func whole(param string, v float64) (int64, error) {
	if v < 0 || v > largestWhole || v != math.Trunc(v) {
		return 0, fault.Field(param, "invalid_value", "%s must be a whole number, and not negative.", param)
	}
	return int64(v), nil
}

// maxSeconds bounds what is read as a duration; what makes sense is less.
const maxSeconds = 1e9

// seconds reads a time in seconds, to the nanosecond.
func seconds(param string, v float64) (time.Duration, error) {
	if v < 0 || v > maxSeconds {
		return 0, fault.Field(param, "invalid_value", "%s must be a number of seconds, not negative and at most %.0f.", param, maxSeconds)
	}
	return time.Duration(math.Round(v * float64(time.Second))), nil
}

// DeleteModel removes a deployment that was added at run time.
func (s modelService) DeleteModel(ctx context.Context, in *gatewayv1.DeleteModelRequest) (*gatewayv1.DeleteModelResponse, error) {
	if in.GetId() == "" {
		return nil, fault.Field("id", "missing_required_parameter", "id is missing; it is the deployment's, as in model_info.id.")
	}
	name := id.Deployment(in.GetId())
	if d, ok := viewOf(ctx).Catalog.Deployment(name); ok && stored(viewOf(ctx), d).Static {
		return nil, &fault.Error{Kind: fault.Conflict, Code: "defined_in_file", Param: "id", Detail: "This deployment stands in the configuration file. Remove it there."}
	}
	if err := s.state.DeleteDeployment(ctx, principal(ctx).Alias, name); err != nil {
		return nil, err
	}
	show(ctx, s.view())
	return &gatewayv1.DeleteModelResponse{Message: "Model: " + string(name) + " deleted successfully", ModelId: string(name), Deleted: true}, nil
}

// ListModelInfo shows the deployments whose model the key may use.
func (s modelService) ListModelInfo(ctx context.Context, in *gatewayv1.ListModelInfoRequest) (*gatewayv1.ListModelInfoResponse, error) {
	only := cmp.Or(in.GetModelId(), in.GetLitellmModelId())
	p, v := principal(ctx), viewOf(ctx)
	out := &gatewayv1.ListModelInfoResponse{}
	for _, d := range v.Catalog.Deployments() {
		if !p.Allows(d.Name) || only != "" && string(d.ID) != only {
			continue
		}
		s := stored(v, d)
		record := &gatewayv1.ModelRecord{ModelName: string(d.Name), GatewayParams: modelParams(&s.Spec), ModelInfo: modelInfo(d, &s)}
		if !p.Master { // where a model runs, and in which shares, is the operator's business
			record.GatewayParams = &gatewayv1.ModelParams{Model: s.Spec.Model}
			record.ModelInfo.CreatedBy = ""
		}
		out.Data = append(out.GetData(), record)
	}
	if only != "" && len(out.GetData()) == 0 {
		return nil, &fault.Error{Kind: fault.NotFound, Code: "model_not_found", Param: "model_id", Detail: "There is no deployment of that id, or this API key may not use it."}
	}
	slices.SortStableFunc(out.GetData(), func(a, b *gatewayv1.ModelRecord) int { return strings.Compare(a.GetModelName(), b.GetModelName()) })
	return out, nil
}

// modelParams is a deployment as it was written down, without credentials.
func modelParams(s *catalog.DeploymentSpec) *gatewayv1.ModelParams {
	out := &gatewayv1.ModelParams{
		Model: s.Model, ApiBase: s.APIBase, Rpm: float64(s.RPM), Tpm: float64(s.TPM), Weight: float64(s.Weight), Order: int32(s.Order),
		Timeout: s.Timeout.Seconds(), StreamTimeout: s.StreamTimeout.Seconds(), BaseModel: s.BaseModel, DropParams: s.DropParams,
		Prices: s.Prices,
	}
	out.CustomLlmProvider, _, _ = strings.Cut(s.Model, "/")
	if !s.APIKey.IsEmpty() {
		out.ApiKey = hidden
	}
	if len(s.ExtraHeaders) > 0 {
		out.ExtraHeaders = make(map[string]string, len(s.ExtraHeaders))
		for name := range s.ExtraHeaders {
			out.ExtraHeaders[name] = hidden
		}
	}
	return out
}

// modelInfo is what is in force for a deployment, and who added it.
func modelInfo(d *catalog.Deployment, s *catalog.Stored) *gatewayv1.ModelInfo {
	out := &gatewayv1.ModelInfo{
		Id: s.Spec.ID, DbModel: !s.Static, Key: s.Spec.Model, BaseModel: s.Spec.BaseModel,
		MaxInputTokens: float64(d.MaxInputTokens), MaxOutputTokens: float64(d.MaxOutputTokens),
		Prices:    map[string]float64{},
		CreatedAt: moment(s.CreatedAt), CreatedBy: s.CreatedBy, UpdatedAt: moment(s.UpdatedAt),
	}
	out.Provider, _, _ = strings.Cut(s.Spec.Model, "/")
	for _, p := range d.Prices.List() {
		v, err := strconv.ParseFloat(p.Value, 64) // for people; what is charged is exact
		if err != nil {
			continue
		}
		out.Prices[p.Key] = v
	}
	out.InputCostPerToken, out.OutputCostPerToken = out.GetPrices()["input_cost_per_token"], out.GetPrices()["output_cost_per_token"]
	return out
}
