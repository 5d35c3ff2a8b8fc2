package mgmt

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// GetModelCost shows the prices of the deployments whose model the key may use.
func (s modelService) GetModelCost(ctx context.Context, in *gatewayv1.GetModelCostRequest) (*gatewayv1.GetModelCostResponse, error) {
	out := &gatewayv1.GetModelCostResponse{}
	all, _ := visible(ctx)
	for _, d := range all {
		if only := in.GetModel(); only != "" && string(d.Name) != only {
			continue
		}
		one := &gatewayv1.ModelCost{
			ModelName: string(d.Name), ModelId: string(d.ID), Model: d.Identifier(), Source: priceSource(d),
			Prices: make(map[string]string, len(d.Prices.List())),
		}
		for _, p := range d.Prices.List() {
			one.Prices[p.Key] = p.Value
		}
		out.Data = append(out.GetData(), one)
	}
	if in.GetModel() != "" && len(out.GetData()) == 0 {
		return nil, noModel("There is no model of that name, or this API key may not use it.")
	}
	return out, nil
}

func noModel(text string) error {
	return &fault.Error{Kind: fault.NotFound, Code: codeNoModel, Param: "model", Detail: text}
}

// priceSource says where the prices of a deployment come from.
func priceSource(d *catalog.Deployment) string {
	switch {
	case len(d.Stored().Spec.Prices) > 0:
		return "deployment"
	case d.Listed():
		return "price_table"
	}
	return "none"
}

// EstimateCost says what a request would cost at each deployment of a model. It
// counts as the gateway does when it charges.
func (s modelService) EstimateCost(ctx context.Context, in *gatewayv1.EstimateCostRequest) (*gatewayv1.EstimateCostResponse, error) {
	tokens, err := estimated(in)
	if err != nil {
		return nil, err
	}
	p, v := operation.Principal(ctx), operation.View(ctx)
	model := p.Resolve(id.ModelName(in.GetModel()))
	g, ok := v.Catalog.Group(model)
	if !ok || !p.Allows(model) && !v.Keys.Rights(nil, p).SeesAll() {
		return nil, noModel("There is no model of that name, or this API key may not use it.")
	}
	type estimate struct {
		of  *catalog.Deployment
		one money.Pico
	}
	var all []estimate
	for _, d := range g.Deployments {
		if d.Prices.ByToken() {
			all = append(all, estimate{d, d.Prices.Cost(tokens, catalog.Standard)})
		}
	}
	if len(all) == 0 {
		return nil, &fault.Error{Kind: fault.NotFound, Code: "price_not_found", Param: "model", Detail: "No deployment of that model has a price for tokens. Give its deployments prices, or a base_model that the price table has."}
	}
	slices.SortStableFunc(all, func(a, b estimate) int { return cmp.Compare(b.one, a.one) })
	out := &gatewayv1.EstimateCostResponse{Model: in.GetModel()}
	times := int64(max(in.GetNumRequests(), 1))
	for _, e := range all {
		if int64(e.one) > math.MaxInt64/times {
			return nil, fault.Field("num_requests", "invalid_value", "So many requests cost more than can be counted. Send a smaller num_requests.")
		}
		out.Estimates = append(out.GetEstimates(), &gatewayv1.CostEstimate{
			ModelId: string(e.of.ID), Model: e.of.Identifier(),
			CostPerRequest: e.one.String(), Cost: (e.one * money.Pico(times)).String(),
		})
	}
	out.Cost = inDollars(all[0].one * money.Pico(times))
	return out, nil
}

// estimated reads what a request would use.
func estimated(in *gatewayv1.EstimateCostRequest) (usage.Tokens, error) {
	t := usage.Tokens{
		Input: int64(in.GetPromptTokens()), CacheRead: int64(in.GetCacheReadInputTokens()), CacheWrite: int64(in.GetCacheCreationInputTokens()),
		Output: int64(in.GetCompletionTokens()), Reasoning: int64(in.GetReasoningTokens()),
	}
	switch {
	case t.CacheRead+t.CacheWrite > t.Input:
		return t, fault.Field("prompt_tokens", "invalid_value", "prompt_tokens include those from and into a prompt cache, which are more here. Send their sum at least.")
	case t.Reasoning > t.Output:
		return t, fault.Field("completion_tokens", "invalid_value", "completion_tokens include reasoning_tokens, which are more here. Send as many at least.")
	}
	return t, nil
}
