package openaitest

import (
	"bytes"
	_ "embed" // for the document
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documentURL names the document in references.
const documentURL = "https://openai.example/openapi.json"

//go:embed openai.json
var reduced []byte

// object is a JSON object.
type object = map[string]any

// document reads the document, corrects it, and says in words of JSON Schema what only OpenAPI says.
func document(list []correction) (object, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(reduced))
	if err != nil {
		return nil, err
	}
	doc, ok := v.(object)
	if !ok {
		return nil, errors.New("the document is not an object")
	}
	for _, c := range list {
		if err := c.apply(doc); err != nil {
			return nil, err
		}
	}
	doc, _ = nullable(doc).(object)
	return doc, nil
}

// nullable replaces the keyword nullable, which JSON Schema lacks, by a union with null.
func nullable(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = nullable(v[i])
		}
	case object:
		for name := range v {
			v[name] = nullable(v[name])
		}
		if v["nullable"] == true {
			delete(v, "nullable")
			return object{"anyOf": []any{v, object{"type": "null"}}}
		}
	}
	return value
}

// apply puts the right schema in the place of the wrong one, or of none.
func (c *correction) apply(doc object) error {
	to, err := jsonschema.UnmarshalJSON(strings.NewReader(c.to))
	if err != nil {
		return fmt.Errorf("correction of %s: %w", c.at, err)
	}
	var at any = doc
	names := strings.Split(strings.TrimPrefix(c.at, "/"), "/")
	for i, name := range names {
		last := i == len(names)-1
		switch v := at.(type) {
		case object:
			if v[name] == nil && !last {
				return fmt.Errorf("the document has no %s", c.at)
			}
			if last {
				v[name] = to
			}
			at = v[name]
		case []any:
			n := 0
			if _, err := fmt.Sscan(name, &n); err != nil || n >= len(v) {
				return fmt.Errorf("the document has no %s", c.at)
			}
			if last {
				v[n] = to
			}
			at = v[n]
		default:
			return fmt.Errorf("the document has no %s", c.at)
		}
	}
	return nil
}
