package pipeline

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/attempt"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/framing"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/metering"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Relay turns a provider's event stream into the caller's, piece by piece. It is the stage
// translate of a streamed response, and belongs to one exchange.
type Relay struct {
	p       *Pipeline
	x       *Exchange
	split   framing.Splitter
	raw     bool    // it is sound and no event stream: its bytes go out as they come
	outcome Outcome // so far: as if the caller disconnected now
	done    bool    // the last event has come: settle before anything more leaves
	ended   bool    // the event says that the response is complete

	// The output of the current chunk. While every event goes out unchanged, nothing is
	// copied, and kept is the number of the chunk's bytes that go out.
	chunk  []byte
	kept   int
	out    []byte
	copied bool

	// Same dialect on both sides.
	facts splice.ChunkFacts
	alias string // the model's name as JSON, which replaces the provider's
	data  []byte // scratch

	tail    []byte             // an event that may be the last one: it leaves with the next, or after the settle
	reframe operation.Reframer // nil unless the caller gets the events in another framing

	screen  *guard.Stream   // nil if no guardrail examines the response
	events  splice.Splitter // of what goes to the caller
	outside []byte          // scratch
	stopped bool            // a guardrail has blocked the response
	silent  time.Time       // when something was sent last, while a guardrail holds back

	speech driver.SpeechStream // of speech that comes in another provider's events

	// Translated.
	decoder driver.Stream
	encoder dialect.Encoder
	chunks  []wire.Chunk
	names   driver.Names    // of the caller's tools
	seals   bool            // the ids of calls get the reasoning before them
	blocks  []wire.Thinking // that reasoning, since the call before
}

// maxText bounds the generated text that is kept for counting. Longer text is counted in
// parts.
const maxText = 1 << 20

// Relay begins to pass on a stream whose head has been sent to the caller.
func (p *Pipeline) Relay(x *Exchange) *Relay {
	a := x.last()
	r := &Relay{p: p, x: x, split: framing.New(a.framing()), outcome: Outcome{Kind: journal.Canceled, Code: codeCanceled, status: http.StatusOK}}
	x.response.relay = r
	meta := x.meta(p)
	meta.ID, meta.Usage = x.op.ReplyID(x.ID), &r.outcome.Usage
	r.encoder = x.op.Language.Stream(meta)
	if x.reframed {
		r.reframe = x.op.Reframe()
	}
	if s := x.speaker(); s != nil && x.response.head.Media == x.op.Stream {
		r.speech = s.SpeechStream(x.original())
	}
	if x.op.Passes() {
		r.raw, r.outcome.status = true, x.Status
		return r
	}
	r.raw = x.rewritten() && r.speech == nil || x.sameDialect(a) && x.response.head.Media != x.op.Stream
	p.openScreen(r)
	if x.op.Speaks() && x.rewritten() {
		r.outcome.Usage = x.sound.ReadBilled(a.Deployment.Prices, x.response.head.Billed)
	}
	if x.sameDialect(a) {
		r.split = framing.Passed(a.framing())
	}
	if r.raw || r.speech != nil || x.sameDialect(a) {
		r.alias = string(splice.Quote(nil, x.Facts.Model))
		r.facts.Collect = true
		return r
	}
	r.decoder, r.seals = a.codec().Stream(), x.sealsCalls()
	r.names = x.names()
	return r
}

// Piece takes a piece of the stream and returns what goes out in its place; same reports that it
// is the piece itself. What it returns is valid until the next call. For the end of the response
// it waits until the cost is on disk; an error withholds the end.
func (r *Relay) Piece(ctx context.Context, piece []byte) (out []byte, same bool, err error) {
	if out, same = r.feed(ctx, piece); r.reframe != nil {
		out, same = r.reframe.Add(out), false
	}
	return out, same, r.record(ctx)
}

// Last is Piece for the piece that ends the stream.
func (r *Relay) Last(ctx context.Context, piece []byte) (out []byte, same bool, err error) {
	if out, same = r.last(ctx, piece); r.reframe != nil {
		out, same = r.reframe.End(out), false
	}
	return out, same, r.record(ctx)
}

