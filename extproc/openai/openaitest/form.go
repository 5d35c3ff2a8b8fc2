package openaitest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// mediaType returns a media type without its parameters, and the boundary of a form.
func mediaType(value string) (kind, boundary string) {
	kind, parameters, err := mime.ParseMediaType(value)
	if err != nil {
		return value, ""
	}
	if kind != mediaForm && strings.HasSuffix(kind, "+json") {
		kind = mediaJSON
	}
	return kind, parameters["boundary"]
}

// formProblems returns the problems of a form: of an object with a member for each of its parts.
func formProblems(s *jsonschema.Schema, boundary string, body []byte) []string {
	if !bytes.Contains(body, []byte("--"+boundary+"--")) {
		return []string{"not a form: it has no end"}
	}
	value := object{}
	schemas := flat(nil, []*jsonschema.Schema{s}, nil)
	for r := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return valueProblems(s, value)
		}
		if err != nil {
			return []string{"not a form: " + err.Error()}
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return []string{"not a form: " + err.Error()}
		}
		name, list := strings.CutSuffix(part.FormName(), "[]")
		members, _ := memberSchemas(schemas, name)
		if one := any("file"); part.FileName() == "" {
			one = fieldValue(members, string(text))
			add(value, name, one, list)
		} else {
			add(value, name, one, list)
		}
	}
}

// add adds a part to an object. A name that comes again makes a list.
func add(value object, name string, one any, list bool) {
	switch old, ok := value[name]; {
	case !ok && list:
		value[name] = []any{one}
	case !ok:
		value[name] = one
	default:
		all, ok := old.([]any)
		if !ok {
			all = []any{old}
		}
		value[name] = append(all, one)
	}
}

// fieldValue returns the value of a field, which is a text in the form: of the type that its schema has.
func fieldValue(schemas []*jsonschema.Schema, text string) any {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return text
	}
	for _, s := range schemas {
		if s.Validate(text) != nil && s.Validate(v) == nil {
			return v
		}
	}
	return text
}
