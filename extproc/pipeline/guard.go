package pipeline

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// guard applies the guardrails for requests. All stages after it, and each attempt, have the body that it
// leaves. A request without guardrails keeps its own.
func (p *Pipeline) guard(ctx context.Context, x *Exchange) error {
	list, err := p.applied(x)
	if err != nil {
		return err
	}
	if x.Options.GuardrailsInMetadata {
		if err := p.rebody(x, withoutGuardrails(x.Body)); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	x.guardrails = guard.New(list, func(ctx context.Context, guardrail, engine string, err error) {
		p.deps.Logger.LogAttrs(ctx, slog.LevelWarn, "a guardrail could not examine a text", slog.String("request_id", string(x.ID)),
			slog.String("guardrail", guardrail), slog.String("engine", engine), slog.Any("error", err))
	})
	x.guardrails.About(engine.Call{Request: string(x.ID), Organization: string(x.Principal.Organization), Team: string(x.Principal.Team)})
	if !x.guardrails.Pre() {
		return nil
	}
	body, err := p.guarded(ctx, x)
	if err != nil || sameBytes(body, x.Body) {
		return err
	}
	return p.rebody(x, body)
}

// applied returns the guardrails of a request, each once: those that it names, those of its key, team
// and organization, those of its model, and those that apply to all.
func (p *Pipeline) applied(x *Exchange) ([]*guard.Guardrail, error) {
	named, bound, ofModel := x.Options.Guardrails, x.Principal.Guardrails(), x.modelGuardrails()
	if p.deps.Guardrails == nil || x.View.Guardrails == nil {
		if len(named) > 0 {
			return nil, noGuardrail(named[0].Param)
		}
		for i := range bound {
			if len(bound[i].IDs) > 0 {
				return nil, noBoundGuardrail(bound[i].Of)
			}
		}
		if len(ofModel) > 0 {
			return nil, noBoundGuardrail("model")
		}
		return nil, nil
	}
	var out []*guard.Guardrail
	add := func(g *guardrails.Guardrail) {
		ready := p.deps.Guardrails.Get(g)
		if !slices.Contains(out, ready) {
			out = append(out, ready)
		}
	}
	for _, ref := range named {
		g, err := x.View.Guardrails.Find(nil, ref.Param, ref.Name, x.promptReader())
		if err != nil {
			return nil, noGuardrail(ref.Param)
		}
		add(g)
	}
	for i := range bound {
		for _, guardrail := range bound[i].IDs {
			g, ok := x.View.Guardrails.Get(guardrail)
			if !ok || g.Organization != "" && g.Organization != x.Principal.Organization {
				return nil, noBoundGuardrail(bound[i].Of)
			}
			add(g)
		}
	}
	for _, ref := range ofModel {
		g, err := x.View.Guardrails.Find(nil, "model", ref, resource.Everybodys())
		if err != nil {
			return nil, noBoundGuardrail("model")
		}
		add(g)
	}
	for _, g := range p.deps.Guardrails.Default(x.View.Guardrails, x.Principal.Organization) {
		add(g)
	}
	return out, nil
}

// noGuardrail is the error for a guardrail that the request names. Without it, what it should stop
// would pass.
func noGuardrail(param string) error {
	return &fault.Error{
		Kind: fault.Malformed, Code: "guardrail_not_found", Param: param,
		Detail: "There is no guardrail of that name that this key may use.",
	}
}

// modelGuardrails returns the ids and names of the guardrails of all deployments that the request may reach, with
// whatever retries and fallbacks it asks for. Route has yet to choose among them.
func (x *Exchange) modelGuardrails() []string {
	group, ok := x.View.Catalog.Group(x.Model)
	if !ok {
		return nil // route rejects the request
	}
	return x.View.Catalog.Guarded(group)
}

// noBoundGuardrail is the error for a guardrail that the key, its team, its organization or the model has, and
// that does not exist or is another organization's: a team was moved, or the file names one that is not created yet.
func noBoundGuardrail(of string) error {
	return &fault.Error{
		Kind: fault.Malformed, Code: "guardrail_not_found", Param: "guardrail_id",
		Detail: "The guardrails of the " + of + " have one that does not exist, or that another organization has. Have guardrails of the " + of + " changed.",
	}
}

// guardTime is how long guardrails have worked on a request; 0 if none has.
type guardTime struct{ request, response time.Duration }

// since adds the time since start. It is never 0, so a coarse clock hides no use.
func (p *Pipeline) since(to *time.Duration, start time.Time) {
	*to += max(p.deps.Now().Sub(start), 1)
}

// measureGuardrails counts what the guardrails of a request found, and how long they took, when it has ended.
func (p *Pipeline) measureGuardrails(ctx context.Context, x *Exchange) {
	if x.guardrails == nil {
		return
	}
	p.deps.Metrics.Guarded(ctx, x.guardrails.Violations())
	if took := x.guardTime.request; took > 0 {
		p.deps.Metrics.GuardrailsTook(ctx, guardrails.PreCall, x.Facts.Stream, took)
	}
	if took := x.guardTime.response; took > 0 {
		p.deps.Metrics.GuardrailsTook(ctx, guardrails.PostCall, x.response.relay != nil, took)
	}
}

// guarded returns the body that the guardrails leave.
func (p *Pipeline) guarded(ctx context.Context, x *Exchange) ([]byte, error) {
	defer p.since(&x.guardTime.request, p.deps.Now())
	if !x.op.IsForm() {
		return x.guardrails.Request(ctx, x.op.Texts, x.Body)
	}
	parts := x.Facts.Form()
	fields := make([]guard.Field, 0, len(parts))
	for i := range parts {
		f := guard.Field{Name: string(parts[i].Name), Span: parts[i].Value, Kind: texts.Content}
		switch {
		case parts[i].IsFile:
			f.Kind = texts.Media
		case f.Name == "model":
			continue
		}
		fields = append(fields, f)
	}
	return x.guardrails.Form(ctx, x.Body, fields)
}

// withoutGuardrails returns a body whose metadata names no guardrails: the provider would not know them.
func withoutGuardrails(body []byte) []byte {
	o := splice.ReadObject(body)
	inner := splice.ReadObject(o.Get("metadata"))
	inner.Remove("guardrails")
	inner.Remove("guardrail_id")
	if inner.Len() == 0 {
		o.Remove("metadata")
	} else {
		o.Set("metadata", inner.Append(nil))
	}
	return o.Append(nil)
}

// screen applies the guardrails for responses to a whole one. The provider is not to blame for a response
// that they block, and is paid for it.
func (p *Pipeline) screen(ctx context.Context, x *Exchange) error {
	r := &x.response
	if !x.guardrails.Post() || r.speech {
		return nil
	}
	start := p.deps.Now()
	var out []byte
	var err error
	if x.op.Hears() && r.head.Media != x.op.Response { // text or subtitles
		out, err = x.guardrails.Plain(ctx, r.out)
	} else {
		out, err = x.guardrails.Answer(ctx, x.op.Texts, r.out, x.op.Structured(x.Facts.Document()))
	}
	p.since(&x.guardTime.response, start)
	if err != nil {
		r.fault = p.stopped(x, &r.outcome, err)
		r.outcome.status = r.fault.HTTPStatus()
		return nil
	}
	r.out = out
	return nil
}

// stopped notes that a guardrail has blocked a response, and returns the caller's error.
func (p *Pipeline) stopped(x *Exchange, o *Outcome, err error) *fault.Error {
	e := fault.From(err)
	o.Kind, o.Code = journal.Success, codeOf(e)
	p.blocked(x, e)
	return e
}

// headerGuardrails is the header of a response that names the guardrails that were applied.
const headerGuardrails = "x-gateway-applied-guardrails"

// appendGuardrails adds the header that names the guardrails, if there are any.
func (x *Exchange) appendGuardrails(dst []message.Header) []message.Header {
	if x.guardrails == nil {
		return dst
	}
	return append(dst, message.Header{Name: headerGuardrails, Value: strings.Join(x.guardrails.Names(), ",")})
}

// addGuardrails says in the last event of a request which guardrails were applied, and what they found. The journal
// reads it later, when they may find more.
func (x *Exchange) addGuardrails(r *usage.Result) {
	if x.guardrails != nil {
		r.Guardrails, r.Violations = x.guardrails.Names(), slices.Clone(x.guardrails.Violations())
	}
}

// sameBytes reports whether two slices are the same memory.
func sameBytes(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
