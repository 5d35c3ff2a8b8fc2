package mgmt

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// visibleDeployments returns the deployments whose model the key may use, or all for a caller
// that sees everything, sorted by model name and id, and a function that shows them.
func (s modelService) visibleDeployments(ctx context.Context) (all []*catalog.Deployment, shown func(*catalog.Deployment) *gatewayv1.ModelRecord) {
	p, v := operation.Principal(ctx), operation.View(ctx)
	everything := rights.Of(v.Keys, nil, p).SeesAll()
	for _, d := range v.Catalog.Deployments() {
		if everything || p.Allows(d.Name) {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b *catalog.Deployment) int { return cmp.Compare(a.Name, b.Name) })
	if everything {
		return all, func(d *catalog.Deployment) *gatewayv1.ModelRecord {
			r := modelRecord(d)
			if s.problem != nil {
				r.ModelInfo.CredentialProblem = s.problem(d)
			}
			return r
		}
	}
	return all, func(d *catalog.Deployment) *gatewayv1.ModelRecord { return withhold(modelRecord(d)) }
}

// ListModelInfo shows the deployments whose model the key may use.
func (s modelService) ListModelInfo(ctx context.Context, in *gatewayv1.ListModelInfoRequest) (*gatewayv1.ListModelInfoResponse, error) {
	only := cmp.Or(in.GetModelId(), in.GetLitellmModelId())
	if other := in.GetLitellmModelId(); other != "" && other != only {
		return nil, fault.Field("litellm_model_id", "invalid_value", "litellm_model_id is another name of model_id, which is given, too. Send one of them.")
	}
	out := &gatewayv1.ListModelInfoResponse{}
	all, shown := s.visibleDeployments(ctx)
	for _, d := range all {
		if only == "" || string(d.ID) == only {
			out.Data = append(out.GetData(), shown(d))
		}
	}
	if only != "" && len(out.GetData()) == 0 {
		return nil, &fault.Error{Kind: fault.NotFound, Code: codeNoModel, Param: "model_id", Detail: "There is no deployment of that id, or this API key may not use it."}
	}
	return out, nil
}

// codeNoModel is the code of errors about a model that does not exist or that the caller may
// not use.
const codeNoModel = "model_not_found"

// modelPageSize is the number of deployments on a page unless the request sets it.
const modelPageSize = 50

// ListModelInfoPage shows the deployments whose model the key may use, a page at a
// time.
func (s modelService) ListModelInfoPage(ctx context.Context, in *gatewayv1.ListModelInfoPageRequest) (*gatewayv1.ListModelInfoPageResponse, error) {
	all, shown := s.visibleDeployments(ctx)
	part := strings.ToLower(in.GetSearch())
	all = slices.DeleteFunc(all, func(d *catalog.Deployment) bool {
		return in.GetModel() != "" && string(d.Name) != in.GetModel() || in.GetModelId() != "" && string(d.ID) != in.GetModelId() ||
			!strings.Contains(strings.ToLower(string(d.Name)), part) && !strings.Contains(strings.ToLower(d.Identifier()), part)
	})
	if in.GetSortBy() == "created_at" {
		slices.SortStableFunc(all, func(a, b *catalog.Deployment) int { return a.Stored().CreatedAt.Compare(b.Stored().CreatedAt) })
	}
	if in.GetSortOrder() == "desc" {
		slices.Reverse(all)
	}
	page, size := span(in.Page, in.Size, modelPageSize)
	out := &gatewayv1.ListModelInfoPageResponse{
		TotalCount: uint32(len(all)), TotalPages: pages(len(all), size), CurrentPage: page, Size: size,
	}
	from := min(int(page-1)*int(size), len(all))
	for _, d := range all[from:min(from+int(size), len(all))] {
		out.Data = append(out.GetData(), shown(d))
	}
	return out, nil
}

