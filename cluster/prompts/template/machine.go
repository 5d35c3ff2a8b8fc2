package template

// machine is one rendering.
type machine struct {
	caller
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
func (m *machine) enterSource(t *Template) { m.tpl, m.source = t, t.tree.source }

// goTo goes on at another part.
func (m *machine) goTo(w where) {
	m.where = w
	m.source = w.tpl.tree.source
}

// env is a frame at work: its slots and the frame around it.
type env struct {
	slots []value
	outer *env
}

// context is where names are looked up that no frame has.
type context struct {
	values *dict
	locals map[string]value // what an included template sees besides; nil for none
}

func (c *context) lookup(name string) value {
	if v, ok := c.locals[name]; ok {
		return v
	}
	if c.values != nil {
		if v, ok := c.values.text(name); ok {
			return v
		}
	}
	if v, ok := globalOf(name); ok {
		return v
	}
	return unset{}
}

// resolveError is thrown where a prompt that is included is not found.
type resolveError struct{ err error }

// enter starts a frame.
func (m *machine) enter(f *frame) {
	m.env = m.newEnv(f, m.env)
	m.start(f)
}

// newEnv returns a frame at work, all of whose slots are unset.
func (m *machine) newEnv(f *frame, outer *env) *env {
	m.grow(wordBytes*len(f.slots) + 48)
	e := &env{outer: outer}
	if len(f.slots) > 0 {
		e.slots = make([]value, len(f.slots))
		for i := range e.slots {
			e.slots[i] = unset{}
		}
	}
	return e
}

// start gives the slots of a frame the values that it starts with. Parameters keep what
// they have.
func (m *machine) start(f *frame) {
	for i := range f.slots {
		s := &f.slots[i]
		switch s.load {
		case isParameter:
		case startsUnset:
			m.env.slots[i] = unset{}
		case copiesOuter:
			m.env.slots[i] = *m.slot(s.outer)
		case isResolved:
			m.env.slots[i] = m.context.lookup(s.name)
		}
	}
}

// leave ends the frame. Macros that it defined and that outlive it find nothing there.
func (m *machine) leave() {
	for i := range m.env.slots {
		m.env.slots[i] = unset{}
	}
	m.env = m.env.outer
}

func (m *machine) slot(r ref) *value {
	e := m.env
	for range r.up {
		e = e.outer
	}
	return &e.slots[r.index]
}

// captured returns what body writes, and takes it from the output.
func (m *machine) captured(body func() control) (string, control) {
	start := len(m.out)
	c := body()
	text := m.made(string(m.out[start:]))
	m.out = m.out[:start]
	return text, c
}
