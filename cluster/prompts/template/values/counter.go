package values

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Bounds of a rendering.
const (
	MaxOutput  = 512 << 10 // bytes of its text
	maxNesting = 200       // values within others, and calls of macros within others
	maxSteps   = 200_000   // nodes, items and pieces of text that it visits
	MaxBytes   = 1 << 20   // of the values that it makes
)

// Counter counts what one rendering does, and ends it when that is too much.
type Counter struct {
	Out      []byte
	Source   string // of the template that runs
	At       int    // in the source, for errors
	Includes int    // templates that are being rendered within another

	Steps int
	Bytes int // of the values that the template made
	depth int
}

// Failure is what a rendering ends with. It is thrown, because nearly every operation
// can fail, and caught in Render.
type Failure struct{ Err *fault.Error }

// Fail ends the rendering because Jinja would, too.
func (m *Counter) Fail(format string, args ...any) {
	panic(&Failure{m.Wrong("template_error", format, args...)})
}

// Costly ends the rendering because it exceeds a bound.
func (m *Counter) Costly(format string, args ...any) {
	panic(&Failure{m.Wrong("template_too_costly", format, args...)})
}

// Wrong returns an error with a code about the place that the template is at.
func (m *Counter) Wrong(code, format string, args ...any) *fault.Error {
	line, column := Position(m.Source, m.At)
	of := ""
	if m.Includes > 0 {
		of = " of an included prompt"
	}
	return fault.Field("", code, "Line %d, column %d%s: %s.", line, column, of, fmt.Sprintf(format, args...))
}

// Missing ends the rendering because a value is needed that is not given.
func (m *Counter) Missing(u *Undefined) {
	m.Fail("%s is undefined", u.missing())
}

// Step counts n steps.
func (m *Counter) Step(n int) {
	m.Steps += n
	if m.Steps > maxSteps {
		m.Costly("the template takes more than %d steps", maxSteps)
	}
}

// BytesPerStep is how many bytes of text count as one step.
const BytesPerStep = 64

// Work counts reading n bytes of text.
func (m *Counter) Work(n int) { m.Step(n / BytesPerStep) }

// Grow counts n bytes of a value before it is made.
func (m *Counter) Grow(n int) {
	if n < 0 || n > MaxBytes-m.Bytes {
		m.Costly("the template's values come to more than %d bytes", MaxBytes)
	}
	m.Bytes += n
}

// Times is grow for n things of some bytes, which may overflow.
func (m *Counter) Times(n, size int) {
	if size > 0 && n > MaxBytes/size {
		m.Costly("the template's values come to more than %d bytes", MaxBytes)
	}
	m.Grow(max(0, n) * size)
}

// Deeper counts a level of nesting; higher ends it.
func (m *Counter) Deeper() {
	if m.depth++; m.depth > maxNesting {
		m.Costly("values or calls are nested more than %d deep", maxNesting)
	}
}

// Higher ends a level of nesting that Deeper began.
func (m *Counter) Higher() { m.depth-- }

// Room ends the rendering if a text has become too long.
func (m *Counter) Room(length int) {
	if length > MaxOutput {
		m.Costly("the text is longer than %d bytes", MaxOutput)
	}
}

// Made counts a text that was made and returns it.
func (m *Counter) Made(s string) string {
	m.Work(len(s))
	m.Grow(len(s) + 16)
	return s
}

// WordBytes is what a value in a list takes.
const WordBytes = 16

// NewList counts and returns a list.
func (m *Counter) NewList(items []Value) *List {
	m.Grow(WordBytes*len(items) + 24)
	m.Step(len(items) / 8)
	return &List{items}
}

// NewTuple counts and returns a tuple.
func (m *Counter) NewTuple(items ...Value) *Tuple {
	m.Grow(WordBytes*len(items) + 32)
	return &Tuple{Items: items}
}

func (m *Counter) Write(s string) {
	m.Room(len(m.Out) + len(s))
	m.Work(len(s))
	m.Out = append(m.Out, s...)
}

// Position is where a byte of the source is, as people count.
func Position(source string, at int) (line, column int) {
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
