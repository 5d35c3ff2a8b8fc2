package compose

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Prompt is what a rendered prompt adds to a request, in the words of OpenAI's chats.
type Prompt struct {
	Before, After []byte // messages before and after the caller's: JSON objects with commas between them, or empty
	Settings      []Setting
}

// Setting is a member of the request that the prompt sets.
type Setting struct {
	Name     string // in OpenAI's chats, such as max_tokens
	Value    jsontext.Value
	Enforced bool // also if the caller sets it
}

// Model returns the model of a request with the prompt, given the one that the caller requests.
func (p *Prompt) Model(requested string) string {
	for i := range p.Settings {
		if s := &p.Settings[i]; s.Name == "model" && (s.Enforced || requested == "" || requested == ModelOfPrompt) {
			return string(splice.Plain(s.Value[1 : len(s.Value)-1]))
		}
	}
	return requested
}

// fields are the members that name a prompt. They may be within metadata too.
func fields() [4]string {
	return [4]string{"prompt_id", "prompt_variables", "prompt_version", "prompt_label"}
}

// Compose returns a request with a prompt in it, and without the members that name the prompt. The
// scan of the request must have accepted body. t tells for which models the translation is; its
// zero value suffices for callers of OpenAI's chats. The error is a *fault.Error, such as for
// content of the prompt that the language lacks.
func (l *Language) Compose(body []byte, p *Prompt, t driver.Target) ([]byte, error) {
	if l.normal != nil {
		var err error
		if body, err = l.normal(body); err != nil {
			return nil, err
		}
	}
	o := splice.ReadObject(body)
	for _, name := range fields() {
		o.Remove(name)
	}
	withoutFields(o, "metadata")
	before, err := l.translated(p.Before, p.Settings, t)
	if err != nil {
		return nil, err
	}
	after, err := l.translated(p.After, nil, t)
	if err != nil {
		return nil, err
	}
	o.Surround(l.messages, before.elements(l.messages), after.elements(l.messages), l.message)
	if l.system != "" {
		l.instruct(o, before, after)
	}
	for i := range p.Settings {
		l.set(o, &p.Settings[i], before)
	}
	return o.Append(nil), nil
}

// instruct puts the system messages of a prompt around the caller's.
func (l *Language) instruct(o *splice.Object, before, after fragment) {
	if l.inner == "" {
		if first, last := before.elements(l.system), after.elements(l.system); len(first)+len(last) > 0 {
			o.Surround(l.system, first, last, l.block)
		}
		return
	}
	first, last := before.within(l.system).elements(l.inner), after.within(l.system).elements(l.inner)
	if len(first)+len(last) == 0 {
		return
	}
	whole := splice.ReadObject(orEmpty(o.Get(l.system)))
	whole.Surround(l.inner, first, last, l.block)
	o.Set(l.system, whole.Append(nil))
}

// withoutFields removes the members that name a prompt from an object within the request. An object
// with nothing else is removed.
func withoutFields(o *splice.Object, name string) {
	raw := o.Get(name)
	if len(raw) == 0 || raw[0] != '{' {
		return
	}
	inner := splice.ReadObject(raw)
	found := false
	for _, field := range fields() {
		found = inner.Remove(field) || found
	}
	switch {
	case found && inner.Len() == 0:
		o.Remove(name)
	case found:
		o.Set(name, inner.Append(nil))
	}
}

// fragment is a part of a prompt in the language of a request.
type fragment struct {
	*splice.Object
	messages []byte // in place of a member of Object: the elements, if the language is that of the prompt
}

// elements returns the elements of an array of the fragment, without brackets.
func (f fragment) elements(name string) []byte {
	if f.messages != nil {
		return f.messages
	}
	if f.Object == nil {
		return nil
	}
	array := f.Get(name)
	if len(array) < 2 || array[0] != '[' {
		return nil
	}
	return bytes.TrimSpace(array[1 : len(array)-1])
}

