package guard

import (
	"context"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
)

// MaxText bounds the texts of a request or response that engines examine, in bytes.
const MaxText = 8 << 20

// Screen applies guardrails to one request and its response. It is not safe for concurrent use.
type Screen struct {
	guardrails []*Guardrail
	memory     memory
	pre        []run
	post       []run
	violations []usage.Violation
	about      engine.Call
	errors     func(ctx context.Context, guardrail, engine string, err error)
}

// run is an engine that examines this request or response.
type run struct {
	unit    *unit
	scanner engine.Scanner // of the request; nil if it examines only the response
}

// New returns a screen for guardrails, in the order in which they apply. failed gets the reason why an engine could not
// examine a text; it may be nil.
func New(list []*Guardrail, failed func(ctx context.Context, guardrail, engine string, err error)) *Screen {
	s := &Screen{guardrails: list, errors: failed}
	for _, g := range list {
		for _, u := range g.units {
			r := run{unit: u}
			if u.pre {
				s.pre = append(s.pre, r)
			}
			if u.post {
				s.post = append(s.post, r)
			}
		}
	}
	return s
}

// About says what the screen's request is, for engines that tell it to a service. Call it before the first text.
func (s *Screen) About(request engine.Call) { s.about = request }

// inform tells a scanner what its texts belong to.
func (c *chain) inform(u *unit, to engine.Scanner) {
	if i, ok := to.(engine.Informed); ok {
		about := c.s.about
		about.Guardrail, about.Hook = u.guardrail, c.hook
		i.Inform(about)
	}
}

// Names returns the names of the guardrails.
func (s *Screen) Names() []string {
	out := make([]string, len(s.guardrails))
	for i, g := range s.guardrails {
		out[i] = g.Name
	}
	return out
}

// Violations returns what was found so far.
func (s *Screen) Violations() []usage.Violation { return s.violations }

// Pre reports whether an engine examines the request.
func (s *Screen) Pre() bool { return s != nil && len(s.pre) > 0 }

// Post reports whether the response can change: an engine examines it, or it gets back what was replaced
// in the request.
func (s *Screen) Post() bool { return s != nil && (len(s.post) > 0 || !s.memory.empty()) }

// changes reports whether the response's texts can become others.
func (s *Screen) changes() bool {
	return !s.memory.empty() || slices.ContainsFunc(s.post, func(r run) bool { return r.unit.action != Flag })
}

// requestChain returns the chain for the texts of the request.
func (s *Screen) requestChain(ctx context.Context) (*chain, error) {
	c := &chain{s: s, hook: guardrails.PreCall}
	for i := range s.pre {
		u := s.pre[i].unit
		if u.tools != nil {
			continue
		}
		if u.broken != nil {
			if err := c.failed(ctx, u, u.broken); err != nil {
				return nil, err
			}
			continue
		}
		if s.pre[i].scanner == nil {
			s.pre[i].scanner = u.scanner()
			c.inform(u, s.pre[i].scanner)
		}
		c.steps = append(c.steps, step{unit: u, scanner: s.pre[i].scanner})
	}
	return c, nil
}

// answerChain returns a chain for one text of the response. Its scanners know what those of the request
// have learned.
func (s *Screen) answerChain(ctx context.Context) (*chain, error) {
	c := &chain{s: s, hook: guardrails.PostCall}
	for i := range s.post {
		u := s.post[i].unit
		if u.tools != nil {
			continue
		}
		if u.broken != nil {
			if err := c.failed(ctx, u, u.broken); err != nil {
				return nil, err
			}
			continue
		}
		t := step{unit: u}
		if of := slices.IndexFunc(s.pre, func(r run) bool { return r.unit == u && r.scanner != nil }); of >= 0 {
			t.scanner = s.pre[of].scanner.Fork()
		} else {
			t.scanner = u.scanner()
		}
		c.inform(u, t.scanner)
		c.steps = append(c.steps, t)
	}
	if !s.memory.empty() {
		c.steps = append(c.steps, step{})
	}
	return c, nil
}

// Release gives back what the screen has borrowed. The screen must not be used after it, but for Names and
// Violations.
func (s *Screen) Release() {
	if s == nil {
		return
	}
	for i := range s.pre {
		if r := &s.pre[i]; r.scanner != nil {
			r.unit.release(r.scanner)
			r.scanner = nil
		}
	}
	s.memory = memory{}
}

// replacement returns what replaces a value.
func (s *Screen) replacement(u *unit, f *engine.Finding, value []byte) string {
	switch {
	case u.reverses:
		return s.memory.mark(f.Entity, string(value))
	case f.Replaced:
		return f.Replacement
	}
	return u.replacement(f.Entity)
}

// failed is called for a text that an engine cannot examine. nil lets the text pass.
func (c *chain) failed(ctx context.Context, u *unit, err error) error {
	if c.s.errors != nil && ctx.Err() == nil { // the engine has not failed if the caller is gone
		c.s.errors(ctx, u.guardrail, u.name, err)
	}
	if u.passes {
		return nil
	}
	return &fault.Error{
		Kind: fault.Unavailable, Code: "guardrail_unavailable", Err: err,
		Detail:  "The guardrail " + u.guardrail + " cannot examine the text: its engine " + u.name + " does not respond or fails. Try again later.",
		Details: map[string]any{"guardrail_id": u.guardrail, "engine": u.name, "hook": c.hook},
	}
}

// blocked returns the error of a request or response that an engine blocks.
func (s *Screen) blocked(u *unit, hook, entity string) error {
	text := u.message
	if text == "" {
		text = subject(hook) + " is blocked by the guardrail " + u.guardrail + ": it has " + entity + "."
	}
	return &fault.Error{
		Kind: fault.Blocked, Code: "guardrail_blocked", Detail: text,
		Details: map[string]any{"guardrail_id": u.guardrail, "engine": u.name, "hook": hook, "entities": []string{entity}},
	}
}

// subject names what is examined in the texts of errors.
func subject(hook string) string {
	if hook == guardrails.PostCall {
		return "The response"
	}
	return "The request"
}
