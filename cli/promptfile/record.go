package promptfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Record is a prompt as the API shows it.
type Record struct {
	ID           string         `json:"prompt_id"`
	Name         string         `json:"prompt_name"`
	Messages     []apiMessage   `json:"messages"`
	Variables    []string       `json:"variables"`
	Version      uint32         `json:"version"`
	Organization *string        `json:"org"`
	Config       jsontext.Value `json:"config"`
	Schema       jsontext.Value `json:"variable_schema"`
	DefaultLabel *string        `json:"default_label"`
	Protected    []string       `json:"protected_labels"`
	Revision     jsontext.Value `json:"revision"`
}

// LabelRecord is a label as the API shows it.
type LabelRecord struct {
	Label   string         `json:"label"`
	Version *uint32        `json:"version"`
	Split   jsontext.Value `json:"split"`
}

type apiMessage struct {
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content,omitzero"`
	Name    *string        `json:"name,omitzero"`
}

// File returns the file of a prompt with labels.
func (r *Record) File(labels []LabelRecord) *File {
	f := &File{Name: r.Name, Config: orNone(r.Config), Schema: orNone(r.Schema), Variables: r.Variables}
	if r.DefaultLabel != nil {
		f.DefaultLabel = r.DefaultLabel
	}
	if len(r.Protected) > 0 {
		f.Protected = r.Protected
	}
	for _, l := range labels {
		switch {
		case l.Label == "latest":
		case l.Version != nil:
			f.Labels = append(f.Labels, Label{Name: l.Label, Version: *l.Version})
		default:
			f.Labels = append(f.Labels, Label{Name: l.Label, Split: l.Split})
		}
	}
	for _, m := range r.Messages {
		one := Message{Role: m.Role, Content: orNone(m.Content)}
		if m.Name != nil {
			one.Name = *m.Name
		}
		f.Messages = append(f.Messages, one)
	}
	return f
}

func orNone(v jsontext.Value) jsontext.Value {
	if v.Kind() == 'n' {
		return nil
	}
	return v
}

// Content is a prompt as requests make versions of it. What the file does not have is empty, so
// that the version before it gives nothing.
func (f *File) Content() map[string]any {
	messages := make([]apiMessage, len(f.Messages))
	for i, m := range f.Messages {
		messages[i] = apiMessage{Role: m.Role, Content: m.Content}
		if m.Name != "" {
			messages[i].Name = &f.Messages[i].Name
		}
	}
	out := map[string]any{"messages": messages, "config": normalConfig(f.Config), "variable_schema": f.Schema, "variables": f.Variables}
	for _, name := range []string{"config", "variable_schema"} {
		if v, _ := out[name].(jsontext.Value); v == nil {
			out[name] = jsontext.Value("{}")
		}
	}
	if f.Variables == nil {
		out["variables"] = []string{}
	}
	return out
}

// Over returns what the file makes of a prompt that exists: the file with all that it leaves to
// the gateway, for a comparison with File of the record. It lists what the templates use, as the
// gateway does.
func (f *File) Over(old *File, version uint32) *File {
	out := *f
	if !slices.ContainsFunc(f.Variables, func(v string) bool { return !slices.Contains(old.Variables, v) }) {
		out.Variables = old.Variables
	}
	if f.DefaultLabel == nil {
		out.DefaultLabel = old.DefaultLabel
	}
	if f.DefaultLabel != nil && (*f.DefaultLabel == "" || *f.DefaultLabel == "latest") && old.DefaultLabel == nil {
		out.DefaultLabel = nil
	}
	if f.Protected == nil || len(f.Protected)+len(old.Protected) == 0 {
		out.Protected = old.Protected
	} else {
		out.Protected = slices.Sorted(slices.Values(f.Protected))
	}
	out.Labels = slices.Clone(old.Labels)
	for _, l := range f.Labels {
		if l.Split == nil && l.Version == 0 {
			l.Version = version
		}
		at := slices.IndexFunc(out.Labels, func(o Label) bool { return o.Name == l.Name })
		switch {
		case at < 0:
			out.Labels = append(out.Labels, l)
		default:
			out.Labels[at] = l
		}
	}
	slices.SortFunc(out.Labels, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	return &out
}

// SameContent reports whether two prompts are the same but for their labels and settings.
func (f *File) SameContent(o *File) bool {
	bare := func(f *File) string {
		out := *f
		out.DefaultLabel, out.Protected, out.Labels = nil, nil, nil
		return out.Text()
	}
	return bare(f) == bare(o)
}

// included finds what a text in JSON includes.
var included = regexp.MustCompile(`include\s+\\*["']prompt:([^"'@\\]+)`)

// Ordered returns files such that what a file includes comes before it. Files that include each
// other stay as they are.
func Ordered(files []*File) []*File {
	byName := map[string]*File{}
	for _, f := range files {
		byName[f.Name] = f
	}
	var out []*File
	seen := map[*File]bool{}
	var visit func(f *File)
	visit = func(f *File) {
		if f == nil || seen[f] {
			return
		}
		seen[f] = true
		for _, m := range f.Messages {
			for _, match := range included.FindAllStringSubmatch(string(m.Content), -1) {
				visit(byName[match[1]])
			}
		}
		out = append(out, f)
	}
	for _, f := range files {
		visit(f)
	}
	return out
}

// Body returns a request's body.
func Body(fields map[string]any) ([]byte, error) {
	return json.Marshal(fields, json.Deterministic(true))
}
