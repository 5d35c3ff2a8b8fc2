package guard

import (
	"slices"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
)

// Action is what happens to what an engine finds.
type Action string

// The actions.
const (
	Anonymize Action = "anonymize" // it is replaced
	Block     Action = "block"     // the request or the response is blocked
	Flag      Action = "flag"      // it is recorded, and passes
)

// Guardrail is a guardrail whose engines are ready. It never changes, but for the scanners that it
// keeps for the next request, and is safe for concurrent use.
type Guardrail struct {
	ID, Name string
	units    []*unit
}

// unit is an engine with what the guardrail says of it.
type unit struct {
	guardrail string // its name
	name      string // of the engine
	pre, post bool
	action    Action // empty: what the engine says of a finding
	passes    bool   // a text that cannot be examined passes
	readable  bool   // media, which cannot be examined, is blocked
	reverses  bool   // what was replaced is put back into the response
	mark      string // what replaces findings; empty: the entity in brackets
	message   string // of a blocked request
	broken    error  // why there is no engine
	tools     *tools // of tool_permission; engine is nil
	engine    engine.Engine
	scanners  sync.Pool // of engine.Scanner
}

// scanner returns a scanner, which release takes back.
func (u *unit) scanner() engine.Scanner {
	if s, ok := u.scanners.Get().(engine.Scanner); ok {
		return s
	}
	return u.engine.Scanner()
}

func (u *unit) release(s engine.Scanner) {
	s.Reset()
	u.scanners.Put(s)
}

// replacement returns what replaces a finding.
func (u *unit) replacement(entity string) string {
	if u.mark != "" {
		return u.mark
	}
	return "[" + entity + "]"
}

// compile returns a guardrail with its engines.
func (l *Library) compile(g *guardrails.Guardrail) *Guardrail {
	out := &Guardrail{ID: g.ID, Name: g.Name}
	for i := range g.Engines {
		e := &g.Engines[i]
		u := &unit{
			guardrail: g.Name, name: e.Name, action: actionOf(e), message: e.ViolationMessage,
			pre: slices.Contains(e.Hooks, guardrails.PreCall), post: slices.Contains(e.Hooks, guardrails.PostCall),
			passes: e.OnError == "pass", readable: e.Unscannable == "block", reverses: e.Reversible,
		}
		l.equip(u, e)
		out.units = append(out.units, u)
	}
	return out
}

// actionOf returns what an engine does with what it finds.
func actionOf(e *guardrails.Engine) Action {
	switch e.Action {
	case "block":
		return Block
	case "flag":
		return Flag
	case "":
		return defaultAction(e.Name)
	}
	return Anonymize // anonymize, or redact
}

// actionOf returns what happens to a finding. What an engine has no valid action for is blocked.
func (u *unit) actionOf(f *engine.Finding) Action {
	if u.action != "" {
		return u.action
	}
	switch a := Action(f.Action); a {
	case Anonymize, Flag:
		return a
	case Block:
	}
	return Block
}

// defaultAction is what an engine does with what it finds, if its settings do not say so.
func defaultAction(name string) Action {
	switch name {
	case "content_filter":
		return Block
	case "prompt_injection":
		return Flag
	case "http":
		return ""
	}
	return Anonymize
}
