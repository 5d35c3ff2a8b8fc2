package mgmt

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type promptService struct {
	gatewayv1.UnimplementedPromptServiceServer
	service
}

// CreatePrompt makes a prompt: its version 1.
func (s promptService) CreatePrompt(ctx context.Context, in *gatewayv1.CreatePromptRequest) (*gatewayv1.PromptRecord, error) {
	fresh := id.NewUUID()
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.PromptRecord, error) {
		org, err := ownerFor(ctx, v, tx, in.OrganizationId)
		if err != nil {
			return nil, err
		}
		p, version, err := v.Prompts.Create(tx, prompts.Prompt{Head: resource.Head{ID: fresh, Name: in.GetPromptName(), Organization: org}}, messagesOf(in.GetMessages()), in.GetVariables())
		if err != nil {
			return nil, err
		}
		return promptRecord(p, version), nil
	})
}

// ListPrompts shows the latest versions of the prompts that the caller may use.
func (s promptService) ListPrompts(ctx context.Context, in *gatewayv1.ListPromptsRequest) (*gatewayv1.ListPromptsResponse, error) {
	v := operation.View(ctx)
	name, _ := id.CleanName(in.GetPromptName())
	all := keep(v.Prompts.Newest(readerOf(ctx, v, nil), in.GetOrg()), func(p *prompts.Prompt) bool {
		return in.GetPromptName() == "" || p.Name == name
	})
	page, err := pageOf(all, func(p *prompts.Prompt) string { return p.ID }, in)
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.ListPromptsResponse{Object: "list", HasMore: page.more, TotalCount: uint32(page.total), NextCursor: textOrNull(page.next)}
	for _, p := range page.items {
		version, err := v.Prompts.Version(p, 0)
		if err != nil {
			return nil, err
		}
		out.Prompts = append(out.GetPrompts(), promptRecord(p, version))
	}
	return out, nil
}

// find returns a prompt as it is now, and the view that has it.
func (s promptService) find(ctx context.Context, ref string) (*cluster.View, *prompts.Prompt, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, nil, err
	}
	p, err := v.Prompts.Find(nil, "prompt_id", ref, readerOf(ctx, v, nil))
	return v, p, err
}

// GetPrompt shows the latest version of a prompt, or the one that is named.
func (s promptService) GetPrompt(ctx context.Context, in *gatewayv1.GetPromptRequest) (*gatewayv1.PromptRecord, error) {
	v, p, err := s.find(ctx, in.GetPromptId())
	if err != nil {
		return nil, err
	}
	version, err := v.Prompts.Version(p, uint32(in.GetVersion()))
	if err != nil {
		return nil, err
	}
	return promptRecord(p, version), nil
}

// ListPromptVersions shows all versions of a prompt.
func (s promptService) ListPromptVersions(ctx context.Context, in *gatewayv1.ListPromptVersionsRequest) (*gatewayv1.ListPromptVersionsResponse, error) {
	v, p, err := s.find(ctx, in.GetPromptId())
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.ListPromptVersionsResponse{PromptId: p.ID, PromptName: p.Name}
	for _, version := range v.Prompts.Versions(p) {
		out.Versions = append(out.GetVersions(), promptRecord(p, version))
	}
	return out, nil
}

// UpdatePrompt makes the next version of a prompt.
func (s promptService) UpdatePrompt(ctx context.Context, in *gatewayv1.UpdatePromptRequest) (*gatewayv1.PromptRecord, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.PromptRecord, error) {
		p, err := v.Prompts.FindToChange(tx, "name", in.GetName(), readerOf(ctx, v, tx))
		if err != nil {
			return nil, err
		}
		next, version, err := v.Prompts.Update(tx, p, messagesOf(in.GetMessages()), in.GetVariables(), operation.IfRevision(ctx))
		if err != nil {
			return nil, err
		}
		return promptRecord(next, version), nil
	})
}

// DeletePrompt deletes a prompt with all its versions.
func (s promptService) DeletePrompt(ctx context.Context, in *gatewayv1.DeletePromptRequest) (*gatewayv1.DeletePromptResponse, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeletePromptResponse, error) {
		p, err := v.Prompts.FindToChange(tx, "name", in.GetName(), readerOf(ctx, v, tx))
		if err != nil {
			return nil, err
		}
		v.Prompts.Delete(tx, p)
		return &gatewayv1.DeletePromptResponse{PromptId: p.ID, PromptName: p.Name, Deleted: true, VersionsDeleted: p.Latest}, nil
	})
}

// RenderPrompt shows what a prompt comes to.
func (s promptService) RenderPrompt(ctx context.Context, in *gatewayv1.RenderPromptRequest) (*gatewayv1.RenderPromptResponse, error) {
	v, p, err := s.find(ctx, in.GetPromptId())
	if err != nil {
		return nil, err
	}
	version, err := v.Prompts.Version(p, uint32(in.GetVersion()))
	if err != nil {
		return nil, err
	}
	rendered, err := version.Render(in.GetVariables().AsMap())
	if err != nil {
		return nil, err
	}
	return &gatewayv1.RenderPromptResponse{PromptId: p.ID, Version: version.Number, Messages: showMessages(rendered)}, nil
}

func messagesOf(in []*gatewayv1.PromptMessage) []prompts.Message {
	out := make([]prompts.Message, len(in))
	for i, m := range in {
		out[i] = prompts.Message{Role: m.GetRole(), Content: m.GetContent()}
	}
	return out
}

func showMessages(in []prompts.Message) []*gatewayv1.PromptMessage {
	out := make([]*gatewayv1.PromptMessage, len(in))
	for i, m := range in {
		out[i] = &gatewayv1.PromptMessage{Role: m.Role, Content: m.Content}
	}
	return out
}

// promptRecord is a version of a prompt as the API shows it.
func promptRecord(p *prompts.Prompt, v *prompts.Version) *gatewayv1.PromptRecord {
	return &gatewayv1.PromptRecord{
		PromptId: p.ID, PromptName: p.Name, Messages: showMessages(v.Messages), Variables: v.Variables,
		Version: v.Number, IsLatest: v.Number == p.Latest, Org: textOrNull(string(p.Organization)), VersionsCount: p.Latest,
		CreatedAt: moment(v.CreatedAt), CreatedBy: v.CreatedBy, Revision: float64(p.Revision),
	}
}
