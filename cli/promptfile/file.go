package promptfile

import (
	"cmp"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Extension is what names of files end with.
const Extension = ".prompt"

// File is a prompt as a file has it. Config and Schema are nil for none.
type File struct {
	Path         string
	Name         string
	DefaultLabel *string  // nil: the file does not say
	Protected    []string // nil: the file does not say
	Labels       []Label
	Config       jsontext.Value // an object, with enforce
	Variables    []string
	Schema       jsontext.Value
	Messages     []Message
	Notes        []string // what of the file is not used
}

// Label is a label that the file moves.
type Label struct {
	Name    string
	Version uint32         // 0: the version that has the content of the file
	Split   jsontext.Value // versions with weights, as the API has them; nil: Version
}

// configMembers are the parameters of a prompt, in the order in which files have them.
func configMembers() []string {
	return []string{"model", "temperature", "top_p", "max_tokens", "stop", "response_format", "tools", "tool_choice", "reasoning_effort", "metadata", "enforce"}
}

// Parse reads a file. The error names the file, the line and what to do.
func Parse(path string, data []byte) (*File, error) {
	r := &reader{path: path, first: 1}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	if !utf8.Valid(data) {
		return nil, errors.New(path + ":1: the file is not UTF-8: save it as UTF-8")
	}
	text = strings.TrimPrefix(text, "\ufeff")
	f := &File{Path: path, Name: r.nameOf(path)}
	body, line, named := text, 1, false
	if front, rest, ok := strings.Cut(text, "\n"); ok && strings.TrimRight(front, " \t") == "---" {
		head, after, lines := untilRule(rest)
		if lines < 0 {
			r.fail(1, "the front matter does not end: write a line --- below it")
			return nil, r.err
		}
		body, line = after, lines+3
		named = r.front(f, head)
	}
	switch {
	case !named && versioned(f.Name):
		r.fail(1, "the file is one version of several: keep the newest as NAME%s, or write name: into its front matter", Extension)
	case f.Name == "":
		r.fail(1, "the prompt has no name: name the file NAME%s, or write name: NAME into the front matter", Extension)
	}
	f.Messages = r.messages(body, line)
	return f, r.err
}

// untilRule cuts a text at its first line ---, and counts the lines before it; -1 if there is none.
func untilRule(text string) (before, after string, lines int) {
	for at := 0; at <= len(text); lines++ {
		line, _, more := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, len(text))
		if strings.TrimRight(line, " \t") == "---" {
			return text[:at], text[next:], lines
		}
		if !more {
			break
		}
		at = next
	}
	return "", "", -1
}

// nameOf returns the name of a prompt in a file without one.
func (r *reader) nameOf(path string) string {
	base := strings.TrimSuffix(filepath.Base(path), Extension)
	if name, err := url.PathUnescape(base); err == nil {
		return name
	}
	return base
}

// versioned reports whether the name of a file is that of one of several versions, as LiteLLM has
// them: support.v2.
func versioned(name string) bool {
	at := strings.LastIndex(name, ".v")
	if at < 1 {
		return false
	}
	_, err := strconv.ParseUint(name[at+2:], 10, 32)
	return err == nil
}

// BaseName returns the name of the file of a prompt. It has no character that a file system treats
// in its own way.
func BaseName(prompt string) string {
	var b strings.Builder
	for i := range len(prompt) {
		c := prompt[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && i > 0 || c >= utf8.RuneSelf {
			b.WriteByte(c)
			continue
		}
		b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)+0x100, 16)[1:]))
	}
	return b.String() + Extension
}

