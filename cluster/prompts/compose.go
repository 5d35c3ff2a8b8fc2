package prompts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
)

// Bounds of the variables of a request.
const (
	maxVariables     = 1 << 20 // bytes
	maxVariableDepth = 64      // objects and lists within each other
	maxHistory       = 1000    // messages of one placeholder
)

// Composition is what a prompt gives to a request.
type Composition struct {
	Before []Turn // before the messages of the request
	After  []Turn // after them; empty unless the prompt has a placeholder for them
	Config Config
}

// Turn is one message of a composition.
type Turn struct {
	Role    string
	Content jsontext.Value // a JSON string, or a list of parts
	Whole   jsontext.Value // a message that a variable has, with all its members; nil for a message of the prompt
}

// Text returns the text of the message: of a list of parts, those of its parts.
func (t *Turn) Text() string {
	if text, ok := textOf(t.Content); ok {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if t.Content.Kind() != '[' || json.Unmarshal(t.Content, &parts) != nil {
		return ""
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

// Unmatched returns the variables that were given and that the version does not use, and those
// that it uses and that were not given and have no default; also those of prompts that it
// includes.
func (s *Set) Unmatched(c Choice, variables jsontext.Value) (unused, missing []string, err error) {
	program, err := c.Version.program()
	if err != nil {
		return nil, nil, err
	}
	if variables, err = program.prepare(variables); err != nil {
		return nil, nil, err
	}
	var given []string
	if len(variables) > 0 {
		if given, _, err = members(variables); err != nil {
			return nil, nil, err
		}
	}
	used := s.used(c)
	for _, name := range given {
		if !slices.Contains(used, name) {
			unused = append(unused, name)
		}
	}
	for _, name := range used {
		if !slices.Contains(given, name) {
			missing = append(missing, name)
		}
	}
	return unused, missing, nil
}

// Compose renders the version that Resolve has returned, with the variables of a request, a JSON object; nil or
// null is none. What is not given is empty, or the default of the version's schema. Values are
// never templates, and messages of variables are taken as they are.
//
// The error is a *fault.Error: invalid_prompt_variables for variables that are no object, too
// large, too deep, or do not fit the version's schema or placeholders, and template_too_costly
// for a rendering that exceeds the bounds of templates.
func (s *Set) Compose(c Choice, variables jsontext.Value) (*Composition, error) {
	program, err := c.Version.program()
	if err != nil {
		return nil, err
	}
	variables, err = program.prepare(variables)
	if err != nil {
		return nil, err
	}
	r := s.versions.open.composer()
	defer s.versions.open.release(r)
	r.variables = variables
	if len(program.includes) > 0 {
		r.resolve = s.partials(c)
	}
	if len(variables) > 0 {
		if r.values, err = template.Decode(variables); err != nil {
			return nil, about(FieldVariables, err)
		}
	}
	out := &Composition{Config: c.Version.Config}
	to := &out.Before
	*to = make([]Turn, 0, len(program.messages))
	r.contents = make([]byte, 0, program.size+program.size/4)
	for i := range program.messages {
		m := &program.messages[i]
		if m.placeholder == CallerMessages {
			to = &out.After
			continue
		}
		if *to, err = r.message(*to, m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// invalidVariables returns the error for variables that do not fit.
func invalidVariables(param, format string, args ...any) error {
	return fault.Field(param, "invalid_prompt_variables", format, args...)
}

// about returns an error with the field that it is about, unless it names one.
func about(param string, err error) error {
	f := *fault.From(err)
	if f.Param == "" {
		f.Param = param
	}
	return &f
}

// prepare checks variables, and adds the defaults of the schema.
func (p *program) prepare(variables jsontext.Value) (jsontext.Value, error) {
	switch {
	case len(variables) == 0 || variables.Kind() == 'n':
		variables = nil
	case variables.Kind() != '{':
		return nil, invalidVariables(FieldVariables, "%s must be an object with a value for each variable.", FieldVariables)
	case len(variables) > maxVariables:
		return nil, invalidVariables(FieldVariables, "%s has more than %d bytes. Send less.", FieldVariables, maxVariables)
	case nesting(variables) > maxVariableDepth:
		return nil, invalidVariables(FieldVariables, "%s nests deeper than %d levels of objects and lists. Flatten it.", FieldVariables, maxVariableDepth)
	}
	if p.schema == nil {
		return variables, nil
	}
	return p.schema.apply(variables)
}

// composer renders the messages of one request.
type composer struct {
	variables jsontext.Value
	values    template.Values
	resolve   template.Resolver
	meter     template.Meter // one for all messages
	contents  []byte         // of all messages
}

// composer returns a composer that nothing uses.
func (o *openVersions) composer() *composer {
	if r, ok := o.composers.Get().(*composer); ok {
		return r
	}
	return &composer{}
}

// release gives a composer back. It keeps nothing of the request.
func (o *openVersions) release(r *composer) {
	r.variables, r.values, r.resolve, r.contents = nil, template.Values{}, nil, nil
	r.meter.Reset()
	o.composers.Put(r)
}

// message adds the turns of a message.
func (r *composer) message(to []Turn, m *compiledMessage) ([]Turn, error) {
	if m.placeholder != "" {
		return r.history(to, m.placeholder)
	}
	if m.constant != nil {
		return append(to, Turn{Role: m.role, Content: m.constant}), nil
	}
	start := len(r.contents)
	for i := range m.pieces {
		p := &m.pieces[i]
		if p.text == nil {
			r.contents = append(r.contents, p.raw...)
			continue
		}
		var err error
		if r.contents, err = r.meter.Append(r.contents, p.text, r.values, r.resolve); err != nil {
			return nil, about(FieldVariables, err)
		}
	}
	return append(to, Turn{Role: m.role, Content: slices.Clip(jsontext.Value(r.contents[start:]))}), nil
}

// history adds the messages of a variable.
func (r *composer) history(to []Turn, name string) ([]Turn, error) {
	at := FieldVariables + "." + name
	list, ok := member(r.variables, name)
	if !ok || list.Kind() == 'n' {
		return to, nil
	}
	items, err := elements(list)
	if list.Kind() != '[' || err != nil || len(items) > maxHistory {
		return nil, invalidVariables(at, "%s must be a list of at most %d messages, each with a role and a content.", at, maxHistory)
	}
	for i, item := range items {
		var head struct {
			Role    string         `json:"role"`
			Content jsontext.Value `json:"content"`
		}
		one := fmt.Sprintf("%s[%d]", at, i)
		if item.Kind() != '{' || json.Unmarshal(item, &head) != nil {
			return nil, invalidVariables(one, "%s must be a message: an object with a role and a content.", one)
		}
		if !slices.Contains([]string{"user", "assistant", "tool"}, head.Role) {
			return nil, invalidVariables(one+".role", "%s.role must be user, assistant or tool. Other roles are the prompt's to give.", one)
		}
		to = append(to, Turn{Role: head.Role, Content: head.Content, Whole: item})
	}
	return to, nil
}