// ListModelGroups shows the model names that the key may use.
func (s modelService) ListModelGroups(ctx context.Context, in *gatewayv1.ListModelGroupsRequest) (*gatewayv1.ListModelGroupsResponse, error) {
	out := &gatewayv1.ListModelGroupsResponse{}
	all, _ := s.visibleDeployments(ctx)
	var g *gatewayv1.ModelGroup
	for _, d := range all { // sorted by name
		if only := in.GetModelGroup(); only != "" && string(d.Name) != only {
			continue
		}
		if g == nil || g.GetModelGroup() != string(d.Name) {
			g = &gatewayv1.ModelGroup{ModelGroup: string(d.Name)}
			out.Data = append(out.GetData(), g)
		}
		join(g, d)
	}
	if in.GetModelGroup() != "" && g == nil {
		return nil, &fault.Error{Kind: fault.NotFound, Code: codeNoModel, Param: "model_group", Detail: "There is no model of that name, or this API key may not use it."}
	}
	return out, nil
}

// join adds a deployment to the group of its name.
func join(g *gatewayv1.ModelGroup, d *catalog.Deployment) {
	if at, ok := slices.BinarySearch(g.GetProviders(), d.Provider); !ok {
		g.Providers = slices.Insert(g.GetProviders(), at, d.Provider)
	}
	g.Deployments++
	g.MaxInputTokens = max(g.GetMaxInputTokens(), float64(d.MaxInputTokens))
	g.MaxOutputTokens = max(g.GetMaxOutputTokens(), float64(d.MaxOutputTokens))
	g.Tpm += float64(d.TPM)
	g.Rpm += float64(d.RPM)
	for _, p := range d.Prices.List() {
		switch p.Key {
		case "input_cost_per_token":
			g.InputCostPerToken = max(g.GetInputCostPerToken(), inDouble(p.Value))
		case "output_cost_per_token":
			g.OutputCostPerToken = max(g.GetOutputCostPerToken(), inDouble(p.Value))
		}
	}
}

// GetModelCost shows the prices of the deployments whose model the key may use.
func (s modelService) GetModelCost(ctx context.Context, in *gatewayv1.GetModelCostRequest) (*gatewayv1.GetModelCostResponse, error) {
	out := &gatewayv1.GetModelCostResponse{}
	all, _ := s.visibleDeployments(ctx)
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

// EstimateCost shows the cost of a request at each deployment of a model, computed as the
// gateway does when it charges.
func (s modelService) EstimateCost(ctx context.Context, in *gatewayv1.EstimateCostRequest) (*gatewayv1.EstimateCostResponse, error) {
	tokens, err := estimated(in)
	if err != nil {
		return nil, err
	}
	p, v := operation.Principal(ctx), operation.View(ctx)
	model := p.Resolve(id.ModelName(in.GetModel()))
	g, ok := v.Catalog.Group(model)
	if !ok || !p.Allows(model) && !rights.Of(v.Keys, nil, p).SeesAll() {
		return nil, noModel("There is no model of that name, or this API key may not use it.")
	}
	type estimate struct {
		of  *catalog.Deployment
		one money.Pico
	}
	var all []estimate
	for _, d := range g.Deployments {
		if d.Prices.ByToken() {
			all = append(all, estimate{d, d.Prices.Cost(tokens, price.Standard)})
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

// estimated reads the usage to estimate.
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

// ReloadCostMap loads the price table again. Only the configuration sets its address: a caller
// that could choose it could make the gateway call any address.
func (s modelService) ReloadCostMap(ctx context.Context, _ *gatewayv1.ReloadCostMapRequest) (*gatewayv1.ReloadCostMapResponse, error) {
	if s.prices == nil {
		return nil, &fault.Error{
			Kind: fault.NotFound, Code: "cost_map_not_configured",
			Detail: "The configuration names no place for the table of prices. Set general_settings.model_cost_map_url in the configuration file.",
		}
	}
	text, err := s.prices(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := price.ParseMap(text)
	if err != nil {
		return nil, err
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.ReloadCostMapResponse, error) {
		changed, err := c.view.Catalog.SetPrices(c.tx, rows)
		if err != nil {
			return nil, err
		}
		return &gatewayv1.ReloadCostMapResponse{
			Message: fmt.Sprintf("%d of %d models have other prices now.", changed, len(rows)), Models: uint32(len(rows)), Changed: uint32(changed),
		}, nil
	})
}