// front reads the front matter. It reports whether the prompt has its name there.
func (r *reader) front(f *File, text string) (named bool) {
	var config []member
	for _, e := range r.mapping(text).fields {
		switch v := e.value; e.name {
		case "name":
			f.Name, named = r.text(e), true
		case "default_label":
			f.DefaultLabel = new(r.text(e))
		case "protected_labels":
			f.Protected = r.texts(e)
		case "variables":
			f.Variables = r.texts(e)
		case "variable_schema":
			r.object(e)
			f.Schema = v.raw
		case "labels":
			f.Labels = r.labels(e)
		case "config":
			r.object(e)
			for _, m := range v.fields {
				config = r.parameter(config, m)
			}
		case "input":
			r.input(f, e)
		case "output":
			f.Notes = append(f.Notes, r.path+":"+strconv.Itoa(e.line)+": output is not used, as by LiteLLM; set response_format in config")
		default: // LiteLLM's files have parameters here
			config = r.parameter(config, e)
		}
	}
	slices.SortStableFunc(config, func(a, b member) int {
		return cmp.Compare(slices.Index(configMembers(), a.name), slices.Index(configMembers(), b.name))
	})
	f.Config = joined(config)
	return named
}

// parameter adds a parameter of the prompt.
func (r *reader) parameter(to []member, e field) []member {
	switch {
	case !slices.Contains(configMembers(), e.name):
		r.fail(e.line, "there is no field %s: a file has name, config, variables, variable_schema, labels, default_label and protected_labels, and config has %s", e.name, strings.Join(configMembers(), ", "))
	case slices.ContainsFunc(to, func(m member) bool { return m.name == e.name }):
		r.fail(e.line, "%s is there twice, within config and at the top: keep one", e.name)
	case e.value.raw.Kind() == 'n':
		return to
	}
	return append(to, member{e.name, e.value.raw})
}

func (r *reader) text(e field) string {
	if e.value.raw.Kind() != '"' {
		r.fail(e.line, "%s must be a text: put it in quotes", e.name)
	}
	return plain(e.value.raw)
}

func (r *reader) texts(e field) []string {
	out := []string{}
	for _, item := range e.value.items {
		if item.raw.Kind() != '"' {
			r.fail(item.line, "%s must be texts: put them in quotes", e.name)
		}
		out = append(out, plain(item.raw))
	}
	if e.value.raw.Kind() != '[' {
		r.fail(e.line, "%s must be a list, such as [a, b]", e.name)
	}
	return out
}

func (r *reader) object(e field) {
	if e.value.raw.Kind() != '{' {
		r.fail(e.line, "%s must have fields, in the lines below it and indented", e.name)
	}
}

// labels reads which versions labels name.
func (r *reader) labels(e field) []Label {
	r.object(e)
	var out []Label
	for _, l := range e.value.fields {
		one := Label{Name: l.name}
		switch v := l.value.raw; {
		case v.Kind() == '[':
			one.Split = r.split(l)
		case plain(v) == "latest":
		default:
			n, err := strconv.ParseUint(string(v), 10, 31)
			if err != nil || n == 0 {
				r.fail(l.line, "%s must name a version: a number, latest for the one that has this content, or a list of versions with weights, such as [{version: 5, weight: 90}, {version: 6, weight: 10}]", l.name)
			}
			one.Version = uint32(n)
		}
		out = append(out, one)
	}
	return out
}

// share is one version of a split label.
type share struct {
	Version uint32 `json:"version"`
	Weight  uint32 `json:"weight"`
}

// split reads versions with weights, in the order in which the gateway has them.
func (r *reader) split(l field) jsontext.Value {
	var shares []share
	if err := json.Unmarshal(l.value.raw, &shares, json.RejectUnknownMembers(true)); err != nil {
		r.fail(l.line, "the split of %s must be a list of versions with weights, such as [{version: 5, weight: 90}, {version: 6, weight: 10}]", l.name)
	}
	slices.SortFunc(shares, func(a, b share) int { return cmp.Compare(a.Version, b.Version) })
	out, _ := json.Marshal(shares) // numbers
	return out
}

