package prompts

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
)

// Bounds of the content of a version.
const (
	maxContent   = 512 << 10 // bytes of all messages
	maxMessages  = 200
	maxParts     = 100
	maxPartDepth = 16
)

// program is a version as Compose runs it. It is immutable.
type program struct {
	messages  []compiledMessage
	partial   *template.Template // what other prompts include: the text of the only message; nil if it is no text
	schema    *schema            // nil for none
	variables []string           // that the templates and placeholders use, in the order of their first use
	includes  []template.Reference
	size      int // bytes of the messages
}

// compiledMessage is a message whose templates were parsed.
type compiledMessage struct {
	role        string
	placeholder string         // the name of a placeholder; empty for a message
	constant    jsontext.Value // the content of a message without templates; nil if it has some
	pieces      []piece        // of the content otherwise, in order
}

// piece is JSON as it is, or a template that becomes a JSON string.
type piece struct {
	raw  []byte
	text *template.Template
}

// program returns the version as Compose runs it. It was checked when it was stored, so an error
// is one of a newer or an older gateway's template.
func (v *Version) program() (*program, error) {
	if p := v.compiled.Load(); p != nil {
		return p, nil
	}
	p, err := compile(&v.Content)
	if err != nil {
		return nil, err
	}
	v.compiled.Store(p)
	if v.packed != nil {
		v.open.keep(v)
	}
	return p, nil
}

// compile checks the messages and the schema of a version. The error is a *fault.Error that names
// the field.
func compile(c *Content) (*program, error) {
	out := &program{messages: make([]compiledMessage, len(c.Messages))}
	if len(c.Messages) > maxMessages {
		return nil, fault.Field("messages", "too_long", "messages has more than %d messages.", maxMessages)
	}
	size, callers := 0, 0
	for i := range c.Messages {
		m := &c.Messages[i]
		at := "messages[" + strconv.Itoa(i) + "]"
		size += len(m.Content) + len(m.Parts)
		if m.Role == RolePlaceholder && m.Name == CallerMessages {
			callers++
		}
		b := messageBuilder{program: out, at: at, only: len(c.Messages) == 1}
		one, err := b.message(m)
		if err != nil {
			return nil, err
		}
		out.messages[i] = one
	}
	switch {
	case size > maxContent:
		return nil, fault.Field("messages", "too_long", "The messages come to more than %d bytes. Make them shorter.", maxContent)
	case callers > 1:
		return nil, fault.Field("messages", "invalid_value", "messages has %d placeholders called %s. The messages of a request can be in one place only.", callers, CallerMessages)
	}
	out.size = size
	var err error
	if c.Schema != nil {
		out.schema, err = parseSchema("variable_schema", c.Schema)
	}
	return out, err
}

// messageBuilder compiles one message.
type messageBuilder struct {
	program *program
	at      string // the message's path in the request
	only    bool   // the version has no other message
	pieces  []piece
	last    *template.Template // that was read last
}

func (b *messageBuilder) message(m *Message) (compiledMessage, error) {
	switch {
	case m.Role == RolePlaceholder:
		return b.placeholder(m)
	case !slices.Contains([]string{"system", "developer", "user", "assistant"}, m.Role):
		return compiledMessage{}, fault.Field(b.at+".role", "invalid_value", "%s.role must be system, developer, user, assistant or placeholder.", b.at)
	case m.Name != "":
		return compiledMessage{}, fault.Field(b.at+".name", "invalid_value", "Only a placeholder has a name. Remove %s.name.", b.at)
	}
	var err error
	if m.Parts != nil {
		err = b.parts(m.Parts)
	} else if err = b.text(b.at+".content", m.Content); err == nil && b.only {
		b.program.partial = b.last
	}
	out := compiledMessage{role: m.Role, pieces: b.pieces}
	if len(b.pieces) == 1 && b.pieces[0].text == nil {
		out.constant, out.pieces = b.pieces[0].raw, nil
	}
	return out, err
}

func (b *messageBuilder) placeholder(m *Message) (compiledMessage, error) {
	switch {
	case m.Content != "" || m.Parts != nil:
		return compiledMessage{}, fault.Field(b.at+".content", "invalid_value", "A placeholder has no content. Remove %s.content.", b.at)
	case !isName(m.Name):
		return compiledMessage{}, fault.Field(b.at+".name", "invalid_value", "A placeholder needs a name of letters, digits and _: the variable with its messages, or %s for those of the request.", CallerMessages)
	}
	if m.Name != CallerMessages {
		b.use(m.Name)
	}
	return compiledMessage{role: m.Role, placeholder: m.Name}, nil
}

