package openapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page's template and style
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

//go:embed page.html
var pageTemplate string

//go:embed page.css
var pageStyle string

// page has the values of the template.
type page struct {
	Title, Version, Summary string
	Intro                   []string
	Style                   template.CSS
	Groups                  []group
}

// group has the operations of one tag.
type group struct {
	Name, Anchor, Text string
	Operations         []entry
}

// entry is one operation with all of its routes.
type entry struct {
	ID, Method, Path, Summary, Text string
	Also                            []string // other methods and paths
	Open                            bool     // needs no key
	Parameters                      []line
	Body, Answer                    []line
	BodyText                        string
	Curl, Example                   string
	Statuses                        []line
}

// line is one row of a table: a parameter, a member, or a status.
type line struct {
	Name, In, Type, Limits, Text string
	Required                     bool
}

// render makes the page of an OpenAPI document. The page has no script, and a browser may load
// only its style, so no text of the document can do harm.
func render(document []byte) (*asset, error) {
	var d description
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, err
	}
	t, err := template.New("page").Parse(pageTemplate)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	p := page{
		Title: d.Info.Title, Version: d.Info.Version, Summary: d.Info.Summary, Intro: strings.Split(d.Info.Description, "\n\n"),
		Style:  template.CSS(pageStyle), //nolint:gosec // it is a file of ours
		Groups: d.groups(),
	}
	if err := t.Execute(&out, p); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(pageStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return newAsset("text/html; charset=utf-8", policy, out.Bytes())
}

func (d *description) groups() []group {
	byTag, also := map[string][]entry{}, map[string][]string{}
	for _, p := range d.Paths {
		for _, m := range p.Value {
			if m.Value.SameAs != "" {
				also[m.Value.SameAs] = append(also[m.Value.SameAs], strings.ToUpper(m.Name)+" "+p.Name)
			}
		}
	}
	for _, p := range d.Paths {
		for _, m := range p.Value {
			if o := m.Value; o.SameAs == "" && len(o.Tags) > 0 {
				e := d.entry(strings.ToUpper(m.Name), p.Name, o)
				e.Also = also[o.ID]
				byTag[o.Tags[0]] = append(byTag[o.Tags[0]], e)
			}
		}
	}
	var out []group
	for _, t := range d.Tags {
		if len(byTag[t.Name]) > 0 {
			out = append(out, group{Name: t.Name, Anchor: "tag-" + strings.ToLower(strings.ReplaceAll(t.Name, " ", "-")), Text: t.Description, Operations: byTag[t.Name]})
		}
	}
	return out
}

func (d *description) entry(method, path string, o operation) entry {
	e := entry{ID: o.ID, Method: method, Path: path, Summary: o.Summary, Text: o.Description, Open: o.Security != nil && len(*o.Security) == 0}
	var params []parameter
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters.get(last(p.Ref))
		}
		params = append(params, p)
		e.Parameters = append(e.Parameters, line{Name: p.Name, In: p.In, Type: d.kind(p.Schema), Limits: limits(p.Schema), Text: p.Description, Required: p.Required})
	}
	var body media
	if o.Body != nil && len(o.Body.Content) > 0 {
		body = o.Body.Content[0].Value
		e.BodyText = o.Body.Description
		e.Body = d.lines(body.Schema, "", nil)
	}
	for _, r := range o.Responses {
		a := r.Value
		if a.Ref != "" {
			shared := d.Components.Responses.get(last(a.Ref))
			if a.Description == "" {
				a.Description = shared.Description
			}
		}
		e.Statuses = append(e.Statuses, line{Name: r.Name, Text: a.Description})
		if r.Name == "200" && len(a.Content) > 0 {
			e.Answer = d.lines(a.Content[0].Value.Schema, "", nil)
			e.Example = indented(a.Content[0].Value.Example)
		}
	}
	e.Curl = curl(e, params, o.Body, body.Example)
	return e
}

