package mgmt

import (
	"context"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type promptService struct {
	gatewayv1.UnimplementedPromptServiceServer
	service
	tokens  func(model string, messages [][2]string) int64
	reports *reports
}

// CreatePrompt creates a prompt with its version 1.
func (s promptService) CreatePrompt(ctx context.Context, in *gatewayv1.CreatePromptRequest) (*gatewayv1.PromptRecord, error) {
	content, err := contentOf(in, prompts.Content{})
	if err != nil {
		return nil, err
	}
	fresh := id.NewUUID()
	return change(ctx, s.state, func(c caller) (*gatewayv1.PromptRecord, error) {
		org, err := c.ownerFor(in.OrganizationId)
		if err != nil {
			return nil, err
		}
		p := prompts.Prompt{Head: resource.Head{ID: fresh, Name: in.GetPromptName(), Organization: org}, Protected: in.GetProtectedLabels()}
		return c.published(c.view.Prompts.Create(c.tx, p, content))
	})
}

// published shows a version that the transaction makes. The prompts that it includes cannot be
// deleted at the same time.
func (c caller) published(p *prompts.Prompt, v *prompts.Version, err error) (*gatewayv1.PromptRecord, error) {
	if err != nil {
		return nil, err
	}
	for _, included := range c.view.Prompts.Included(p, v) {
		c.set.UsePrompt(c.tx, included.ID)
	}
	return showPrompt(p, v)
}

// content has the fields of requests that make versions.
type content interface {
	GetMessages() []*gatewayv1.PromptMessage
	GetVariables() []string
	GetConfig() *gatewayv1.PromptConfig
	GetVariableSchema() *gatewayv1.Json
}

// contentOf reads the content of a version. before has the config and the schema of a request
// without them.
func contentOf(in content, before prompts.Content) (prompts.Content, error) {
	out := prompts.Content{Variables: in.GetVariables(), Config: before.Config, Schema: before.Schema}
	var err error
	if out.Messages, err = messagesOf(in.GetMessages()); err != nil {
		return out, err
	}
	if in.GetConfig() != nil {
		if out.Config, err = configOf(in.GetConfig()); err != nil {
			return out, err
		}
	}
	schema, err := ordered(in.GetVariableSchema())
	if schema != nil {
		out.Schema = schema
	}
	if string(schema) == "{}" {
		out.Schema = nil
	}
	return out, err
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
		one, err := showPrompt(p, version)
		if err != nil {
			return nil, err
		}
		out.Prompts = append(out.GetPrompts(), one)
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
		one, err := showPrompt(p, version)
		if err != nil {
			return nil, err
		}
		out.Versions = append(out.GetVersions(), one)
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
		before, err := c.view.Prompts.Version(p, 0)
		if err != nil {
			return nil, err
		}
		content, err := contentOf(in, before.Content)
		if err != nil {
			return nil, err
		}
		return c.published(c.view.Prompts.Update(c.tx, p, *p, content, operation.IfRevision(ctx)))
	})
}

// ConfigurePrompt changes settings of a prompt that are no part of its versions.
func (s promptService) ConfigurePrompt(ctx context.Context, in *gatewayv1.ConfigurePromptRequest) (*gatewayv1.PromptRecord, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.PromptRecord, error) {
		p, err := c.view.Prompts.FindToChange(c.tx, "name", in.GetName(), c.reader())
		if err != nil {
			return nil, err
		}
		version, err := c.view.Prompts.Version(p, 0)
		if err != nil {
			return nil, err
		}
		next := *p
		next.DefaultLabel = orElse(in.DefaultLabel, p.DefaultLabel)
		if len(in.GetProtectedLabels()) > 0 {
			next.Protected = in.GetProtectedLabels()
		}
		for _, name := range in.GetClear() {
			switch name {
			case "default_label":
				next.DefaultLabel = ""
			case "protected_labels":
				next.Protected = nil
			}
		}
		made, err := c.view.Prompts.Configure(c.tx, p, next, operation.IfRevision(ctx))
		return promptRecord(made, version, err)
	})
}

