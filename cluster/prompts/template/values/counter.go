package template

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Bounds of a rendering.
const (
	maxOutput  = 512 << 10 // bytes of its text
	maxNesting = 200       // values within others, and calls of macros within others
	maxSteps   = 200_000   // nodes, items and pieces of text that it visits
	maxBytes   = 1 << 20   // of the values that it makes
)

// counter counts what one rendering does, and ends it when that is too much.
type counter struct {
	out      []byte
	source   string // of the template that runs
	at       int    // in the source, for errors
	includes int    // templates that are being rendered within another

	steps int
	bytes int // of the values that the template made
	depth int
}

// failure is what a rendering ends with. It is thrown, because nearly every operation
// can fail, and caught in Render.
type failure struct{ err *fault.Error }

// fail ends the rendering because Jinja would, too.
func (m *counter) fail(format string, args ...any) {
	panic(&failure{m.wrong("template_error", format, args...)})
}

// costly ends the rendering because it exceeds a bound.
func (m *counter) costly(format string, args ...any) {
	panic(&failure{m.wrong("template_too_costly", format, args...)})
}

func (m *counter) wrong(code, format string, args ...any) *fault.Error {
	line, column := position(m.source, m.at)
	of := ""
	if m.includes > 0 {
		of = " of an included prompt"
	}
	return fault.Field("", code, "Line %d, column %d%s: %s.", line, column, of, fmt.Sprintf(format, args...))
}

// undefined ends the rendering because a value is needed that is not given.
func (m *counter) missing(u *undefined) {
	m.fail("%s is undefined", u.missing())
}

// step counts n steps.
func (m *counter) step(n int) {
	m.steps += n
	if m.steps > maxSteps {
		m.costly("the template takes more than %d steps", maxSteps)
	}
}

// bytesPerStep is how many bytes of text count as one step.
const bytesPerStep = 64

// work counts reading n bytes of text.
func (m *counter) work(n int) { m.step(n / bytesPerStep) }

// grow counts n bytes of a value before it is made.
func (m *counter) grow(n int) {
	if n < 0 || n > maxBytes-m.bytes {
		m.costly("the template's values come to more than %d bytes", maxBytes)
	}
	m.bytes += n
}

// times is grow for n things of some bytes, which may overflow.
func (m *counter) times(n, size int) {
	if size > 0 && n > maxBytes/size {
		m.costly("the template's values come to more than %d bytes", maxBytes)
	}
	m.grow(max(0, n) * size)
}

// deeper counts a level of nesting; higher ends it.
func (m *counter) deeper() {
	if m.depth++; m.depth > maxNesting {
		m.costly("values or calls are nested more than %d deep", maxNesting)
	}
}

func (m *counter) higher() { m.depth-- }

// room ends the rendering if a text has become too long.
func (m *counter) room(length int) {
	if length > maxOutput {
		m.costly("the text is longer than %d bytes", maxOutput)
	}
}

// made counts a text that was made and returns it.
func (m *counter) made(s string) string {
	m.work(len(s))
	m.grow(len(s) + 16)
	return s
}

const wordBytes = 16 // of a value in a list

// newList counts and returns a list.
func (m *counter) newList(items []value) *list {
	m.grow(wordBytes*len(items) + 24)
	m.step(len(items) / 8)
	return &list{items}
}

func (m *counter) newTuple(items ...value) *tuple {
	m.grow(wordBytes*len(items) + 32)
	return &tuple{items: items}
}

func (m *counter) write(s string) {
	m.room(len(m.out) + len(s))
	m.work(len(s))
	m.out = append(m.out, s...)
}

// position is where a byte of the source is, as people count.
func position(source string, at int) (line, column int) {
	line, column = 1, 1
	for _, c := range source[:min(at, len(source))] {
		if c == '\n' {
			line, column = line+1, 1
			continue
		}
		column++
	}
	return line, column
}
