package metering

import (
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/tokens"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Output is what is known of a response.
type Output struct {
	Usage    wire.Usage      // as the provider reports it
	Bytes    int64           // of the provider's response, so far
	Text     []byte          // generated text, kept while the provider has not reported its usage
	Unread   bool            // Text is the response as received
	Counted  int64           // tokens of generated text that was counted and is no longer in Text
	Pieces   estimate.Pieces // of a stream: the events that brought generated text
	Sample   []byte          // the beginning of generated sound, as received
	Media    string          // content type of the response
	Complete bool            // the response is whole
}

// Used returns the usage of an answered request: as the provider reports it, within what is
// possible, else as counted. capped reports that the provider reports what is impossible.
func (r *Request) Used(counter *tokens.Counter, d *catalog.Deployment, o *Output, decode Decode) (_ usage.Tokens, _ usage.Source, capped bool) {
	switch {
	case r.Operation.Free:
		return usage.Tokens{}, usage.None, false
	case o.Usage.Known():
		t, capped := o.Usage.Tokens.Within(r.possible(d).Plausible(o.Usage.Tokens, o.Bytes))
		t, impossible := r.withSound(d, t)
		return r.WithUnits(t), usage.Provider, capped || impossible
	case r.Operation.HasSound():
		t, source := r.soundUsed(counter, d, o, decode)
		return t, source, o.Usage.Bad
	}
	out := usage.Tokens{}
	if o.Usage.Partial {
		out = o.Usage.Tokens
	} else {
		out.Input = r.Count(counter, d, decode)
	}
	if !r.Operation.Generates() {
		return r.WithUnits(out), usage.Estimated, o.Usage.Bad
	}
	out.Output = max(out.Output, o.Pieces.Tokens(o.written(counter, d)))
	// A response that was too large or could not be read does not prove what was generated.
	if o.Unread {
		out.Output = min(out.Output, r.possible(d).Most(o.Bytes).Output)
	}
	return out, usage.Estimated, o.Usage.Bad
}

// written returns the number of tokens of the generated text.
func (o *Output) written(counter *tokens.Counter, d *catalog.Deployment) int64 {
	return o.Counted + counter.Count(estimate.Vocabulary(d), string(o.Text))
}

// possible returns what bounds the usage of the request at a deployment.
func (r *Request) possible(d *catalog.Deployment) estimate.Request {
	return estimate.Request{Body: r.Body, Facts: r.Facts, Deployment: d}
}

// WithUnits adds what a response uses besides tokens, if the provider has not reported it.
func (r *Request) WithUnits(t usage.Tokens) usage.Tokens {
	if r.Operation.Units == nil {
		return t
	}
	units := r.Operation.Units(r.Facts)
	if t.Images == 0 {
		t.Images = units.Images
	}
	t.InputCharacters = max(t.InputCharacters, units.InputCharacters)
	if t.SearchQueries == 0 {
		t.SearchQueries = units.SearchQueries
	}
	return t
}
