package template

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// machine is one rendering. It counts what it does, and ends when that is too much.
type machine struct {
	out     []byte
	env     *env
	tpl     *Template
	context *context
	resolve Resolver
	at      int // in the source, for errors

	steps    int
	bytes    int // of the values that the template made
	depth    int
	includes int    // templates that are being rendered within another
	block    string // that a filter is applied to
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

// failure is what a rendering ends with. It is thrown, because nearly every operation
// can fail, and caught in Render.
type failure struct{ err *fault.Error }

// resolveError is thrown where a prompt that is included is not found.
type resolveError struct{ err error }

// fail ends the rendering because Jinja would, too.
func (m *machine) fail(format string, args ...any) {
	panic(&failure{m.wrong("template_error", format, args...)})
}

// costly ends the rendering because it exceeds a bound.
func (m *machine) costly(format string, args ...any) {
	panic(&failure{m.wrong("template_too_costly", format, args...)})
}

func (m *machine) wrong(code, format string, args ...any) *fault.Error {
	line, column := position(m.tpl.source, m.at)
	of := ""
	if m.includes > 0 {
		of = " of an included prompt"
	}
	return fault.Field("", code, "Line %d, column %d%s: %s.", line, column, of, fmt.Sprintf(format, args...))
}

// undefined ends the rendering because a value is needed that is not given.
func (m *machine) missing(u *undefined) {
	m.fail("%s is undefined", u.missing())
}

// step counts n steps.
func (m *machine) step(n int) {
	m.steps += n
	if m.steps > maxSteps {
		m.costly("the template takes more than %d steps", maxSteps)
	}
}

// bytesPerStep is how many bytes of text count as one step.
const bytesPerStep = 64

// work counts reading n bytes of text.
func (m *machine) work(n int) { m.step(n / bytesPerStep) }

// grow counts n bytes of a value before it is made.
func (m *machine) grow(n int) {
	if n < 0 || n > maxBytes-m.bytes {
		m.costly("the template's values come to more than %d bytes", maxBytes)
	}
	m.bytes += n
}

// times is grow for n things of some bytes, which may overflow.
func (m *machine) times(n, size int) {
	if size > 0 && n > maxBytes/size {
		m.costly("the template's values come to more than %d bytes", maxBytes)
	}
	m.grow(max(0, n) * size)
}

// deeper counts a level of nesting; higher ends it.
func (m *machine) deeper() {
	if m.depth++; m.depth > maxNesting {
		m.costly("values or calls are nested more than %d deep", maxNesting)
	}
}

func (m *machine) higher() { m.depth-- }

// room ends the rendering if a text has become too long.
func (m *machine) room(length int) {
	if length > MaxOutput {
		m.costly("the text is longer than %d bytes", MaxOutput)
	}
}

// made counts a text that was made and returns it.
func (m *machine) made(s string) string {
	m.work(len(s))
	m.grow(len(s) + 16)
	return s
}

const wordBytes = 16 // of a value in a list

// newList counts and returns a list.
func (m *machine) newList(items []value) *list {
	m.grow(wordBytes*len(items) + 24)
	m.step(len(items) / 8)
	return &list{items}
}

func (m *machine) newTuple(items ...value) *tuple {
	m.grow(wordBytes*len(items) + 32)
	return &tuple{items: items}
}

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

func (m *machine) write(s string) {
	m.room(len(m.out) + len(s))
	m.work(len(s))
	m.out = append(m.out, s...)
}