// input reads the types that LiteLLM's files give to variables.
func (r *reader) input(f *File, e field) {
	r.object(e)
	var properties []member
	for _, in := range e.value.fields {
		if in.name != "schema" {
			r.fail(in.line, "input.%s is not supported: write variable_schema with properties and their default instead of input", in.name)
			continue
		}
		r.object(in)
		for _, v := range in.value.fields {
			kind, _, _ := strings.Cut(plain(v.value.raw), ",") // what follows is a description
			name, ok := jsonTypes()[strings.ToLower(strings.TrimSpace(kind))]
			if !ok {
				r.fail(v.line, "input.schema.%s must be string, number, integer, boolean, array or object: write variable_schema for more", v.name)
			}
			properties = append(properties, member{strings.TrimSuffix(v.name, "?"), joined([]member{{"type", quoted(name)}})})
		}
	}
	if f.Schema != nil {
		r.fail(e.line, "input and variable_schema are both there: keep one")
	}
	f.Schema = joined([]member{{"type", quoted("object")}, {"properties", joined(properties)}})
	if properties == nil {
		f.Schema = nil
	}
}

// jsonTypes returns the types of JSON Schema by the names that LiteLLM knows.
func jsonTypes() map[string]string {
	return map[string]string{
		"string": "string", "str": "string", "number": "number", "float": "number", "integer": "integer", "int": "integer",
		"boolean": "boolean", "bool": "boolean", "array": "array", "list": "array", "object": "object", "dict": "object",
	}
}

// Text returns the prompt as a file. Prompts with the same text have the same content.
func (f *File) Text() string {
	var front []member
	add := func(name string, v jsontext.Value) { front = append(front, member{name, v}) }
	if BaseName(f.Name) != f.Name+Extension || versioned(f.Name) {
		add("name", quoted(f.Name))
	}
	if f.DefaultLabel != nil {
		add("default_label", quoted(*f.DefaultLabel))
	}
	if f.Protected != nil {
		add("protected_labels", list(f.Protected))
	}
	var labels []member
	for _, l := range f.Labels {
		v := l.Split
		if v == nil {
			if v = jsontext.Value(strconv.FormatUint(uint64(l.Version), 10)); l.Version == 0 {
				v = quoted("latest")
			}
		}
		labels = append(labels, member{l.Name, v})
	}
	if labels != nil {
		add("labels", joined(labels))
	}
	if config := normalConfig(f.Config); config != nil {
		add("config", config)
	}
	if len(f.Variables) > 0 {
		add("variables", list(f.Variables))
	}
	if f.Schema != nil && string(f.Schema) != "{}" {
		add("variable_schema", f.Schema)
	}
	var out []byte
	if front != nil {
		out = append(append(append(out, "---"...), emitted(nil, joined(front), 0)...), "\n---\n"...)
	}
	return string(appendMessages(out, f.Messages))
}

// normalConfig returns a config in the order of files, without what is empty.
func normalConfig(v jsontext.Value) jsontext.Value {
	members, _ := split(v)
	var out []member
	for _, name := range configMembers() {
		at := slices.IndexFunc(members, func(m member) bool { return m.name == name })
		if at < 0 {
			continue
		}
		m := members[at]
		inner, items := split(m.value)
		switch {
		case m.value.Kind() == 'n', (m.value.Kind() == '{' || m.value.Kind() == '[') && len(inner)+len(items) == 0:
			continue
		case name == "metadata":
			slices.SortFunc(inner, func(a, b member) int { return strings.Compare(a.name, b.name) })
			m.value = joined(inner)
		case name == "enforce":
			slices.SortFunc(items, func(a, b jsontext.Value) int {
				return cmp.Compare(slices.Index(configMembers(), plain(a)), slices.Index(configMembers(), plain(b)))
			})
			m.value, _ = json.Marshal(items) // they are valid
		}
		out = append(out, m)
	}
	return joined(out)
}

func list(texts []string) jsontext.Value {
	out, _ := json.Marshal(texts) // texts of a file are UTF-8
	return out
}