// record settles the request, once, when the last event has come.
func (r *Relay) record(ctx context.Context) error {
	answer := &r.x.response
	if !r.done || answer.final {
		return nil
	}
	answer.outcome, answer.final = r.outcome, true
	if err := r.p.run(ctx, r.x, r.p.finished); err != nil {
		return err
	}
	if answer.fault != nil {
		return answer.fault
	}
	return nil
}

// names returns the caller's names of the tools that the provider names.
func (x *Exchange) names() driver.Names {
	x.mu.Lock()
	defer x.mu.Unlock()
	return driver.NamesOf(x.last().codec(), x.mu.request)
}

// feed takes a chunk and returns what goes out in its place; same reports that it is the
// chunk itself. The result is valid until the next call. Once done is set, the result must wait
// for the settle.
func (r *Relay) feed(ctx context.Context, chunk []byte) (out []byte, same bool) {
	r.chunk, r.kept, r.out, r.copied = chunk, 0, r.out[:0], false
	if r.split.Held() > 0 || r.screen != nil || r.x.last().framing() != driver.ServerSent {
		r.copied = true // the first event began in an earlier chunk, or may change, or is no server-sent one
	}
	r.outcome.Bytes += int64(len(chunk))
	if r.raw {
		return r.sound(chunk), true
	}
	r.split.Push(chunk)
	var e splice.Event
	for r.split.Next(&e) {
		r.screened(ctx, func() { r.event(&e) })
	}
	return r.taken()
}

// last is feed for the chunk that ends the stream.
func (r *Relay) last(ctx context.Context, chunk []byte) (out []byte, same bool) {
	if r.raw {
		out, same = r.feed(ctx, chunk)
		r.ended = true
		r.finish()
		return out, same
	}
	if out, same = r.feed(ctx, chunk); same && r.split.Held() == 0 && r.done {
		return out, same
	}
	var e splice.Event
	for r.split.Last(&e) {
		r.screened(ctx, func() { r.event(&e) })
	}
	r.screened(ctx, r.finish)
	r.endScreen(ctx)
	return r.taken()
}

// sound takes a piece of sound, or of a response that nothing here reads, which goes out unchanged.
func (r *Relay) sound(piece []byte) []byte {
	if r.x.op.Passes() {
		return piece
	}
	if len(piece) > 0 {
		r.first()
	}
	if room := metering.MaxSample - len(r.outcome.Sample); room > 0 && !r.x.last().Deployment.Prices.Characters() {
		r.outcome.Sample = append(r.outcome.Sample, piece[:min(room, len(piece))]...)
	}
	return piece
}

// taken returns what goes out in place of the current chunk.
func (r *Relay) taken() (out []byte, same bool) {
	if err := r.split.Err(); err != nil {
		r.fail(fault.From(err))
	}
	switch {
	case r.copied:
		return r.out, false
	case r.kept == len(r.chunk):
		return r.chunk, true
	}
	return r.chunk[:r.kept], false
}

// diverge begins copying: from here on the output differs from the input.
func (r *Relay) diverge() {
	if !r.copied {
		r.out = append(r.out, r.chunk[:r.kept]...)
		r.copied = true
	}
}

// keep sends an event unchanged.
func (r *Relay) keep(e *splice.Event) {
	if r.copied {
		r.out = append(r.out, e.Raw...)
		return
	}
	r.kept += len(e.Raw)
}

// event handles one event.
func (r *Relay) event(e *splice.Event) {
	r.release()
	switch {
	case r.done:
		r.diverge() // nothing follows the last event
	case r.decoder != nil:
		r.diverge()
		r.translate(e)
	case r.speech != nil:
		r.diverge()
		r.speak(e)
	case len(e.Data) == 0:
		r.idle(e)
	default:
		a := r.x.last()
		if f := framing.Failure(a.framing(), a.Provider.Driver, e); f != nil {
			r.fail(f.Fault())
			return
		}
		r.pass(e)
	}
}

// idle sends an empty comment for an event without data, which keeps idle connections open.
// The event's other lines stay out: OpenAI's streams have no comments, identifiers or retry
// times, and only the gateway may set a retry time.
func (r *Relay) idle(e *splice.Event) {
	if r.plain(e) {
		r.keep(e)
		return
	}
	r.diverge()
	r.out = append(r.out, ":\n\n"...)
}

