package pipeline

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/extproc/sealed"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Ids that callers get instead of a provider's; see package sealed.

// sealsCalls reports whether the caller sends the ids of calls back. Messages and responses have members for reasoning, too, but
// not all of their clients keep them. Package gemini moves a sealed id to the signature of its call.
func (x *Exchange) sealsCalls() bool {
	language := x.op.Language.Name()
	if language != wire.OpenAI {
		return language == wire.Anthropic || language == wire.Responses || language == wire.Gemini || language == wire.Cohere
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.mu.request == nil || !x.mu.request.Functions
}

// sealCalls puts the reasoning of a whole response into the ids of its calls.
func (p *Pipeline) sealCalls(x *Exchange, r *wire.Response) {
	if !x.sealsCalls() {
		return
	}
	for i := range r.Choices {
		if c := &r.Choices[i]; len(c.ToolCalls) > 0 {
			c.ToolCalls[0].ID = p.sealedCallID(x, c.Thinking, c.ToolCalls[0].ID)
		}
	}
}

// seal puts reasoning into the id of the call that follows it.
func (r *Relay) seal(c *wire.Chunk) {
	if c.Block != nil {
		r.blocks = append(r.blocks, *c.Block)
	}
	if c.Tool != nil && c.Tool.ID != "" {
		c.Tool.ID = r.p.sealedCallID(r.x, r.blocks, c.Tool.ID)
		r.blocks = r.blocks[:0]
	}
}

// sealedCallID returns the caller's id of a call that follows reasoning.
func (p *Pipeline) sealedCallID(x *Exchange, reasoning []wire.Thinking, own string) string {
	return p.sealer.Call(&x.Principal, x.last().Deployment.ID, sealed.Proven(reasoning), own)
}

// sealedID returns the caller's id of a response, as JSON, for the provider's. If there is none,
// the response gets an id with which it cannot be continued.
func (p *Pipeline) sealedID(x *Exchange, raw []byte) string {
	s := &x.stored
	if s.sealed != "" && s.raw == string(raw) { // each event of a stream repeats it
		return s.sealed
	}
	out, err := p.sealer.Response(&x.Principal, x.last().Deployment.ID, string(splice.Plain(raw[1:len(raw)-1])))
	if err != nil {
		p.deps.Logger.Warn("the id of a stored response cannot be sealed, so the response cannot be continued", slog.String("request_id", string(x.ID)),
			slog.Any("error", err))
		out = x.op.ReplyID(x.ID)
	}
	s.raw, s.sealed = string(raw), `"`+out+`"`
	return s.sealed
}

// unseal returns the deployment that made a response, and the provider's id of it.
func (p *Pipeline) unseal(x *Exchange, text string) (made id.Deployment, previous string, err error) {
	made, previous, err = p.sealer.OpenResponse(&x.Principal, text)
	switch {
	case errors.Is(err, sealed.ErrUnknown):
		return "", "", unknownResponse()
	case err != nil:
		return "", "", &fault.Error{
			Kind: fault.Unavailable, Code: "encryption_key_unavailable", RetryAfter: time.Second, Err: err,
			Detail: "The gateway cannot read previous_response_id yet, because its encryption key has not come; try again in a moment.",
		}
	}
	return made, previous, nil
}

// appendIDs appends the edits that give the caller its own ids instead of a provider's, in no order.
func (p *Pipeline) appendIDs(dst []splice.Edit, x *Exchange, f *splice.ReplyFacts, body []byte) []splice.Edit {
	if s := f.ID; !s.Empty() {
		dst = append(dst, splice.Edit{Off: s.Off, End: s.End, With: p.sealedID(x, s.Of(body))})
	}
	if s := f.Previous; !s.Empty() && x.stored.previous != "" {
		dst = append(dst, splice.Edit{Off: s.Off, End: s.End, With: string(x.Facts.Raw(splice.PreviousResponse))})
	}
	return dst
}

// withCallersID returns an error whose text names the earlier response by the caller's id.
// Providers repeat the id in their errors.
func (x *Exchange) withCallersID(e *fault.Error) *fault.Error {
	if x.stored.previous == "" || !strings.Contains(e.Detail, x.stored.previous) {
		return e
	}
	sent, err := x.Facts.Text(splice.PreviousResponse)
	if err != nil {
		return e
	}
	out := *e
	out.Detail = strings.ReplaceAll(e.Detail, x.stored.previous, sent)
	return &out
}