// within returns the object that a member of the fragment is.
func (f fragment) within(name string) fragment {
	if f.Object == nil {
		return f
	}
	return fragment{Object: splice.ReadObject(orEmpty(f.Get(name)))}
}

// translated returns messages and settings of a prompt in the language.
func (l *Language) translated(messages []byte, settings []Setting, t driver.Target) (fragment, error) {
	own := len(messages) > 0
	switch {
	case len(settings) == 0 && (l.encode == nil || !own):
		return fragment{messages: messages}, nil
	case l.encode == nil:
		return fragment{chatOf(nil, settings), messages}, nil
	}
	if !own { // a request must have one
		messages = []byte(`{"role":"user","content":"."}`)
	}
	chat := chatOf(messages, settings)
	chat.Set("model", []byte(`"`+ModelOfPrompt+`"`))
	request, err := openai.Dialect{}.DecodeRequest(chat.Append(nil))
	if err != nil {
		return fragment{}, ofPrompt(err)
	}
	body, err := l.encode(request, t)
	if err != nil {
		return fragment{}, ofPrompt(err)
	}
	out := splice.ReadObject(body)
	if !own {
		out.Remove(l.messages)
	}
	return fragment{Object: out}, nil
}

// chatOf returns messages and settings as OpenAI's chats have them.
func chatOf(messages []byte, settings []Setting) *splice.Object {
	o := splice.ReadObject([]byte("{}"))
	if len(messages) > 0 {
		o.Set("messages", []byte("["), messages, []byte("]"))
	}
	for i := range settings {
		o.Set(settings[i].Name, settings[i].Value)
	}
	return o
}

// ofPrompt says that an error is about the prompt and not about what the caller sent.
func ofPrompt(err error) error {
	e := *fault.From(err)
	e.Detail = "The prompt does not fit this endpoint: " + e.Detail
	e.Param = "prompt_id"
	return &e
}

// set applies a setting: where the caller has none, and in any case if it is enforced.
func (l *Language) set(o *splice.Object, s *Setting, from fragment) {
	if s.Name == "model" { // a request for the model "prompt" leaves it to the prompt
		if asked := o.Get("model"); s.Enforced || asked == nil || string(asked) == `"`+ModelOfPrompt+`"` {
			o.Set("model", s.Value)
		}
		return
	}
	for _, at := range l.places(s.Name) {
		value := from.at(at)
		if value == nil {
			continue
		}
		switch {
		case at.all:
			setWithin(o, at.name, splice.ReadObject(value).All(), s)
		case at.inner != "":
			setWithin(o, at.name, func(yield func(string, []byte) bool) { yield(at.inner, value) }, s)
		default:
			name := at.name
			if at.or != "" && o.Get(at.or) != nil {
				name = at.or
			}
			if s.Enforced || o.Get(name) == nil {
				o.Set(name, value)
			}
		}
	}
}

// ModelOfPrompt is the name of a model that leaves the choice to the prompt.
const ModelOfPrompt = "prompt"

// at returns what a place of a fragment has; nil for nothing.
func (f fragment) at(p place) []byte {
	raw := f.Get(p.name)
	if raw == nil || p.inner == "" {
		return raw
	}
	if raw[0] != '{' {
		return nil
	}
	return splice.ReadObject(raw).Get(p.inner)
}

// setWithin applies a setting that is some members of an object within the request.
func setWithin(o *splice.Object, name string, members iter.Seq2[string, []byte], s *Setting) {
	inner := splice.ReadObject(orEmpty(o.Get(name)))
	for member, raw := range members {
		if s.Enforced || inner.Get(member) == nil {
			inner.Set(member, raw)
		}
	}
	o.Set(name, inner.Append(nil))
}

// orEmpty returns an object; an empty one for a value of another type.
func orEmpty(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return []byte("{}")
	}
	return raw
}
