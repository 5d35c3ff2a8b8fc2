package anthropic

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// What a JSON value inside a schema means, since a property may be called
// "minimum" without being one.
type schemaPlace uint8

const (
	aSchema  schemaPlace = iota // keywords are keywords
	aNameMap                    // from names to schemas: properties, $defs
	aValue                      // data: enum, const, default, examples, required
)

// StrictSchema reduces a schema to the subset that Anthropic's constrained
// decoding accepts: it removes bounds on numbers, texts and lists, and closes every
// object. The response then fits the shape. The bounds are not guaranteed, as with
// OpenAI's own models.
func StrictSchema(schema jsontext.Value) jsontext.Value {
	dec := jsontext.NewDecoder(bytes.NewReader(schema))
	var out bytes.Buffer
	enc := jsontext.NewEncoder(&out)
	if copySchema(dec, enc, aSchema) != nil {
		return schema // not a schema: the provider rejects it
	}
	return bytes.TrimSpace(out.Bytes())
}

// copySchema copies one value. Its depth is bounded by the decoder's.
func copySchema(dec *jsontext.Decoder, enc *jsontext.Encoder, place schemaPlace) error {
	switch {
	case place == aValue || dec.PeekKind() != '{' && dec.PeekKind() != '[':
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		return enc.WriteValue(v)
	case dec.PeekKind() == '[': // anyOf and its like
		return copyEach(dec, enc, place)
	}
	return copyObject(dec, enc, place)
}

// copyEach copies an array of schemas.
func copyEach(dec *jsontext.Decoder, enc *jsontext.Encoder, place schemaPlace) error {
	if err := copyToken(dec, enc); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		if err := copySchema(dec, enc, place); err != nil {
			return err
		}
	}
	return copyToken(dec, enc)
}

// copyObject copies a schema or a map of schemas.
func copyObject(dec *jsontext.Decoder, enc *jsontext.Encoder, place schemaPlace) error {
	if err := copyToken(dec, enc); err != nil {
		return err
	}
	object := false
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		if place == aSchema && (unsupportedKeyword(name) || name == "additionalProperties") {
			if err := dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		if err := enc.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if place == aSchema && name == "type" {
			kind, err := dec.ReadValue()
			if err != nil {
				return err
			}
			object = object || string(kind) == `"object"`
			if err := enc.WriteValue(kind); err != nil {
				return err
			}
			continue
		}
		object = object || name == "properties"
		if err := copySchema(dec, enc, placeOf(place, name)); err != nil {
			return err
		}
	}
	if place == aSchema && object {
		if err := enc.WriteToken(jsontext.String("additionalProperties")); err != nil {
			return err
		}
		if err := enc.WriteToken(jsontext.False); err != nil {
			return err
		}
	}
	return copyToken(dec, enc)
}

// placeOf returns what the member of that name is.
func placeOf(outer schemaPlace, name string) schemaPlace {
	if outer == aNameMap {
		return aSchema
	}
	switch name {
	case "properties", "$defs", "definitions":
		return aNameMap
	case "items", "anyOf", "allOf", "oneOf", "not", "prefixItems":
		return aSchema
	}
	return aValue
}

// unsupportedKeyword reports whether the constrained decoding lacks a keyword.
func unsupportedKeyword(name string) bool {
	return slices.Contains([]string{
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "pattern",
		"minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains",
		"minProperties", "maxProperties", "patternProperties", "propertyNames",
		"unevaluatedProperties", "unevaluatedItems", "dependentSchemas", "dependentRequired",
	}, name)
}

// copyToken copies one token.
func copyToken(dec *jsontext.Decoder, enc *jsontext.Encoder) error {
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	return enc.WriteToken(token)
}
