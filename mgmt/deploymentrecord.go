package mgmt

import (
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// deploymentRecord is a deployment that was made or changed.
func deploymentRecord(d *catalog.Deployment) *gatewayv1.DeploymentRecord {
	s := d.Stored()
	return &gatewayv1.DeploymentRecord{
		ModelId: string(d.ID), ModelName: string(d.Name), GatewayParams: modelParams(&s.Spec), ModelInfo: modelInfo(d), Revision: float64(s.Revision),
	}
}

// modelRecord is a deployment as it is listed.
func modelRecord(d *catalog.Deployment) *gatewayv1.ModelRecord {
	s := d.Stored()
	return &gatewayv1.ModelRecord{ModelName: string(d.Name), GatewayParams: modelParams(&s.Spec), ModelInfo: modelInfo(d)}
}

// withhold leaves out where a deployment is, with what credential and in which
// share, which is the operator's business.
func withhold(r *gatewayv1.ModelRecord) *gatewayv1.ModelRecord {
	r.GatewayParams = &gatewayv1.ModelParams{Model: r.GetGatewayParams().Model}
	r.ModelInfo.CreatedBy = ""
	return r
}

// modelParams is a deployment as it was written down, without secrets.
func modelParams(s *catalog.DeploymentSpec) *gatewayv1.ModelParams {
	provider, _, _ := strings.Cut(s.Model, "/")
	out := &gatewayv1.ModelParams{
		Model: &s.Model, ApiBase: &s.APIBase, CustomLlmProvider: &provider,
		Rpm: new(float64(s.RPM)), Tpm: new(float64(s.TPM)), Weight: new(float64(s.Weight)), Order: new(int32(s.Order)),
		Timeout: new(s.Timeout.Seconds()), StreamTimeout: new(s.StreamTimeout.Seconds()), BaseModel: &s.BaseModel, DropParams: &s.DropParams,
		Prices: s.Prices,
	}
	if s.MaxParallel != 0 {
		out.MaxParallelRequests = new(float64(s.MaxParallel))
	}
	if s.CredentialName != "" {
		out.CredentialName = &s.CredentialName
	}
	if s.Organization != "" {
		out.Organization = &s.Organization
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

// modelInfo is what is in force for a deployment, and who added it.
func modelInfo(d *catalog.Deployment) *gatewayv1.ModelInfo {
	s := d.Stored()
	out := &gatewayv1.ModelInfo{
		Id: s.Spec.ID, DbModel: !s.Static, Provider: d.Provider, Key: s.Spec.Model, BaseModel: s.Spec.BaseModel,
		MaxInputTokens: float64(d.MaxInputTokens), MaxOutputTokens: float64(d.MaxOutputTokens),
		Prices:    map[string]float64{},
		CreatedAt: moment(s.CreatedAt), CreatedBy: s.CreatedBy, UpdatedAt: moment(s.UpdatedAt), Revision: float64(s.Revision),
	}
	for _, p := range d.Prices.List() {
		out.Prices[p.Key] = inDouble(p.Value)
	}
	out.InputCostPerToken, out.OutputCostPerToken = out.GetPrices()["input_cost_per_token"], out.GetPrices()["output_cost_per_token"]
	return out
}

// inDouble is an exact decimal for people and clients that count in doubles; what is
// charged is exact.
func inDouble(decimal string) float64 {
	v, _ := strconv.ParseFloat(decimal, 64) // the catalogue has read it
	return v
}
