package syntax

import (
	"fmt"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts/template/values"
)

// Bounds of a template.
const (
	MaxSource = 256 << 10 // bytes
	maxDepth  = 50        // blocks and expressions within others
)

// Tree is a parsed template. It is immutable.
type Tree struct {
	Source    string
	Body      []Node
	Frame     *Frame
	Variables []string // names of the values that the template looks up
	Includes  []Reference
}

// Parse reads a template. The error is a *fault.Error with code invalid_template; its
// text names the place and the remedy.
func Parse(source string) (*Tree, error) {
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
	return &Tree{source, body, frame, b.variables, p.includes}, nil
}

func wrongAt(source string, at int, format string, args ...any) error {
	line, column := values.Position(source, at)
	return fault.Field("", "invalid_template", "Line %d, column %d: %s.", line, column, fmt.Sprintf(format, args...))
}
