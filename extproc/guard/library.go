package guard

import (
	"fmt"
	"sync"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/extproc/guard/engine"
)

// Maker makes an engine of a kind from its settings.
type Maker func(e *guardrails.Engine) (engine.Engine, error)

// Library has the guardrails of a View with their engines. It makes the engines of a guardrail when a request first
// needs them, and keeps them until the guardrail changes. It is safe for concurrent use.
type Library struct {
	makers map[string]Maker // by the name of the engine

	mu    sync.Mutex
	table *guardrails.Set           // mu; the one that the rest is about
	ready map[string]made           // mu; by id
	on    map[id.Organization][]one // mu; those that apply by default
}

// made is a guardrail, and what it was made from.
type made struct {
	from *guardrails.Guardrail
	out  *Guardrail
}

type one = *guardrails.Guardrail

// NewLibrary returns a library with these kinds of engines.
func NewLibrary(makers map[string]Maker) *Library {
	return &Library{makers: makers, ready: make(map[string]made)}
}

// Get returns a guardrail with its engines.
func (l *Library) Get(g *guardrails.Guardrail) *Guardrail {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := l.ready[g.ID]; ok && m.from == g {
		return m.out
	}
	out := l.compile(g)
	l.ready[g.ID] = made{g, out}
	return out
}

// Default returns the guardrails of a table that apply to all requests of an organization: its own
// and everybody's.
func (l *Library) Default(t *guardrails.Set, o id.Organization) []*guardrails.Guardrail {
	if t.Len() == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.table != t {
		l.read(t)
	}
	if o == "" {
		return l.on[""]
	}
	if own := l.on[o]; len(own) > 0 {
		return append(append([]one(nil), l.on[""]...), own...)
	}
	return l.on[""]
}

// read notes which guardrails of a table apply by default, and forgets engines of those that are gone.
func (l *Library) read(t *guardrails.Set) {
	l.table, l.on = t, make(map[id.Organization][]one)
	all := resource.Who{MaySee: func(id.Organization) bool { return true }}
	for g := range t.Newest(all, "") {
		if g.DefaultOn {
			l.on[g.Organization] = append(l.on[g.Organization], g)
		}
	}
	for key := range l.ready {
		if g, ok := t.Get(key); !ok || g != l.ready[key].from {
			delete(l.ready, key)
		}
	}
}

// equip makes the unit's engine.
func (l *Library) equip(u *unit, e *guardrails.Engine) {
	if e.Name == toolPermission {
		u.tools = newTools(e)
		return
	}
	maker := l.makers[e.Name]
	if maker == nil {
		u.broken = fmt.Errorf("no engine %s", e.Name)
		return
	}
	u.engine, u.broken = maker(e)
	if e.Name == "detect_secret" {
		u.mark = "[REDACTED]"
	}
}
