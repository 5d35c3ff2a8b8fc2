package template

import (
	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/syntax"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// machine is one rendering.
type machine struct {
	library.Caller
	where
	resolve Resolver
}

// where is the part of a template that runs.
type where struct {
	env     *env
	tpl     *Template
	context *context
	block   string // that a filter is applied to
}

// enterSource makes the parts of a template the ones that run.
func (m *machine) enterSource(t *Template) { m.tpl, m.Source = t, t.tree.Source }

// goTo goes on at another part.
func (m *machine) goTo(w where) {
	m.where = w
	m.Source = w.tpl.tree.Source
}

// env is a frame at work: its slots and the frame around it.
type env struct {
	slots []values.Value
	outer *env
}

// context is where names are looked up that no frame has.
type context struct {
	values *values.Members
	locals map[string]values.Value // what an included template sees besides; nil for none
}

func (c *context) lookup(name string) values.Value {
	if v, ok := c.locals[name]; ok {
		return v
	}
	if c.values != nil {
		if v, ok := c.values.Get(name); ok {
			return v
		}
	}
	if v, ok := library.GlobalOf(name); ok {
		return v
	}
	return values.Unset{}
}

// resolveError is thrown where a prompt that is included is not found.
type resolveError struct{ err error }

// enter starts a frame.
func (m *machine) enter(f *syntax.Frame) { m.enterIn(&env{}, f) }

// enterIn starts a frame in an env that nothing uses.
func (m *machine) enterIn(e *env, f *syntax.Frame) {
	m.prepare(e, f)
	e.outer = m.env
	m.env = e
	m.start(f)
}

// prepare gives an env slots for a frame, all of which are unset.
func (m *machine) prepare(e *env, f *syntax.Frame) {
	m.Grow(values.WordBytes*len(f.Slots) + 48)
	if cap(e.slots) < len(f.Slots) {
		e.slots = make([]values.Value, len(f.Slots))
	}
	e.slots = e.slots[:len(f.Slots)]
	for i := range e.slots {
		e.slots[i] = values.Unset{}
	}
}

// start gives the slots of a frame the values that it starts with. Parameters keep what
// they have.
func (m *machine) start(f *syntax.Frame) {
	for i := range f.Slots {
		s := &f.Slots[i]
		switch s.Load {
		case syntax.IsParameter:
		case syntax.StartsUnset:
			m.env.slots[i] = values.Unset{}
		case syntax.CopiesOuter:
			m.env.slots[i] = *m.slot(s.Outer)
		case syntax.IsResolved:
			m.env.slots[i] = m.context.lookup(s.Name)
		}
	}
}

// leave ends the frame. Macros that it defined and that outlive it find nothing there.
func (m *machine) leave() {
	for i := range m.env.slots {
		m.env.slots[i] = values.Unset{}
	}
	m.env = m.env.outer
}

func (m *machine) slot(r syntax.Ref) *values.Value {
	e := m.env
	for range r.Up {
		e = e.outer
	}
	return &e.slots[r.Index]
}

// captured returns what body writes, and takes it from the output.
func (m *machine) captured(body func() control) (string, control) {
	start := len(m.Out)
	c := body()
	text := m.Made(string(m.Out[start:]))
	m.Out = m.Out[:start]
	return text, c
}
