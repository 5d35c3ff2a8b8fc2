package pipeline

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/compose"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/message"
)

// compose puts the prompt that the request names into its body. All stages after it, and each
// attempt, have the composed body. A request without a prompt keeps its own.
func (p *Pipeline) compose(_ context.Context, x *Exchange) error {
	terms := x.Principal.Prompts()
	if err := p.prompted(x, &terms); err != nil {
		return err
	}
	named := &x.Options.Prompt
	if named.ID == "" {
		if named.Variables != nil || named.Version != 0 || named.Label != "" {
			return fault.Field("prompt_id", "missing_required_parameter", "The request says how to use a prompt, but not which one. Send prompt_id, or leave the other parameters of prompts out.")
		}
		return x.Facts.RequireModel()
	}
	if !x.op.Composes() {
		return fault.Field("prompt_id", "unsupported_parameter", "Prompts are for chats; %s takes none. Leave prompt_id out.", x.Inbound.Path)
	}
	if p.deps.Fresh != nil && !p.deps.Fresh() {
		return &fault.Error{
			Kind: fault.Unavailable, Code: "cut_off", Param: "prompt_id", RetryAfter: time.Second,
			Detail: "This node is cut off from its cluster and cannot tell whether the prompt is still the same. Try another node, or again later.",
		}
	}
	prompt, err := p.rendered(x, &terms)
	if err != nil {
		return err
	}
	model := prompt.Model(x.Facts.Model)
	body, err := p.composers[x.op.Language.Name()].Compose(x.Body, prompt, p.composeTarget(x, model))
	if err != nil {
		return err
	}
	if x.Facts.PathModel != model {
		x.Facts.PathModel = "" // the prompt has replaced it
	}
	if err := p.rebody(x, body); err != nil {
		return err
	}
	return x.Facts.RequireModel()
}

// rebody replaces the body by another one, and reads it again.
func (p *Pipeline) rebody(x *Exchange, body []byte) error {
	length := int64(len(body))
	if err := p.fits(length); err != nil {
		return err
	}
	if err := x.Flight.Reach(length); err != nil {
		return err
	}
	x.Body, x.rebodied = body, true
	return x.scan()
}

// prompted applies the rules of the caller's key, team and organization: requests for chats that
// name no prompt get the default, and where a prompt is required they have no instructions of
// their own.
func (p *Pipeline) prompted(x *Exchange, terms *tenancy.PromptTerms) error {
	named := &x.Options.Prompt
	if named.ID == "" && x.op.Composes() {
		named.ID = terms.Default
	} else {
		terms.Default = "" // not used
	}
	if !terms.Required {
		return nil
	}
	switch {
	case !x.op.Composes():
		return &fault.Error{
			Kind: fault.Denied, Code: "prompt_required",
			Detail: "Requests with this API key must name a prompt, and " + x.Inbound.Path + " takes none. Use an endpoint for chats, or another API key.",
		}
	case named.ID == "":
		return &fault.Error{
			Kind: fault.Denied, Code: "prompt_required", Param: "prompt_id",
			Detail: "Requests with this API key must name a prompt. Send prompt_id.",
		}
	}
	if at := p.composers[x.op.Language.Name()].Instructions(x.Body); at != "" {
		return &fault.Error{
			Kind: fault.Denied, Code: "instructions_denied", Param: at,
			Detail: "The prompts of this API key give the instructions: its requests may not send system or developer messages. Remove " + at + ".",
		}
	}
	return nil
}

// rendered finds the prompt and renders it. One end user, else one session, gets the same version
// of a label that is split.
func (*Pipeline) rendered(x *Exchange, terms *tenancy.PromptTerms) (*compose.Prompt, error) {
	named := &x.Options.Prompt
	who := cmp.Or(string(x.Options.Customer), x.Options.Session, string(x.ID))
	choice, err := x.choose(terms, who)
	if err != nil {
		return nil, err
	}
	rendered, err := x.View.Prompts.Compose(choice, named.Variables)
	if err != nil {
		return nil, err
	}
	x.prompt = usage.Prompt{ID: choice.Prompt.ID, Version: choice.Version.Number, Label: choice.Label}
	x.promptName = choice.Prompt.Name
	out := &compose.Prompt{Before: compose.Messages(rendered.Before), After: compose.Messages(rendered.After)}
	for _, s := range rendered.Config {
		out.Settings = append(out.Settings, compose.Setting(s))
	}
	return out, nil
}

// choose returns the version of the prompt that the request gets. A prompt that the rules of the key
// do not allow is one that does not exist, whatever else the request says about it.
func (x *Exchange) choose(terms *tenancy.PromptTerms, who string) (choice prompts.Choice, err error) {
	named, reader := &x.Options.Prompt, x.promptReader()
	ref := named.ID
	if terms.Limited() {
		var p *prompts.Prompt
		if p, err = x.View.Prompts.Find(nil, prompts.FieldID, ref, reader); err == nil {
			if ref = p.ID; !terms.Allow(ref) {
				err = x.View.Prompts.NotFound(prompts.FieldID)
			}
		}
	}
	if err == nil {
		choice, err = x.View.Prompts.Resolve(reader, ref, named.Version, named.Label, who)
	}
	if f := fault.From(err); f != nil && f.Code == "prompt_not_found" && terms.Default != "" {
		return choice, &fault.Error{
			Kind: f.Kind, Code: f.Code, Param: f.Param,
			Detail: "The request names no prompt, and the default_prompt_id of the " + terms.DefaultOf + " names one that does not exist or that this API key may not use. Send prompt_id, or have the default changed.",
		}
	}
	return choice, err
}

// promptReader returns which prompts the request may use: those of its organization and those of
// everybody. Names of its organization come first.
func (x *Exchange) promptReader() resource.Who {
	own := x.Principal.Organization
	return resource.Who{Organization: own, MaySee: func(owner id.Organization) bool {
		return owner == "" || owner == own || x.Principal.Role() == tenancy.RoleProxyAdmin
	}}
}

// composeTarget returns for which model a prompt is written in the caller's language: the first
// deployment of the model that takes that language as it is. For others the request is translated.
func (p *Pipeline) composeTarget(x *Exchange, model string) driver.Target {
	name := x.View.Catalog.Alias(x.Principal.Resolve(id.ModelName(model)))
	group, _ := x.View.Catalog.Group(name)
	for _, d := range group.Deployments {
		if language, ok := p.language(x, d); ok && language == x.op.Language.Name() && p.providers[d.Provider] != nil {
			return p.providers[d.Provider].Target(d, x.Options.DropParams)
		}
	}
	return driver.Target{Features: driver.Features{JSONSchema: true, AdaptiveThinking: true}}
}

// headerPrompt is the header of a response that names the prompt, such as support@5.
const headerPrompt = "x-gateway-prompt"

// appendPrompt adds the header that names the prompt, if there is one.
func (x *Exchange) appendPrompt(dst []message.Header) []message.Header {
	if x.prompt.ID == "" {
		return dst
	}
	return append(dst, message.Header{Name: headerPrompt, Value: x.promptName + "@" + strconv.FormatUint(uint64(x.prompt.Version), 10)})
}
