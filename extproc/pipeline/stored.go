package pipeline

import (
	"fmt"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/sealed"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Some providers store their responses. A later request then names an earlier response instead of
// sending its items again. Only the account that made a response has it, so such a request goes
// to deployments of one account: without the history, any other would answer something else. The
// ids of such responses are sealed (package sealed).

// stored is what a request refers to that a provider has stored, and the id that its own response
// has got. Only its last two fields change after dispatch.
type stored struct {
	alone    bool   // only the plan's deployments have it, and no fallback
	previous string // the provider's id of the earlier response; empty if the caller's request has no sealed one

	raw    string // the provider's id of this response, as JSON
	sealed string // the caller's, as JSON
}

// holding returns which of the deployments that serve the request have what it refers to. It
// returns all of them if the request refers to nothing that is stored.
func (p *Pipeline) holding(x *Exchange, group catalog.Group, serving []*catalog.Deployment) ([]*catalog.Deployment, error) {
	if x.op.Language.Name() != wire.Responses {
		return serving, nil
	}
	previous, err := x.Facts.Text(splice.PreviousResponse)
	if err != nil {
		return nil, err
	}
	if sealed.IsResponse(previous) {
		d, err := p.maker(x, group, previous)
		if err != nil {
			return nil, err
		}
		x.stored.alone = true
		return []*catalog.Deployment{d}, nil
	}
	param := p.reference(x, group, serving, previous)
	if param == "" {
		return serving, nil
	}
	native := slices.DeleteFunc(slices.Clone(serving), func(d *catalog.Deployment) bool { return !p.stores(x, d) })
	switch {
	case len(native) == 0:
		return serving, nil // the translation rejects it, by name
	case !slices.ContainsFunc(native[1:], func(d *catalog.Deployment) bool { return !d.SharesAccount(native[0]) }):
		x.stored.alone = true
		return native, nil
	case previous != "":
		return nil, unknownResponse()
	}
	return nil, fault.Field(param, driver.CodeUnsupported,
		"%s names something that is stored in one account at the provider, and deployments of several accounts serve this model. Send previous_response_id, or the items themselves in input.", param)
}

// reference returns the member with which the request refers to something that is stored; empty if
// there is none. The input is not searched if all attempts go to one deployment anyway.
func (p *Pipeline) reference(x *Exchange, group catalog.Group, serving []*catalog.Deployment, previous string) string {
	switch {
	case previous != "":
		return splice.PreviousResponse.String()
	case x.Facts.Given(splice.Conversation):
		return splice.Conversation.String()
	case len(serving) == 1 && (x.Options.NoFallbacks || len(x.fallbacks(group)) == 0):
		return ""
	}
	if i := x.Facts.Reference(); i >= 0 {
		return fmt.Sprintf("input[%d]", i)
	}
	return ""
}

// fallbacks returns where requests of a group go after it has failed.
func (x *Exchange) fallbacks(group catalog.Group) []catalog.Target {
	return x.View.Catalog.Fallbacks(catalog.GeneralFallbacks, group, group.Deployments[0])
}

// maker returns the deployment that made the response of a sealed id. It is one of the model's, or
// of a model to which the model falls back.
func (p *Pipeline) maker(x *Exchange, group catalog.Group, text string) (*catalog.Deployment, error) {
	made, previous, err := p.unseal(x, text)
	if err != nil {
		return nil, err
	}
	is := func(d *catalog.Deployment) bool { return d.ID == made && p.stores(x, d) }
	among := [][]*catalog.Deployment{group.Deployments}
	for _, t := range x.fallbacks(group) {
		among = append(among, t.Deployments)
	}
	for _, ds := range among {
		if i := slices.IndexFunc(ds, is); i >= 0 {
			x.stored.previous = previous
			return ds[i], nil
		}
	}
	return nil, p.goneFrom(x, made)
}

// stores reports whether a deployment takes the request in the language whose providers store
// responses.
func (p *Pipeline) stores(x *Exchange, d *catalog.Deployment) bool {
	language, ok := p.language(x, d)
	return ok && language == wire.Responses
}

// codeNoResponse is the code that OpenAI has for an unknown previous_response_id.
const codeNoResponse = "previous_response_not_found"

// unknownResponse is the error for an id that was not sealed here, or for another owner: the caller
// must not learn which of the two.
func unknownResponse() error {
	return noResponse("previous_response_id is not the id of a stored response that this gateway has returned to this team, user or key.")
}

// goneFrom is the error for a deployment that no longer serves the model.
func (p *Pipeline) goneFrom(x *Exchange, d id.Deployment) error {
	if _, exists := x.View.Catalog.Deployment(d); exists {
		return noResponse("The deployment that made and stored the previous response does not serve this model. Name the model that made it.")
	}
	return noResponse("The deployment that made and stored the previous response is gone.")
}

func noResponse(why string) error {
	return fault.Field(splice.PreviousResponse.String(), codeNoResponse, "%s To go on without it, send the earlier items in input.", why)
}
