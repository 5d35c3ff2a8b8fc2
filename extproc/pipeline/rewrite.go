package pipeline

import (
	"strconv"

	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/metering"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/reply"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// rewriter returns what rewrites the operation for a provider with a language of its own; nil if the operation
// is translated by way of the canonical form.
func (x *Exchange) rewriter(of *provider.Provider) driver.Rewriter {
	if x.op.Generates() {
		return nil
	}
	r, _ := of.Driver.(driver.Rewriter) // nil if it is none
	return r
}

// rewritten reports whether the last attempt has rewritten the request.
func (x *Exchange) rewritten() bool {
	a := x.last()
	return !x.sameDialect(a) && x.rewriter(a.Provider) != nil
}

// restoresSpeech reports whether a response of a type has speech in it, which the last attempt's provider does not send as sound.
func (x *Exchange) restoresSpeech(media string) bool {
	s := x.speaker()
	return s != nil && media == s.SpeechIn()
}

// speaker returns the driver of the last attempt if its provider sends speech, but not as sound; nil otherwise.
func (x *Exchange) speaker() driver.Speaker {
	if !x.op.Speaks() || !x.rewritten() {
		return nil
	}
	s, _ := x.last().Provider.Driver.(driver.Speaker) // nil if it is none
	return s
}

// originalLocked returns the request for a rewriter, with its canonical form if it is for a count of tokens.
func (p *Pipeline) originalLocked(x *Exchange) *driver.Original {
	o := x.original()
	if x.op.Decode != nil {
		o.Prompt = func() (*wire.Request, error) {
			prompt, err := x.op.Decode(x.withoutExtensions())
			if err == nil {
				x.mu.reasoned = p.sealer.Restore(&x.Principal, prompt)
			}
			return prompt, err
		}
	}
	return o
}

// original returns the request for what restores its response.
func (x *Exchange) original() *driver.Original {
	return &driver.Original{Endpoint: x.op.Endpoint, Facts: &x.Facts, Created: x.Start.Unix()}
}

// encodedLocked returns the request in the language of a target that does not take the caller's.
func (p *Pipeline) encodedLocked(x *Exchange, of *provider.Provider, language wire.Dialect, t driver.Target) (driver.Rewritten, error) {
	if rewriter := x.rewriter(of); rewriter != nil {
		return rewriter.Rewrite(p.originalLocked(x), t)
	}
	request, err := p.canonicalLocked(x)
	if err != nil {
		return driver.Rewritten{}, err
	}
	body, err := of.Driver.Codec(language).Encode(request, t)
	return driver.Rewritten{Body: body}, err
}

// restore turns the response of a provider with a language of its own into OpenAI's. Callers of embeddings expect
// the usage, so what a header says, or what is counted here, is added if the response reports none.
func (p *Pipeline) restore(x *Exchange, rewriter driver.Rewriter) error {
	r := &x.response
	restored, err := rewriter.Restore(x.original(), r.body, x.last().Deployment.Model)
	if err != nil {
		return err
	}
	if restored.Media != "" {
		r.media, r.head.Media = restored.Media, reply.MediaOf(restored.Media)
	}
	if r.speech {
		r.outcome.Usage, r.out = restored.Usage, restored.Body
		r.outcome.Bytes, r.outcome.Sample = int64(len(r.out)), r.out[:min(len(r.out), metering.MaxSample)]
		return nil
	}
	if err := p.relabel(x, restored.Body); err != nil {
		return err
	}
	if restored.Usage.Known() || restored.Usage.Bad {
		r.outcome.Usage = restored.Usage
	}
	if r.outcome.Usage.Known() || x.op.Endpoint != driver.Embeddings {
		return nil
	}
	if u := metering.ReadInput(r.head.Read); u.Known() || u.Bad {
		r.outcome.Usage = u
	}
	t, _ := p.consumed(x, &r.outcome, attempt.Failure{})
	o, n := splice.ReadObject(r.out), strconv.FormatInt(t.Input, 10)
	o.Set("usage", []byte(`{"prompt_tokens":`+n+`,"total_tokens":`+n+`}`)) // also in place of an impossible one
	r.out = o.Append(nil)
	return nil
}

// speak handles an event with speech of another provider's.
func (r *Relay) speak(e *splice.Event) {
	if !e.HasData {
		return
	}
	before := len(r.out)
	var err error
	if r.out, err = r.speech.Event(r.out, e.Data); len(r.out) > before {
		r.first()
	}
	r.outcome.Usage, r.ended = r.speech.Usage(), r.speech.Complete()
	if err != nil {
		r.fail(failureOf(err).Fault())
	}
}
