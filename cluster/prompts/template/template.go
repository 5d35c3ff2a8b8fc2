package template

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/library"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/syntax"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// Bounds of a template and of its rendering. A rendering takes less than 50 ms and 4 MiB.
const (
	MaxSource   = syntax.MaxSource
	MaxOutput   = values.MaxOutput
	MaxOutputs  = 2 << 20 // bytes of all renderings with one Meter
	MaxIncludes = 5       // templates that include one another
)

// Template is a parsed template.
type Template struct{ tree *syntax.Tree }

// Parse reads a template. The error is a *fault.Error with code invalid_template; its
// text names the place and the remedy.
func Parse(source string) (*Template, error) {
	t, err := syntax.Parse(source)
	if err != nil {
		return nil, err
	}
	return &Template{t}, nil
}

// Variables returns the names of the values that the template looks up. The caller must
// not change the slice.
func (t *Template) Variables() []string { return t.tree.Variables }

// Includes returns the prompts that the template includes, each once, in the order of
// their first use. The caller must not change the slice.
func (t *Template) Includes() []Reference { return t.tree.Includes }

// Values are the values of a template's variables. Objects keep their order and integers
// stay integers. The zero Values has none. Values are immutable and safe for concurrent
// use.
type Values struct{ vars *values.Members }

// Decode reads Values from a JSON object. The error is a *fault.Error with code
// invalid_prompt_variables, without a Param.
func Decode(object []byte) (Values, error) {
	vars, err := values.Decode(object)
	return Values{vars}, err
}

// Render renders the template with the values that are given. A template that includes others gets them from
// resolve, which may be nil for one without includes. The error is a *fault.Error with
// code template_error where Jinja fails too, or template_too_costly for a rendering that
// exceeds a bound; or it is that of resolve.
func (t *Template) Render(given Values, resolve Resolver) (string, error) {
	var m Meter
	return m.Render(t, given, resolve)
}

// Reference names another prompt whose text a template includes:
// {% include "prompt:NAME" %}, "prompt:NAME@3" or "prompt:NAME@LABEL".
type Reference = syntax.Reference

// Resolver returns the template that a reference names. A rendering calls it for each
// include that it reaches. Its error ends the rendering and is returned as it is.
type Resolver func(Reference) (*Template, error)

// Meter counts the steps, the bytes of values and the output of several renderings together, so
// that the bounds of one rendering hold for all of them; their output may have MaxOutputs bytes. The
// renderings also share their memory. The zero value has counted nothing. A Meter is not safe for
// concurrent use.
type Meter struct {
	counter values.Counter
	machine machine
	top     context
	env     env // of the frame of a template that is not included
	out     int
}

// Reset makes the Meter one that has counted nothing. It keeps some of its memory for the next
// renderings, but nothing of values.
func (c *Meter) Reset() {
	const most = 64 << 10 // bytes to keep
	buffer, slots := c.counter.Out[:0], c.env.slots[:cap(c.env.slots)]
	if cap(buffer) > most {
		buffer = nil
	}
	if values.WordBytes*len(slots) > most {
		slots = nil
	}
	clear(slots)
	clear(buffer[:cap(buffer)])
	*c = Meter{counter: values.Counter{Out: buffer}, env: env{slots: slots}}
}

// Render renders a template within what is left of the bounds. Otherwise it is as Template.Render.
func (c *Meter) Render(t *Template, given Values, resolve Resolver) (string, error) {
	if text, ok := t.plain(); ok {
		return text, nil
	}
	out, err := c.render(t, given, resolve)
	return string(out), err
}

// Append is Render that appends the text to dst as a JSON string.
func (c *Meter) Append(dst []byte, t *Template, given Values, resolve Resolver) ([]byte, error) {
	if text, ok := t.plain(); ok {
		return jsontext.AppendQuote(dst, text)
	}
	out, err := c.render(t, given, resolve)
	if err != nil {
		return dst, err
	}
	return jsontext.AppendQuote(dst, out)
}

// plain returns the text of a template without tags. Most messages are one.
func (t *Template) plain() (string, bool) {
	if len(t.tree.Body) != 1 {
		return "", false
	}
	text, ok := t.tree.Body[0].(*syntax.TextNode)
	if !ok {
		return "", false
	}
	return text.Text, true
}

// render returns what a template renders to. The next rendering overwrites it.
func (c *Meter) render(t *Template, given Values, resolve Resolver) (out []byte, err error) {
	buffer := c.counter.Out[:0]
	if size := len(t.tree.Source) + len(t.tree.Source)/4; cap(buffer) < size {
		buffer = make([]byte, 0, size)
	}
	c.counter = values.Counter{Steps: c.counter.Steps, Bytes: c.counter.Bytes, Out: buffer}
	c.top = context{values: given.vars}
	c.machine = machine{Caller: library.Caller{Counter: &c.counter}, where: where{context: &c.top}, resolve: resolve}
	m := &c.machine
	m.enterSource(t)
	defer func() {
		c.out += len(m.Out)
		switch r := recover().(type) {
		case nil:
		case *values.Failure:
			out, err = nil, r.Err
		case resolveError:
			out, err = nil, r.err
		default: // a defect here must not end the process; the values stay out of its text
			out, err = nil, &fault.Error{Kind: fault.Internal, Op: "render", Err: fmt.Errorf("a template panics with a %T", r)}
		}
	}()
	m.enterIn(&c.env, t.tree.Frame)
	m.nodes(t.tree.Body)
	m.leave()
	if c.out+len(m.Out) > MaxOutputs {
		m.Costly("the texts of the prompt come to more than %d bytes", MaxOutputs)
	}
	return m.Out, nil
}

// run renders the included template that the machine is at.
func (m *machine) run() {
	m.enter(m.tpl.tree.Frame)
	m.nodes(m.tpl.tree.Body)
	m.leave()
}
