package pipeline

import (
	"strconv"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// rewriter returns what rewrites the operation for a provider with a language of its own; nil if the operation
// is translated by way of the canonical form.
func (x *Exchange) rewriter(of *provider.Provider) driver.Rewriter {
	if x.op.generates() {
		return nil
	}
	r, _ := of.Driver.(driver.Rewriter) // nil if it is none
	return r
}

// encodedLocked returns the request in the language of a target that does not take the caller's.
func (p *Pipeline) encodedLocked(x *Exchange, of *provider.Provider, language wire.Dialect, t driver.Target) ([]byte, error) {
	if rewriter := x.rewriter(of); rewriter != nil {
		return rewriter.Rewrite(x.op.endpoint, x.withoutExtensions(), t)
	}
	request, err := p.canonicalLocked(x)
	if err != nil {
		return nil, err
	}
	return of.Driver.Codec(language).Encode(request, t)
}

// restore turns the response of a provider with a language of its own into OpenAI's. Callers expect
// the usage, so what is counted here is added if the provider reports none.
func (p *Pipeline) restore(x *Exchange, rewriter driver.Rewriter) error {
	r := &x.response
	body, err := rewriter.Restore(x.op.endpoint, r.body, x.last().Deployment.Model)
	if err != nil {
		return err
	}
	if err := p.relabel(x, body); err != nil || r.outcome.Usage.Known() {
		return err
	}
	t, _ := p.consumed(x, &r.outcome, AttemptFailure{})
	end, n := len(r.out)-1, strconv.FormatInt(t.Input, 10)
	r.out = splice.Apply(nil, r.out, []splice.Edit{{Off: end, End: end, With: `,"usage":{"prompt_tokens":` + n + `,"total_tokens":` + n + `}`}})
	return nil
}
