package template

import (
	"fmt"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Bounds of a template and of its rendering. A rendering takes less than 50 ms and 4 MiB.
const (
	MaxSource   = 256 << 10 // bytes of a template
	MaxOutput   = 512 << 10 // bytes of a rendering
	MaxOutputs  = 2 << 20   // bytes of all renderings with one Meter
	MaxIncludes = 5         // templates that include one another

	maxDepth   = 50      // blocks and expressions within others, in a template
	maxNesting = 200     // values within others, and calls of macros within others
	maxSteps   = 200_000 // nodes, items and pieces of text that a rendering visits
	maxBytes   = 1 << 20 // of the values that a rendering makes
)

// Template is a parsed template.
type Template struct {
	source    string
	body      []node
	frame     *frame
	variables []string
	includes  []Reference
}

// Parse reads a template. The error is a *fault.Error with code invalid_template; its
// text names the place and the remedy.
func Parse(source string) (*Template, error) {
	if len(source) > MaxSource {
		return nil, fault.Field("", "too_long", "The template is longer than %d bytes.", MaxSource)
	}
	if !utf8.ValidString(source) {
		return nil, fault.Field("", "invalid_template", "The template is not UTF-8.")
	}
	source = normalized(source)
	tokens, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{source: source, tokens: tokens, stored: map[string]bool{}}
	body, _, err := p.block()
	if err != nil {
		return nil, err
	}
	b := &binder{source: source}
	frame, err := b.bind(body)
	if err != nil {
		return nil, err
	}
	return &Template{source, body, frame, b.variables, p.includes}, nil
}

// Variables returns the names of the values that the template looks up. The caller must
// not change the slice.
func (t *Template) Variables() []string { return t.variables }

// Includes returns the prompts that the template includes, each once, in the order of
// their first use. The caller must not change the slice.
func (t *Template) Includes() []Reference { return t.includes }

// Render renders the template with values. A template that includes others gets them from
// resolve, which may be nil for one without includes. The error is a *fault.Error with
// code template_error where Jinja fails too, or template_too_costly for a rendering that
// exceeds a bound; or it is that of resolve.
func (t *Template) Render(values Values, resolve Resolver) (string, error) {
	var m Meter
	return m.Render(t, values, resolve)
}

// Meter counts the steps, the bytes of values and the output of several renderings together, so
// that the bounds of one rendering hold for all of them; their output may have MaxOutputs bytes. The
// zero value has counted nothing. It is not safe for concurrent use.
type Meter struct {
	counter counter
	out     int
}

// Render renders a template within what is left of the bounds. Otherwise it is as Template.Render.
func (c *Meter) Render(t *Template, values Values, resolve Resolver) (out string, err error) {
	if len(t.body) == 1 { // most messages have no variable
		if text, ok := t.body[0].(*textNode); ok {
			return text.text, nil
		}
	}
	c.counter = counter{steps: c.counter.steps, bytes: c.counter.bytes, out: make([]byte, 0, len(t.source)+len(t.source)/4)}
	m := &machine{caller: caller{&c.counter}, where: where{context: &context{values: values.vars}}, resolve: resolve}
	m.enterSource(t)
	defer func() {
		c.out += len(m.out)
		switch r := recover().(type) {
		case nil:
		case *failure:
			out, err = "", r.err
		case resolveError:
			out, err = "", r.err
		default: // a defect here must not end the process; the values stay out of its text
			out, err = "", &fault.Error{Kind: fault.Internal, Op: "render", Err: fmt.Errorf("a template panics with a %T", r)}
		}
	}()
	m.run()
	if c.out+len(m.out) > MaxOutputs {
		m.costly("the texts of the prompt come to more than %d bytes", MaxOutputs)
	}
	return string(m.out), nil
}

// run renders the template that the machine is at.
func (m *machine) run() {
	m.enter(m.tpl.frame)
	m.nodes(m.tpl.body)
	m.leave()
}

func wrongAt(source string, at int, format string, args ...any) error {
	line, column := position(source, at)
	return fault.Field("", "invalid_template", "Line %d, column %d: %s.", line, column, fmt.Sprintf(format, args...))
}
