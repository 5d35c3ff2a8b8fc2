package openapi

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// member is one member of a JSON object whose order matters.
type member[T any] struct {
	Name  string
	Value T
}

// members are an object's members in the order of the text, which the page keeps.
type members[T any] []member[T]

// UnmarshalJSONFrom reads an object.
func (m *members[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil { // {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		one := member[T]{Name: name.String()}
		if err := json.UnmarshalDecode(d, &one.Value); err != nil {
			return err
		}
		*m = append(*m, one)
	}
	_, err := d.ReadToken()
	return err
}

// get returns the member with a name, or the zero value.
func (m members[T]) get(name string) T {
	for _, one := range m {
		if one.Name == name {
			return one.Value
		}
	}
	var none T
	return none
}

// description has the parts of an OpenAPI document that the page shows.
type description struct {
	Info struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Summary     string `json:"summary"`
		Description string `json:"description"`
	} `json:"info"`
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	Paths      members[members[operation]] `json:"paths"`
	Components struct {
		Parameters members[parameter] `json:"parameters"`
		Responses  members[answer]    `json:"responses"`
		Schemas    members[*schema]   `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	ID          string            `json:"operationId"`
	SameAs      string            `json:"x-same-as"`
	Tags        []string          `json:"tags"`
	Summary     string            `json:"summary"`
	Description string            `json:"description"`
	Parameters  []parameter       `json:"parameters"`
	Body        *content          `json:"requestBody"`
	Responses   members[answer]   `json:"responses"`
	Security    *[]jsontext.Value `json:"security"`
}

type parameter struct {
	Ref         string         `json:"$ref"`
	Name        string         `json:"name"`
	In          string         `json:"in"`
	Description string         `json:"description"`
	Required    bool           `json:"required"`
	Example     jsontext.Value `json:"example"`
	Schema      *schema        `json:"schema"`
}

type content struct {
	Description string         `json:"description"`
	Content     members[media] `json:"content"`
}

type answer struct {
	Ref         string         `json:"$ref"`
	Description string         `json:"description"`
	Content     members[media] `json:"content"`
}

type media struct {
	Schema  *schema        `json:"schema"`
	Example jsontext.Value `json:"example"`
}

type schema struct {
	Ref           string           `json:"$ref"`
	Type          jsontext.Value   `json:"type"` // a name or a list of names
	Format        string           `json:"format"`
	Description   string           `json:"description"`
	Properties    members[*schema] `json:"properties"`
	Required      []string         `json:"required"`
	Items         *schema          `json:"items"`
	AnyOf         []*schema        `json:"anyOf"`
	Additional    jsontext.Value   `json:"additionalProperties"`
	Enum          []jsontext.Value `json:"enum"`
	Const         jsontext.Value   `json:"const"`
	Pattern       string           `json:"pattern"`
	MinLength     *float64         `json:"minLength"`
	MaxLength     *float64         `json:"maxLength"`
	MinItems      *float64         `json:"minItems"`
	MaxItems      *float64         `json:"maxItems"`
	MaxProperties *float64         `json:"maxProperties"`
	Minimum       *float64         `json:"minimum"`
	Maximum       *float64         `json:"maximum"`
	Above         *float64         `json:"exclusiveMinimum"`
	Below         *float64         `json:"exclusiveMaximum"`
}

// last returns the end of a reference: the name of its target.
func last(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// resolve follows references, and ignores that a value may be null.
func (d *description) resolve(s *schema) *schema {
	for s != nil {
		switch {
		case s.Ref != "":
			s = d.Components.Schemas.get(last(s.Ref))
		case len(s.AnyOf) == 2 && s.AnyOf[0].Ref != "":
			s = s.AnyOf[0]
		default:
			return s
		}
	}
	return &schema{}
}

// types returns the names of a schema's types without null.
func (s *schema) types() []string {
	if s.Type.Kind() == '"' {
		return []string{strings.Trim(string(s.Type), `"`)}
	}
	var all, out []string
	if json.Unmarshal(s.Type, &all) != nil {
		return nil
	}
	for _, t := range all {
		if t != "null" {
			out = append(out, t)
		}
	}
	return out
}

// values returns the schema of the values of a map, or nil.
func (s *schema) values() *schema {
	var v schema
	if s.Additional.Kind() != '{' || json.Unmarshal(s.Additional, &v) != nil {
		return nil
	}
	return &v
}
