package googleschema_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/googleschema"
)

func TestStandard(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}},"required":["a"],"propertyOrdering":["a"]}`: `{"properties":{"a":{"type":["string","null"]}},"required":["a"],"type":"object"}`,
		`{"type":"ARRAY","items":{"type":"STRING","format":"enum","enum":["x"]},"min_items":"2"}`:                          `{"items":{"enum":["x"],"type":"string"},"minItems":2,"type":"array"}`,
		`{"any_of":[{"type":"INTEGER"},{"ref":"#/$defs/A"}],"defs":{"A":{"type":"NUMBER"}}}`:                               `{"$defs":{"A":{"type":"number"}},"anyOf":[{"type":"integer"},{"$ref":"#/$defs/A"}]}`,
		`{"type":"TYPE_UNSPECIFIED","title":"t"}`:                                                                          `{"title":"t"}`,
		`{"properties":{"minItems":{"type":"STRING"},"type":{"type":"STRING"}}}`:                                           `{"properties":{"minItems":{"type":"string"},"type":{"type":"string"}}}`,
		`[1]`: `[1]`, `true`: `true`, `"`: `"`,
	} {
		if got := googleschema.Standard(jsontext.Value(schema)); string(got) != want {
			t.Errorf("%s became %s, want %s", schema, got, want)
		}
	}
	if got := googleschema.Standard(nil); got != nil {
		t.Errorf("no schema became %s", got)
	}
}

// A schema that Google's form can carry is the same there and back.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"properties":{"a":{"description":"d","type":"string"},"b":{"items":{"type":"integer"},"maxItems":3,"type":"array"}},"required":["a"],"type":"object"}`,
		`{"enum":["x","y"],"type":"string"}`, `{"anyOf":[{"type":"string"},{"minimum":1,"type":"number"}]}`, `{"type":["string","null"]}`,
	} {
		there := googleschema.Reduced(jsontext.Value(schema))
		if back := googleschema.Standard(there); string(back) != schema {
			t.Errorf("%s became %s, and came back as %s", schema, there, back)
		}
	}
}