// isName reports whether a text is the name of a variable.
func isName(s string) bool {
	const most = 64
	return s != "" && len(s) <= most && (s[0] < '0' || s[0] > '9') && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// use notes that the version uses a variable.
func (b *messageBuilder) use(name string) {
	if !slices.Contains(b.program.variables, name) {
		b.program.variables = append(b.program.variables, name)
	}
}

// raw adds JSON as it is.
func (b *messageBuilder) raw(text []byte) {
	if n := len(b.pieces); n > 0 && b.pieces[n-1].text == nil {
		b.pieces[n-1].raw = append(b.pieces[n-1].raw, text...)
		return
	}
	b.pieces = append(b.pieces, piece{raw: bytes.Clone(text)})
}

// text adds a string that is a template.
func (b *messageBuilder) text(param, source string) error {
	t, err := template.Parse(source)
	if err != nil {
		f := *fault.From(err)
		f.Param = param
		return &f
	}
	b.last = t
	for _, name := range t.Variables() {
		b.use(name)
	}
	for _, ref := range t.Includes() {
		if !slices.Contains(b.program.includes, ref) {
			b.program.includes = append(b.program.includes, ref)
		}
	}
	if strings.Contains(source, "{{") || strings.Contains(source, "{%") || strings.Contains(source, "{#") {
		b.pieces = append(b.pieces, piece{text: t})
		return nil
	}
	text, err := t.Render(template.Values{}, nil)
	if err != nil {
		return err
	}
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return fault.Field(param, "invalid_value", "%s is not valid UTF-8.", param)
	}
	b.raw(quoted)
	return nil
}

// parts adds a list of parts. Every string in a part is a template, except for its type.
func (b *messageBuilder) parts(list jsontext.Value) error {
	at := b.at + ".content"
	if list.Kind() != '[' {
		return fault.Field(at, "invalid_type", "%s must be a text or a list of parts.", at)
	}
	if nesting(list) > maxPartDepth {
		return fault.Field(at, "too_deep", "%s nests deeper than %d levels of objects and lists.", at, maxPartDepth)
	}
	items, err := elements(list)
	if err != nil || len(items) == 0 || len(items) > maxParts {
		return fault.Field(at, "invalid_value", "%s must be a list of 1 to %d parts.", at, maxParts)
	}
	for i, item := range items {
		b.raw([]byte{"[,"[min(i, 1)]})
		if err := b.part(fmt.Sprintf("%s[%d]", at, i), item); err != nil {
			return err
		}
	}
	b.raw([]byte{']'})
	return nil
}

// part adds one part of a content.
func (b *messageBuilder) part(at string, v jsontext.Value) error {
	kind, ok := member(v, "type")
	if name, isText := textOf(kind); !ok || !isText || !slices.Contains(partTypes(), name) {
		return fault.Field(at+".type", "invalid_value", "%s must be an object whose type is one of %s.", at, strings.Join(partTypes(), ", "))
	}
	return b.value(at, v, 1)
}

// partTypes returns the types of parts that a message may have.
func partTypes() []string { return []string{"text", "image_url", "input_audio", "file"} }

// value adds JSON whose strings are templates. depth is 1 for a whole part.
func (b *messageBuilder) value(at string, v jsontext.Value, depth int) error {
	switch v.Kind() { //nolint:exhaustive // all others stay as they are
	case '"':
		text, _ := textOf(v)
		return b.text(at, text)
	case '{':
		names, values, err := members(v)
		if err != nil {
			return fault.Field(at, "invalid_value", "%s is not valid JSON.", at)
		}
		b.raw([]byte{'{'})
		for i, name := range names {
			if i > 0 {
				b.raw([]byte{','})
			}
			quoted, _ := jsontext.AppendQuote(nil, name) // it was read from JSON
			b.raw(append(quoted, ':'))
			if depth == 1 && name == "type" {
				b.raw(values[i])
			} else if err := b.value(at+"."+name, values[i], depth+1); err != nil {
				return err
			}
		}
		b.raw([]byte{'}'})
	case '[':
		items, err := elements(v)
		if err != nil {
			return fault.Field(at, "invalid_value", "%s is not valid JSON.", at)
		}
		b.raw([]byte{'['})
		for i, item := range items {
			if i > 0 {
				b.raw([]byte{','})
			}
			if err := b.value(fmt.Sprintf("%s[%d]", at, i), item, depth+1); err != nil {
				return err
			}
		}
		b.raw([]byte{']'})
	default:
		b.raw(v)
	}
	return nil
}
