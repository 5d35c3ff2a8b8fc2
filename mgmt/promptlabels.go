package mgmt

import (
	"context"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// ListPromptLabels shows the labels of a prompt.
func (s promptService) ListPromptLabels(ctx context.Context, in *gatewayv1.ListPromptLabelsRequest) (*gatewayv1.ListPromptLabelsResponse, error) {
	_, p, err := s.find(ctx, in.GetPromptId())
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.ListPromptLabelsResponse{PromptId: p.ID, PromptName: p.Name}
	for _, l := range p.Labels {
		out.Labels = append(out.GetLabels(), showLabel(p, l))
	}
	latest := prompts.Label{Name: prompts.LabelLatest, Shares: []prompts.Share{{Version: p.Latest, Weight: 1}}}
	out.Labels = append(out.GetLabels(), showLabel(p, latest))
	return out, nil
}

// SetPromptLabel makes a label name a version, or several.
func (s promptService) SetPromptLabel(ctx context.Context, in *gatewayv1.SetPromptLabelRequest) (*gatewayv1.PromptLabelRecord, error) {
	shares, err := sharesOf(in)
	if err != nil {
		return nil, err
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.PromptLabelRecord, error) {
		p, err := c.promptToLabel(in.GetName(), in.GetLabel())
		if err != nil {
			return nil, err
		}
		made, err := c.view.Prompts.SetLabel(c.tx, p, prompts.Label{Name: in.GetLabel(), Shares: shares}, operation.IfRevision(ctx))
		if err != nil {
			return nil, err
		}
		l, _ := made.Label(in.GetLabel()) // it was set
		return showLabel(made, *l), nil
	})
}

// DeletePromptLabel deletes a label.
func (s promptService) DeletePromptLabel(ctx context.Context, in *gatewayv1.DeletePromptLabelRequest) (*gatewayv1.DeletePromptLabelResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeletePromptLabelResponse, error) {
		p, err := c.promptToLabel(in.GetName(), in.GetLabel())
		if err != nil {
			return nil, err
		}
		if _, err := c.view.Prompts.DeleteLabel(c.tx, p, in.GetLabel(), operation.IfRevision(ctx)); err != nil {
			return nil, err
		}
		return &gatewayv1.DeletePromptLabelResponse{PromptId: p.ID, PromptName: p.Name, Label: in.GetLabel(), Deleted: true}, nil
	})
}

// promptToLabel returns a prompt whose label the caller may move.
func (c caller) promptToLabel(ref, label string) (*prompts.Prompt, error) {
	p, err := c.view.Prompts.Find(c.tx, "name", ref, c.reader())
	if err != nil {
		return nil, err
	}
	if !p.IsProtected(label) {
		return p, c.rights.MayLabel(p.Organization)
	}
	if c.rights.MayChangeResource(p.Organization) != nil {
		return nil, notYours("label", "The label is protected. Only an org_admin of the prompt's organization, or a proxy_admin, may move it.")
	}
	return p, nil
}

// sharesOf reads what a label is to name: a version, or a split.
func sharesOf(in *gatewayv1.SetPromptLabelRequest) ([]prompts.Share, error) {
	switch {
	case in.Version != nil && in.GetSplit() != nil:
		return nil, fault.Field("split", "invalid_value", "version and split are both given. Send one of them.")
	case in.Version != nil:
		return []prompts.Share{{Version: uint32(in.GetVersion()), Weight: 1}}, nil
	case in.GetSplit() == nil:
		return nil, fault.Field("version", "missing_required_parameter", "Send the version that the label names, or a split with 1 to 10 versions and their weights.")
	}
	var out []prompts.Share
	for _, one := range in.GetSplit() {
		out = append(out, prompts.Share{Version: uint32(one.GetVersion()), Weight: uint32(one.GetWeight())})
	}
	return out, nil
}

func showLabel(p *prompts.Prompt, l prompts.Label) *gatewayv1.PromptLabelRecord {
	out := &gatewayv1.PromptLabelRecord{
		PromptId: p.ID, PromptName: p.Name, Label: l.Name, IsProtected: p.IsProtected(l.Name), Revision: float64(p.Revision),
		IsDefault: l.Name == p.DefaultLabel || p.DefaultLabel == "" && l.Name == prompts.LabelLatest,
	}
	if len(l.Shares) == 1 {
		out.Version = wrapperspb.UInt32(l.Shares[0].Version)
		return out
	}
	for _, one := range l.Shares {
		out.Split = append(out.GetSplit(), &gatewayv1.PromptShare{Version: int32(one.Version), Weight: int32(one.Weight)})
	}
	return out
}