// plain reports whether the caller may see all lines of an event. Other dialects than
// OpenAI's older ones name each event's type.
func (r *Relay) plain(e *splice.Event) bool {
	language := r.x.op.Language.Name()
	return e.Plain || language != wire.OpenAI && language != wire.Completions
}

// emit sends an event's data without the provider's other lines.
func (r *Relay) emit(e *splice.Event) {
	if r.plain(e) {
		r.keep(e)
		return
	}
	r.diverge()
	r.out = splice.AppendData(r.out, e.Data)
}

// pass handles an event of the caller's own dialect.
func (r *Relay) pass(e *splice.Event) {
	f := &r.facts
	f.Text = r.trim(f.Text)
	f.Most = r.x.estimated().Most(r.outcome.Bytes)
	before := len(f.Text)
	if err := r.x.op.Event(e.Data, f); err != nil {
		r.fail(&fault.Error{Kind: fault.Upstream, Code: "upstream_invalid_response", Detail: "The provider's stream could not be understood.", Err: err})
		return
	}
	r.outcome.Text = f.Text
	r.outcome.Pieces.Add(f.Text[before:], f.Choices)
	switch {
	case f.Done && f.Model.Empty() && !f.HasUsage:
		r.ended = r.x.op.EndsItself()
		r.finish()
		r.emit(e)
		return
	case f.HasError():
		r.fail(r.x.last().Provider.Driver.Classify(502, none, e.Data).Fault())
		return
	}
	r.p.answeredBy(r.x, f.Model.Of(e.Data))
	if f.FinishReason != "" {
		r.outcome.FinishReason = f.FinishReason
	}
	if f.HasContent {
		r.first()
	}
	if tier := f.ServiceTier.Of(e.Data); len(tier) > 0 && r.x.Tier == "" {
		r.x.Tier = unquoted(tier)
	}
	if f.HasUsage {
		if r.outcome.Usage.Known() {
			f.Tokens = usage.Larger(r.outcome.Usage.Tokens, f.Tokens, f.Most)
		}
		r.outcome.Usage = wire.Usage{Tokens: f.Tokens, Source: usage.Provider}
	} else if f.BadUsage && !r.outcome.Usage.Known() {
		r.outcome.Usage.Bad = true
	} else if f.Partial {
		r.outcome.Usage = wire.Usage{Tokens: f.Tokens, Partial: true}
	}
	if f.Done {
		r.ended = true
		r.finish()
	}
	if r.x.op.Endpoint == driver.Contents && f.FinishReason != "" {
		r.withhold(e)
		return
	}
	r.rewrite(e)
}

// rewrite sends an event with the caller's name for the model, and the caller's ids. It removes usage that the
// caller did not request, and adds the cost to usage that it did.
func (r *Relay) rewrite(e *splice.Event) {
	f := &r.facts
	bare := f.Choices == 0 && !f.Usage.Empty() && !r.x.op.EndsItself()
	if bare && !r.x.Facts.IncludeUsage || r.x.Facts.PathModel == "" && f.OnlyFilter(e.Data) { // Azure's own clients know these
		r.diverge()
		return
	}
	var space [4]splice.Edit
	edits := r.p.appendIDs(space[:0], r.x, &f.ReplyFacts, e.Data)
	if !f.Model.Empty() && string(f.Model.Of(e.Data)) != r.alias {
		edits = append(edits, splice.Edit{Off: f.Model.Off, End: f.Model.End, With: r.alias})
	}
	if bare && f.HasUsage {
		at := f.Usage.End - 1
		edits = append(edits, splice.Edit{Off: at, End: at, With: `,"cost":` + r.x.cost(r.used()).String()})
	}
	if len(edits) == 0 {
		r.emit(e)
		return
	}
	slices.SortFunc(edits, func(a, b splice.Edit) int { return a.Off - b.Off })
	r.diverge()
	r.data = splice.Apply(r.data[:0], e.Data, edits)
	if r.plain(e) {
		r.out = e.Rewrite(r.out, r.data)
	} else {
		r.out = splice.AppendData(r.out, r.data)
	}
}

