package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/dataplane"
)

// object is a JSON object.
type object = map[string]any

// document is what is kept of an OpenAPI document.
type document struct {
	OpenAPI    string            `json:"openapi"`
	Info       info              `json:"info"`
	Paths      map[string]object `json:"paths"`
	Components components        `json:"components"`
}

type info struct {
	Title   string  `json:"title"`
	Version string  `json:"version"`
	License license `json:"license"`
}

type license struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type components struct {
	Schemas map[string]any `json:"schemas"`
}

// errorSchema is of the body of each error. No operation refers to it.
const errorSchema = "ErrorResponse"

// modelsPath lists the models. It is an operation of management, so it is not in the data plane's table.
const modelsPath = "/models"

// reduce returns the document without what the tests do not judge by.
func reduce(text []byte) ([]byte, error) {
	var full document
	if err := json.Unmarshal(text, &full); err != nil {
		return nil, fmt.Errorf("not an OpenAPI document in JSON: %w", err)
	}
	out := document{OpenAPI: full.OpenAPI, Info: full.Info, Paths: map[string]object{}}
	for _, o := range dataplane.Operations() {
		if post, ok := full.Paths[o.Path]["post"].(object); ok {
			out.Paths[o.Path] = object{"post": bodies(post)}
		}
	}
	list, ok := full.Paths[modelsPath]["get"].(object)
	if !ok || len(out.Paths) < 10 {
		return nil, errors.New("it lacks most operations of OpenAI's API")
	}
	out.Paths[modelsPath] = object{"get": bodies(list)}
	r := reached{all: full.Components.Schemas, kept: map[string]any{}}
	for _, path := range out.Paths {
		r.visit(path)
	}
	r.visit(object{"$ref": schemasPrefix + errorSchema})
	if r.missing != nil {
		return nil, fmt.Errorf("it refers to schemas that it lacks: %v", r.missing)
	}
	out.Components.Schemas = r.kept
	return lines(&out)
}

// bodies returns the request and the responses of an operation, without its texts and headers.
func bodies(operation object) object {
	out := object{}
	if request, ok := operation["requestBody"].(object); ok {
		out["requestBody"] = object{"content": contents(request)}
	}
	responses := object{}
	all, _ := operation["responses"].(object)
	for status, response := range all {
		if r, ok := response.(object); ok {
			responses[status] = object{"content": contents(r)}
		}
	}
	out["responses"] = responses
	return out
}

// contents returns the schemas by their media types.
func contents(body object) object {
	out := object{}
	content, _ := body["content"].(object)
	for media, value := range content {
		if v, ok := value.(object); ok {
			out[media] = object{"schema": schema(v["schema"])}
		}
	}
	return out
}

// schema returns a schema without what says nothing about values.
func schema(value any) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = schema(one)
		}
		return out
	case object:
		out := object{}
		for name, one := range v {
			switch {
			case name == "properties":
				out[name] = properties(one)
			case name == "enum", name == "const", name == "required":
				out[name] = one
			case !says(name):
			default:
				out[name] = schema(one)
			}
		}
		return out
	}
	return value
}

// properties returns the schemas of members. Their names are not keywords.
func properties(value any) any {
	all, ok := value.(object)
	if !ok {
		return value
	}
	out := object{}
	for name, one := range all {
		out[name] = schema(one)
	}
	return out
}

// says reports whether a keyword says something about values.
func says(keyword string) bool {
	return !strings.HasPrefix(keyword, "x-") && !slices.Contains([]string{
		"title", "description", "example", "examples", "default", "deprecated", "externalDocs", "optional",
	}, keyword)
}

// schemasPrefix begins references to schemas.
const schemasPrefix = "#/components/schemas/"

// reached collects the schemas that others refer to.
type reached struct {
	all     map[string]any
	kept    map[string]any
	missing []string
}

// visit keeps the schemas that a value refers to.
func (r *reached) visit(value any) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			r.visit(one)
		}
	case object:
		ref, _ := v["$ref"].(string)
		if name, ok := strings.CutPrefix(ref, schemasPrefix); ok {
			r.keep(name)
		}
		for _, one := range v {
			r.visit(one)
		}
	}
}

// keep keeps a schema, and what it refers to.
func (r *reached) keep(name string) {
	if _, ok := r.kept[name]; ok {
		return
	}
	s, ok := r.all[name]
	if !ok {
		r.missing = append(r.missing, name)
		return
	}
	r.kept[name] = schema(s)
	r.visit(r.kept[name])
}

// lines writes the document with a line for each path and each schema, so that a change of the
// document is readable.
func lines(d *document) ([]byte, error) {
	var out bytes.Buffer
	head, err := json.Marshal(object{"openapi": d.OpenAPI, "info": d.Info}, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	out.Write(bytes.TrimSuffix(head, []byte("}")))
	out.WriteString(",\n\"paths\": {\n")
	paths := map[string]any{}
	for path, value := range d.Paths {
		paths[path] = value
	}
	if err := members(&out, paths); err != nil {
		return nil, err
	}
	out.WriteString("},\n\"components\": {\"schemas\": {\n")
	if err := members(&out, d.Components.Schemas); err != nil {
		return nil, err
	}
	out.WriteString("}}}\n")
	if !jsontext.Value(out.Bytes()).IsValid() {
		return nil, errors.New("the reduced document is not JSON")
	}
	return out.Bytes(), nil
}

// members writes the members of an object in the order of their names, each on a line.
func members(out *bytes.Buffer, all map[string]any) error {
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i > 0 {
			out.WriteString(",\n")
		}
		line, err := json.Marshal(object{name: all[name]}, json.Deterministic(true))
		if err != nil {
			return err
		}
		out.Write(line[1 : len(line)-1])
	}
	out.WriteByte('\n')
	return nil
}