// lines returns the members of a schema, each followed by its own members.
func (d *description) lines(s *schema, at string, within []*schema) []line {
	r := d.resolve(s)
	if slices.Contains(within, r) || len(within) > 4 {
		return nil
	}
	within = append(slices.Clone(within), r)
	if r.Items != nil {
		return d.lines(r.Items, at+"[]", within)
	}
	if v := r.values(); v != nil {
		return d.lines(v, at+".*", within)
	}
	var out []line
	for _, p := range r.Properties {
		name := p.Name
		if at != "" {
			name = at + "." + name
		}
		out = append(out, line{Name: name, Type: d.kind(p.Value), Limits: limits(p.Value), Text: p.Value.Description, Required: slices.Contains(r.Required, p.Name)})
		out = append(out, d.lines(p.Value, name, within)...)
	}
	return out
}

// kind returns the type of a value in words.
func (d *description) kind(s *schema) string {
	if s == nil {
		return ""
	}
	r := d.resolve(s)
	names := r.types()
	switch {
	case slices.Contains(names, "array") && r.Items != nil:
		return strings.TrimSpace("list of " + d.kind(r.Items))
	case slices.Contains(names, "object") && r.values() != nil:
		return "map of " + d.kind(r.values())
	case len(names) == 0 && len(r.AnyOf) > 0:
		return d.kind(r.AnyOf[0])
	case len(names) == 0:
		return "any"
	case r.Format != "" && names[0] == "string":
		return r.Format
	}
	return strings.Join(names, " or ")
}

// limits returns the rules of a schema in words.
func limits(s *schema) string {
	if s == nil {
		return ""
	}
	if len(s.AnyOf) > 0 && s.AnyOf[0].Ref == "" {
		s = s.AnyOf[0]
	}
	var out []string
	if s.Const != nil {
		out = append(out, "always "+string(s.Const))
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			if v.Kind() != 'n' {
				values = append(values, strings.Trim(string(v), `"`))
			}
		}
		out = append(out, "one of "+strings.Join(values, ", "))
	}
	for _, n := range []struct {
		v          *float64
		text, unit string
	}{
		{s.Minimum, "≥", ""},
		{s.Above, ">", ""},
		{s.Maximum, "≤", ""},
		{s.Below, "<", ""},
		{s.MinLength, "≥", " characters"},
		{s.MaxLength, "≤", " characters"},
		{s.MinItems, "≥", " items"},
		{s.MaxItems, "≤", " items"},
		{s.MaxProperties, "≤", " members"},
	} {
		if n.v != nil {
			out = append(out, n.text+" "+strconv.FormatFloat(*n.v, 'f', -1, 64)+n.unit)
		}
	}
	switch s.Pattern {
	case "":
	case `^[^\x00-\x1f\x7f]*$`:
		out = append(out, "no control characters")
	default:
		out = append(out, "like "+s.Pattern)
	}
	if s.Items != nil && limits(s.Items) != "" {
		out = append(out, "each "+limits(s.Items))
	}
	return strings.Join(out, "; ")
}

// curl returns the command that sends the example.
func curl(e entry, params []parameter, body *content, example jsontext.Value) string {
	path, query := e.Path, ""
	for _, p := range params {
		value := strings.Trim(string(p.Example), `"`)
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
		case p.In == "query" && p.Required:
			if value == "" && p.Schema != nil {
				value = strings.Trim(string(p.Schema.Const), `"`)
			}
			query += "&" + p.Name + "=" + value
		}
	}
	if query != "" {
		path += "?" + query[1:]
	}
	words := []string{`curl "$GATEWAY_URL` + path + `"`}
	if e.Method != http.MethodGet && (e.Method != http.MethodPost || body == nil) {
		words[0] = "curl -X " + e.Method + words[0][len("curl"):]
	}
	if !e.Open {
		words = append(words, `-H "Authorization: Bearer $GATEWAY_KEY"`)
	}
	if body != nil && len(body.Content) > 0 {
		words = append(words, `-H "Content-Type: `+body.Content[0].Name+`"`)
		if example == nil {
			words = append(words, "--data-binary @file")
		} else {
			words = append(words, "-d '"+strings.ReplaceAll(indented(example), "'", `'\''`)+"'")
		}
	}
	return strings.Join(words, " \\\n  ")
}

// indented returns JSON for people.
func indented(v jsontext.Value) string {
	out := v.Clone()
	if len(out) == 0 || out.Indent(jsontext.WithIndent("  ")) != nil {
		return string(v)
	}
	return string(out)
}