// used returns the usage that the provider has reported, within what is possible.
func (r *Relay) used() usage.Tokens {
	t, _ := r.facts.Tokens.Within(r.x.estimated().Plausible(r.facts.Tokens, r.outcome.Bytes))
	return t
}

// translate handles an event of another dialect.
func (r *Relay) translate(e *splice.Event) {
	if !e.HasData {
		return
	}
	chunks, err := r.decoder.Event(r.chunks[:0], string(e.Type), e.Data)
	r.chunks = chunks
	if r.x.answered == "" && r.decoder.Model() != "" {
		r.data = splice.Quote(r.data[:0], r.decoder.Model())
		r.p.answeredBy(r.x, r.data)
	}
	for i := range chunks {
		c := &chunks[i]
		if c.Content() {
			r.first()
		}
		if c.Finish != "" {
			r.outcome.FinishReason = string(c.Finish)
		}
		r.outcome.Text = r.trim(r.outcome.Text)
		before := len(r.outcome.Text)
		r.outcome.Text = append(append(append(r.outcome.Text, c.Text...), c.Thinking...), c.Refusal...)
		if c.Tool != nil {
			r.outcome.Text = append(append(r.outcome.Text, c.Tool.Name...), c.Tool.Arguments...)
		}
		r.outcome.Pieces.Add(r.outcome.Text[before:], 1)
		if r.seals {
			r.seal(c)
		}
		r.names.Chunk(c)
		r.out = r.encoder.Chunk(r.out, c)
	}
	if u := r.decoder.Usage(); r.outcome.Usage.Known() && u.Known() {
		r.outcome.Usage.Tokens = usage.Larger(r.outcome.Usage.Tokens, u.Tokens, r.x.estimated().Most(r.outcome.Bytes))
	} else if !r.outcome.Usage.Known() {
		r.outcome.Usage = u
	}
	if err != nil {
		r.fail(failureOf(err).Fault())
		return
	}
	if r.decoder.Ended() {
		r.finish()
	}
}

// finish ends the stream: the provider has sent its last event, or its stream has ended
// after the response did. A stream that ends earlier was cut.
func (r *Relay) finish() {
	if r.done {
		return
	}
	r.release()
	if r.outcome.FinishReason == "" && !r.ended && (r.decoder == nil || !r.decoder.Complete()) {
		r.fail(operation.CutOff())
		return
	}
	r.done = true
	r.outcome.Kind, r.outcome.Code = journal.Success, ""
	if r.x.op.Passes() {
		passed := r.x.passedOutcome()
		r.outcome.Kind, r.outcome.Code = passed.Kind, passed.Code
	}
	if r.speech != nil {
		r.diverge()
		r.out = r.speech.End(r.out)
	}
	if r.decoder == nil {
		return
	}
	u := r.outcome.Usage
	if u.Known() {
		u.Tokens, _ = u.Tokens.Within(r.x.estimated().Plausible(u.Tokens, r.outcome.Bytes))
	} else {
		u.Tokens, u.Source = r.p.consumed(r.x, &r.outcome, attempt.Failure{})
	}
	cost := r.x.cost(u.Tokens)
	u.Cost = &cost
	r.diverge() // the end may come without an event of the provider's
	r.out = r.encoder.End(r.out, &u)
}

// fail ends the stream with the gateway's error event. The caller gets nothing that the
// provider sends after it.
func (r *Relay) fail(e *fault.Error) {
	if r.done {
		return
	}
	r.done = true
	r.outcome.Kind, r.outcome.Code = journal.Failed, codeOf(e)
	if f, ok := errors.AsType[*wire.Failure](e); ok {
		r.x.reportBroken(f, r.outcome.Text)
	}
	r.diverge()
	r.out = r.encoder.Fail(r.out, r.x.withCallersID(e))
}

func (r *Relay) first() {
	if r.x.FirstToken.IsZero() {
		r.x.FirstToken = r.p.deps.Now()
	}
}

// trim counts text that has grown too long to keep, and drops it.
func (r *Relay) trim(text []byte) []byte {
	if len(text) < maxText {
		return text
	}
	r.outcome.Counted += r.p.deps.Tokens.Count(r.x.tokenizer(), string(text))
	return text[:0]
}
