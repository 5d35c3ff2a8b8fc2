package template

import (
	"fmt"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Bounds of a template and of its rendering.
const (
	MaxSource = 256 << 10 // bytes of a template
	MaxOutput = 1 << 20   // bytes of a rendering
	maxDepth  = 20        // blocks within blocks, and parentheses within parentheses
	maxSteps  = 100_000   // nodes that a rendering visits
)

// Template is a parsed template.
type Template struct {
	body      []node
	variables []string
	includes  []Reference
}

// Parse reads a template. The error is a *fault.Error with code invalid_template; its
// text names the place and the remedy.
func Parse(source string) (*Template, error) {
	if len(source) > MaxSource {
		return nil, fault.Field("", "too_long", "The template is longer than %d bytes.", MaxSource)
	}
	items, err := split(source)
	if err != nil {
		return nil, err
	}
	p := &parser{items: items, source: source}
	body, end, err := p.block(0)
	if err != nil {
		return nil, err
	}
	if end.word != "" {
		return nil, p.wrong(end.at, "there is no block that {%% %s %%} could be of", end.word)
	}
	return &Template{body: body, variables: p.variables}, nil
}

// Variables returns the names of the values that the template uses, in the order of
// their first use. The caller must not change the slice.
func (t *Template) Variables() []string { return t.variables }

// Includes returns the prompts that the template includes, each once, in the order of
// their first use. The caller must not change the slice.
func (t *Template) Includes() []Reference { return t.includes }

// Render renders the template with values. A template that includes others gets them from
// resolve, which may be nil for one without includes. The error is a *fault.Error for a
// rendering that exceeds a bound.
func (t *Template) Render(values Values, _ Resolver) (string, error) {
	if len(t.body) == 1 { // most messages have no variable
		if text, ok := t.body[0].(textNode); ok {
			return string(text), nil
		}
	}
	r := renderer{values: values.vars}
	if err := r.nodes(t.body); err != nil {
		return "", err
	}
	return string(r.out), nil
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

func wrongAt(source string, at int, format string, args ...any) error {
	line, column := position(source, at)
	return fault.Field("", "invalid_template", "Line %d, column %d: %s.", line, column, fmt.Sprintf(format, args...))
}