// RollbackPrompt makes the content of an earlier version the next one.
func (s promptService) RollbackPrompt(ctx context.Context, in *gatewayv1.RollbackPromptRequest) (*gatewayv1.PromptRecord, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.PromptRecord, error) {
		p, err := c.view.Prompts.FindToChange(c.tx, "name", in.GetName(), c.reader())
		if err != nil {
			return nil, err
		}
		earlier, err := c.view.Prompts.Version(p, uint32(in.GetVersion()))
		if err != nil {
			return nil, err
		}
		return c.published(c.view.Prompts.Update(c.tx, p, *p, earlier.Content, operation.IfRevision(ctx)))
	})
}

// DeletePrompt deletes a prompt with all its versions.
func (s promptService) DeletePrompt(ctx context.Context, in *gatewayv1.DeletePromptRequest) (*gatewayv1.DeletePromptResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeletePromptResponse, error) {
		p, err := c.view.Prompts.FindToChange(c.tx, "name", in.GetName(), c.reader())
		if err != nil {
			return nil, err
		}
		if err := c.set.CheckPromptUnused(c.tx, p.ID); err != nil {
			return nil, err
		}
		if err := c.view.Prompts.CheckUnused(p); err != nil {
			return nil, err
		}
		c.view.Prompts.Delete(c.tx, p)
		return &gatewayv1.DeletePromptResponse{PromptId: p.ID, PromptName: p.Name, Deleted: true, VersionsDeleted: p.Latest}, nil
	})
}

// RenderPrompt shows what a request with a prompt gets.
func (s promptService) RenderPrompt(ctx context.Context, in *gatewayv1.RenderPromptRequest) (*gatewayv1.RenderPromptResponse, error) {
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	choice, err := c.view.Prompts.Resolve(c.reader(), in.GetPromptId(), uint32(in.GetVersion()), in.GetLabel(), "")
	if err != nil {
		return nil, ownNames(err)
	}
	variables, err := ordered(in.GetVariables())
	if err != nil {
		return nil, err
	}
	composed, err := c.view.Prompts.Compose(choice, variables)
	if err != nil {
		return nil, ownNames(err)
	}
	out := &gatewayv1.RenderPromptResponse{PromptId: choice.Prompt.ID, Version: choice.Version.Number, Label: textOrNull(choice.Label)}
	if out.UnusedVariables, out.MissingVariables, err = c.view.Prompts.Unmatched(choice, variables); err != nil {
		return nil, err
	}
	if out.Config, err = showConfig(composed.Config); err != nil {
		return nil, err
	}
	var texts [][2]string
	for _, turn := range slices.Concat(composed.Before, []prompts.Turn{{Role: prompts.RolePlaceholder}}, composed.After) {
		one := &gatewayv1.PromptMessage{Role: turn.Role, Content: showOrdered(turn.Content)}
		if turn.Role == prompts.RolePlaceholder {
			one.Name = given(prompts.CallerMessages)
		}
		out.Messages = append(out.GetMessages(), one)
		if turn.Content != nil {
			texts = append(texts, [2]string{turn.Role, turn.Text()})
		}
	}
	model, _ := composed.Config.Model()
	out.EstimatedTokens = uint32(s.tokens(model, texts))
	return out, nil
}

// ownNames returns an error with the names that fields have here instead of those that they have
// in requests to models.
func ownNames(err error) error {
	f := *fault.From(err)
	for _, name := range []string{prompts.FieldVersion, prompts.FieldLabel, prompts.FieldVariables} {
		short := strings.TrimPrefix(name, "prompt_")
		if rest, ok := strings.CutPrefix(f.Param, name); ok {
			f.Param = short + rest
		}
		f.Detail = strings.ReplaceAll(f.Detail, name, short)
	}
	return &f
}
