package pipeline

import (
	"cmp"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// taker is what decides whether a deployment takes a request that must be translated for it.
// Deployments that are equal in it get the same body.
type taker struct {
	provider, model, base string
	language              wire.Dialect
	most                  int64
	drop                  bool
	deployment            id.Deployment // if some of the request is for the deployment that made it; else empty
}

// taken is the translation of the request for a taker, or why there is none.
type taken struct {
	by  taker
	to  driver.Rewritten // without a body if it was not kept
	err error
}

// maxTranslated bounds the bodies besides the first that are kept until their attempts are prepared,
// in bytes. Longer ones are encoded again.
const maxTranslated = 1 << 20

// taking returns the deployments that take the request, and why the first of the others does not.
// What a later attempt's provider cannot take would otherwise be found when that attempt is made,
// and end the request: no proxy can be told to go on to the attempt after it.
func (p *Pipeline) taking(x *Exchange, ds []*catalog.Deployment) ([]*catalog.Deployment, error) {
	var first error
	refuses := func(d *catalog.Deployment) bool {
		err := p.takes(x, d)
		first = cmp.Or(first, err)
		return err != nil
	}
	if !slices.ContainsFunc(ds, refuses) {
		return ds, nil
	}
	return slices.DeleteFunc(slices.Clone(ds), refuses), first
}

// takes returns why a deployment does not take the request.
func (p *Pipeline) takes(x *Exchange, d *catalog.Deployment) error {
	language, _ := p.language(x, d)
	of, ok := p.providers[d.Provider]
	if !ok { // setPlan reports it
		return nil
	}
	if language == x.op.Language.Name() {
		if v := p.variation(x, d); x.op.Generates() && v != nil && !d.DropParams && !x.Options.DropParams {
			return v.Rejects(&x.Facts)
		}
		return nil
	}
	t := of.Target(d, x.Options.DropParams)
	x.mu.Lock()
	defer x.mu.Unlock()
	by := takerOf(x, d, t, language)
	if i := slices.IndexFunc(x.mu.taken, func(k taken) bool { return k.by == by }); i >= 0 {
		return x.mu.taken[i].err
	}
	to, err := p.encodedLocked(x, of, language, t)
	if len(to.Body) > maxTranslated && len(x.mu.taken) > 0 {
		to.Body = nil
	}
	x.mu.taken = append(x.mu.taken, taken{by, to, err})
	return err
}

func takerOf(x *Exchange, d *catalog.Deployment, t driver.Target, language wire.Dialect) taker {
	by := taker{provider: d.Provider, model: d.Model, base: d.BaseModel, language: language, most: t.MaxOutputTokens, drop: t.DropParams}
	if x.mu.reasoned {
		by.deployment = d.ID
	}
	return by
}

// translatedLocked returns the request in the language of an attempt.
func (p *Pipeline) translatedLocked(x *Exchange, a *Attempt, t driver.Target) (driver.Rewritten, error) {
	by := takerOf(x, a.Deployment, t, a.language)
	for i := range x.mu.taken {
		if k := &x.mu.taken[i]; k.by == by && (k.to.Body != nil || k.err != nil) {
			return k.to, k.err
		}
	}
	return p.encodedLocked(x, a.Provider, a.language, t)
}

// variation returns how a deployment's requests differ from the caller's; nil if they do not.
func (p *Pipeline) variation(x *Exchange, d *catalog.Deployment) *provider.Variation {
	if x.op.Endpoint != driver.Chat && x.op.Endpoint != driver.Embeddings {
		return nil
	}
	of := p.providers[d.Provider]
	if of == nil { // setPlan reports it
		return nil
	}
	return of.VariationOf(p.variations[d.Provider], d.Cloud)
}
