package mgmt

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type promptService struct {
	gatewayv1.UnimplementedPromptServiceServer
	service
}

// CreatePrompt creates a prompt with its version 1.
func (s promptService) CreatePrompt(ctx context.Context, in *gatewayv1.CreatePromptRequest) (*gatewayv1.PromptRecord, error) {
	fresh := id.NewUUID()
	return change(ctx, s.state, func(c caller) (*gatewayv1.PromptRecord, error) {
		org, err := c.ownerFor(in.OrganizationId)
		if err != nil {
			return nil, err
		}
		return promptRecord(c.view.Prompts.Create(c.tx, prompts.Prompt{Head: resource.Head{ID: fresh, Name: in.GetPromptName(), Organization: org}}, prompts.Content{Messages: messagesOf(in.GetMessages()), Variables: in.GetVariables()}))
	})
}

// ListPrompts shows the latest versions of the prompts that the caller may use.
func (s promptService) ListPrompts(ctx context.Context, in *gatewayv1.ListPromptsRequest) (*gatewayv1.ListPromptsResponse, error) {
	c := viewer(ctx)
	name, _ := id.CleanName(in.GetPromptName())
	all := keep(c.view.Prompts.Newest(c.reader(), in.GetOrg()), func(p *prompts.Prompt) bool {
		return in.GetPromptName() == "" || p.Name == name
	})
	page, err := pageOf(all, func(p *prompts.Prompt) string { return p.ID }, in)
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.ListPromptsResponse{Object: objectList, HasMore: page.more, TotalCount: uint32(page.total), NextCursor: textOrNull(page.next)}
	for _, p := range page.items {
		version, err := c.view.Prompts.Version(p, 0)
		if err != nil {
			return nil, err
		}
		out.Prompts = append(out.GetPrompts(), showPrompt(p, version))
	}
	return out, nil
}

// find returns a prompt as it is now, and the prompts of its view.
func (s promptService) find(ctx context.Context, ref string) (*prompts.Set, *prompts.Prompt, error) {
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, nil, err
	}
	p, err := c.view.Prompts.Find(nil, "prompt_id", ref, c.reader())
	return c.view.Prompts, p, err
}

// version returns a prompt as it is now with one of its versions; 0 is the latest one.
func (s promptService) version(ctx context.Context, ref string, number int32) (*prompts.Prompt, *prompts.Version, error) {
	set, p, err := s.find(ctx, ref)
	if err != nil {
		return nil, nil, err
	}
	version, err := set.Version(p, uint32(number))
	return p, version, err
}

// GetPrompt shows the latest version of a prompt, or the one in the request.
func (s promptService) GetPrompt(ctx context.Context, in *gatewayv1.GetPromptRequest) (*gatewayv1.PromptRecord, error) {
	return promptRecord(s.version(ctx, in.GetPromptId(), in.GetVersion()))
}

// ListPromptVersions shows all versions of a prompt.
func (s promptService) ListPromptVersions(ctx context.Context, in *gatewayv1.ListPromptVersionsRequest) (*gatewayv1.ListPromptVersionsResponse, error) {
	set, p, err := s.find(ctx, in.GetPromptId())
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.ListPromptVersionsResponse{PromptId: p.ID, PromptName: p.Name}
	for _, version := range set.Versions(p) {
		out.Versions = append(out.GetVersions(), showPrompt(p, version))
	}
	return out, nil
}

// UpdatePrompt creates the next version of a prompt.
func (s promptService) UpdatePrompt(ctx context.Context, in *gatewayv1.UpdatePromptRequest) (*gatewayv1.PromptRecord, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.PromptRecord, error) {
		p, err := c.view.Prompts.FindToChange(c.tx, "name", in.GetName(), c.reader())
		if err != nil {
			return nil, err
		}
		return promptRecord(c.view.Prompts.Update(c.tx, p, *p, prompts.Content{Messages: messagesOf(in.GetMessages()), Variables: in.GetVariables()}, operation.IfRevision(ctx)))
	})
}

// DeletePrompt deletes a prompt with all its versions.
func (s promptService) DeletePrompt(ctx context.Context, in *gatewayv1.DeletePromptRequest) (*gatewayv1.DeletePromptResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeletePromptResponse, error) {
		p, err := c.view.Prompts.FindToChange(c.tx, "name", in.GetName(), c.reader())
		if err != nil {
			return nil, err
		}
		c.view.Prompts.Delete(c.tx, p)
		return &gatewayv1.DeletePromptResponse{PromptId: p.ID, PromptName: p.Name, Deleted: true, VersionsDeleted: p.Latest}, nil
	})
}

// RenderPrompt shows the messages of a prompt with values for its variables.
func (s promptService) RenderPrompt(ctx context.Context, in *gatewayv1.RenderPromptRequest) (*gatewayv1.RenderPromptResponse, error) {
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	choice, err := c.view.Prompts.Resolve(c.reader(), in.GetPromptId(), uint32(in.GetVersion()), "", "")
	if err != nil {
		return nil, err
	}
	variables, err := json.Marshal(in.GetVariables().AsMap())
	if err != nil {
		return nil, err
	}
	composed, err := c.view.Prompts.Compose(choice, variables)
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.RenderPromptResponse{PromptId: choice.Prompt.ID, Version: choice.Version.Number}
	for _, turn := range composed.Before {
		one := &gatewayv1.PromptMessage{Role: turn.Role}
		if err := json.Unmarshal(turn.Content, &one.Content); err != nil {
			return nil, err
		}
		out.Messages = append(out.GetMessages(), one)
	}
	return out, nil
}

func messagesOf(in []*gatewayv1.PromptMessage) []prompts.Message {
	out := make([]prompts.Message, len(in))
	for i, m := range in {
		out[i] = prompts.Message{Role: m.GetRole(), Content: m.GetContent()}
	}
	return out
}

func showMessage(m prompts.Message) *gatewayv1.PromptMessage {
	return &gatewayv1.PromptMessage{Role: m.Role, Content: m.Content}
}

// promptRecord shows a version of a prompt unless there was an error.
func promptRecord(p *prompts.Prompt, v *prompts.Version, err error) (*gatewayv1.PromptRecord, error) {
	if err != nil {
		return nil, err
	}
	return showPrompt(p, v), nil
}

// showPrompt returns a version of a prompt in the form of the API.
func showPrompt(p *prompts.Prompt, v *prompts.Version) *gatewayv1.PromptRecord {
	return &gatewayv1.PromptRecord{
		PromptId: p.ID, PromptName: p.Name, Messages: shownAll(slices.Values(v.Messages), showMessage), Variables: v.Variables,
		Version: v.Number, IsLatest: v.Number == p.Latest, Org: textOrNull(string(p.Organization)), VersionsCount: p.Latest,
		CreatedAt: moment(v.CreatedAt), CreatedBy: v.CreatedBy, Revision: float64(p.Revision),
	}
}
