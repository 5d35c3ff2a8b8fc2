package mgmt

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
)

// ruleFields returns the names of the fields of prompts and guardrails, and of others that a request
// may clear.
func ruleFields(others ...string) []string {
	return append(others, tenancy.FieldGuardrails, tenancy.FieldAllowedPrompts, tenancy.FieldDefaultPrompt, tenancy.FieldRequirePrompt)
}

// prompts changes rules by the fields that a request sets and clears. Prompts are still named as
// in the request.
func (p *patch) prompts(r tenancy.PromptRules) tenancy.PromptRules {
	r.Allowed = p.list(tenancy.FieldAllowedPrompts, r.Allowed)
	r.Default = p.text(tenancy.FieldDefaultPrompt, r.Default)
	r.Required = read(p, tenancy.FieldRequirePrompt, r.Required, protoreflect.Value.Bool)
	return r
}

// promptRules returns the rules of a request with ids instead of names. A prompt must be one of
// the organization or one of everybody's. What was in the rules before stays, even if the prompt
// was deleted since.
func (c caller) promptRules(before, after tenancy.PromptRules, of id.Organization) (tenancy.PromptRules, error) {
	if !slices.Equal(before.Allowed, after.Allowed) {
		var ids []string
		for i, ref := range after.Allowed {
			found, err := c.promptID(field.At(tenancy.FieldAllowedPrompts, i), ref, of)
			if err != nil && slices.Contains(before.Allowed, ref) {
				found, err = ref, nil
			}
			if err != nil {
				return after, err
			}
			if !slices.Contains(ids, found) {
				ids = append(ids, found)
			}
		}
		after.Allowed = ids
	}
	if after.Default != "" && after.Default != before.Default {
		var err error
		if after.Default, err = c.promptID(tenancy.FieldDefaultPrompt, after.Default, of); err != nil {
			return after, err
		}
	}
	if after.Default != "" && len(after.Allowed) > 0 && !slices.Contains(after.Allowed, after.Default) {
		return after, fault.Field(tenancy.FieldDefaultPrompt, "invalid_value", "default_prompt_id names a prompt that allowed_prompts does not have. Add it there, or choose another default.")
	}
	return after, nil
}

// promptID returns the id of a prompt that requests of an organization's keys may use.
func (c caller) promptID(param, ref string, of id.Organization) (string, error) {
	p, err := c.view.Prompts.Find(c.tx, param, ref, c.keysOf(of))
	switch f := fault.From(err); {
	case f == nil:
		return p.ID, nil
	case f.Kind == fault.NotFound:
		return "", &fault.Error{
			Kind: f.Kind, Code: f.Code, Param: param,
			Detail: "There is no prompt " + fault.Quote(ref) + " in the organization, nor among those of everybody. Create it with POST /prompts first, or correct the name.",
		}
	}
	return "", err
}

// keysOf returns which resources the caller may name for the requests of an organization's keys: those
// of the organization and those of everybody.
func (c caller) keysOf(of id.Organization) resource.Who {
	return resource.Who{Organization: of, MaySee: func(owner id.Organization) bool {
		return (owner == "" || owner == of) && c.rights.MayUseResource(owner)
	}}
}

// withIDs returns a key with ids of prompts and guardrails instead of names.
func (c caller) withIDs(before, k tenancy.Key) (tenancy.Key, error) {
	of := k.Organization
	if t, ok := c.set.Team(c.tx, k.Team); ok && k.Team != "" {
		of = t.Organization
	}
	var err error
	if k.Prompts, err = c.promptRules(before.Prompts, k.Prompts, of); err != nil {
		return k, err
	}
	k.Guardrails, err = c.guardrailIDs(before.Guardrails, k.Guardrails, of)
	return k, err
}

// showPromptRules sets the fields of rules about prompts.
func showPromptRules(m proto.Message, r tenancy.PromptRules) {
	list := m.ProtoReflect().Mutable(m.ProtoReflect().Descriptor().Fields().ByName(tenancy.FieldAllowedPrompts)).List()
	for _, prompt := range r.Allowed {
		list.Append(protoreflect.ValueOfString(prompt))
	}
	if r.Default != "" {
		setField(m, tenancy.FieldDefaultPrompt, protoreflect.ValueOfMessage(wrapperspb.String(r.Default).ProtoReflect()))
	}
	setField(m, tenancy.FieldRequirePrompt, protoreflect.ValueOfBool(r.Required))
}
