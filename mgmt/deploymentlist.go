package mgmt

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// visible returns the deployments whose model the key may use, or all for who may
// see everything, sorted by model name and id, and how they are shown.
func visible(ctx context.Context) (all []*catalog.Deployment, shown func(*catalog.Deployment) *gatewayv1.ModelRecord) {
	p, v := operation.Principal(ctx), operation.View(ctx)
	everything := v.Keys.Rights(nil, p).SeesAll()
	for _, d := range v.Catalog.Deployments() {
		if everything || p.Allows(d.Name) {
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b *catalog.Deployment) int { return cmp.Compare(a.Name, b.Name) })
	if everything {
		return all, modelRecord
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
	all, shown := visible(ctx)
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

// codeNoModel is the code of errors about a model that is not there, or not for who
// asks.
const codeNoModel = "model_not_found"

// modelPageSize is how many deployments a page has where the request does not say.
const modelPageSize = 50

// ListModelInfoPage shows the deployments whose model the key may use, a page at a
// time.
func (s modelService) ListModelInfoPage(ctx context.Context, in *gatewayv1.ListModelInfoPageRequest) (*gatewayv1.ListModelInfoPageResponse, error) {
	all, shown := visible(ctx)
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
	all, _ := visible(ctx)
	var g *gatewayv1.ModelGroup
	for _, d := range all { // those of one name stand together
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

// join adds a deployment to what those of its name have in common.
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
