package prompts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Bounds of schemas.
const (
	maxSchema      = 64 << 10 // bytes
	maxSchemaDepth = 16
)

// schema is a JSON Schema with the keywords that need one look at each value: no references,
// alternatives or regular expressions. So its author cannot make a check slow, and it has no
// addresses to load others from.
type schema struct {
	types      []string // none: any
	enum       []jsontext.Value
	minimum    *float64
	maximum    *float64
	minLength  *int // in characters
	maxLength  *int
	minItems   *int
	maxItems   *int
	items      *schema
	properties map[string]*schema
	names      []string // of properties, in order
	required   []string
	closed     bool    // no other properties
	additional *schema // of other properties; nil: any
	standard   jsontext.Value
}

// schemaText is a schema as its author writes it. Unknown keywords are rejected: they would look
// like a check and check nothing.
type schemaText struct {
	Type                 jsontext.Value   `json:"type"`
	Enum                 []jsontext.Value `json:"enum"`
	Const                jsontext.Value   `json:"const"`
	Default              jsontext.Value   `json:"default"`
	Minimum              *float64         `json:"minimum"`
	Maximum              *float64         `json:"maximum"`
	MinLength            *int             `json:"minLength"`
	MaxLength            *int             `json:"maxLength"`
	MinItems             *int             `json:"minItems"`
	MaxItems             *int             `json:"maxItems"`
	Items                jsontext.Value   `json:"items"`
	Properties           jsontext.Value   `json:"properties"`
	Required             []string         `json:"required"`
	AdditionalProperties jsontext.Value   `json:"additionalProperties"`

	// They describe, and check nothing.
	Schema      string           `json:"$schema"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Examples    []jsontext.Value `json:"examples"`
	Comment     string           `json:"$comment"`
	Deprecated  bool             `json:"deprecated"`
}

// parseSchema reads the schema of the variables of a version. The error is a *fault.Error of a
// field below param.
func parseSchema(param string, text jsontext.Value) (*schema, error) {
	if len(text) > maxSchema || nesting(text) > 2*maxSchemaDepth {
		return nil, fault.Field(param, "too_long", "%s has more than %d bytes, or nests too deep. Make it shorter.", param, maxSchema)
	}
	s, err := newSchema(param, text, 0)
	if err != nil {
		return nil, err
	}
	if len(s.types) > 0 && !slices.Equal(s.types, []string{"object"}) {
		return nil, fault.Field(param+".type", "invalid_value", "%s.type must be object: the variables of a request are the properties of an object.", param)
	}
	return s, nil
}

func newSchema(at string, text jsontext.Value, depth int) (*schema, error) {
	var in schemaText
	switch {
	case depth > maxSchemaDepth:
		return nil, fault.Field(at, "too_deep", "%s nests deeper than %d levels.", at, maxSchemaDepth)
	case text.Kind() != '{':
		return nil, fault.Field(at, "invalid_type", "%s must be an object, a JSON Schema.", at)
	}
	if err := json.Unmarshal(text, &in, json.RejectUnknownMembers(true)); err != nil {
		return nil, fault.Field(at, "invalid_value", "%s is not a JSON Schema of the kind that variables have: type, enum, const, default, minimum, maximum, minLength, maxLength, minItems, maxItems, items, properties, required, additionalProperties, and title, description and examples. It may have no other keyword, such as $ref, and none of another type.", at)
	}
	out := &schema{
		enum: in.Enum, minimum: in.Minimum, maximum: in.Maximum, minLength: in.MinLength, maxLength: in.MaxLength,
		minItems: in.MinItems, maxItems: in.MaxItems, required: in.Required, standard: in.Default,
	}
	if in.Const != nil {
		out.enum = append(out.enum, in.Const)
	}
	for i := range out.enum {
		if err := out.enum[i].Canonicalize(); err != nil {
			return nil, fault.Field(at+".enum", "invalid_value", "%s.enum has a value that is no JSON of double precision.", at)
		}
	}
	if err := out.readTypes(at, in.Type); err != nil {
		return nil, err
	}
	if err := out.readInner(at, &in, depth); err != nil {
		return nil, err
	}
	if out.standard != nil {
		if err := out.check("default", out.standard); err != nil {
			return nil, fault.Field(at+".default", "invalid_value", "%s.default does not fit the schema: %s", at, fault.From(err).Detail)
		}
	}
	return out, nil
}

// readTypes reads the keyword type: a name, or a list of names.
func (s *schema) readTypes(at string, v jsontext.Value) error {
	if v == nil {
		return nil
	}
	if name, ok := textOf(v); ok {
		s.types = []string{name}
	} else if v.Kind() != '[' || json.Unmarshal(v, &s.types) != nil || len(s.types) == 0 {
		return fault.Field(at+".type", "invalid_type", "%s.type must be the name of a type, or a list of names.", at)
	}
	known := []string{"string", "number", "integer", "boolean", "object", "array", "null"}
	for _, name := range s.types {
		if !slices.Contains(known, name) {
			return fault.Field(at+".type", "invalid_value", "%s.type has %s. The types are string, number, integer, boolean, object, array and null.", at, fault.Quote(name))
		}
	}
	return nil
}

// readInner reads the schemas of items and properties.
func (s *schema) readInner(at string, in *schemaText, depth int) (err error) {
	if in.Items != nil {
		if s.items, err = newSchema(at+".items", in.Items, depth+1); err != nil {
			return err
		}
	}
	switch in.AdditionalProperties.Kind() { //nolint:exhaustive // all others are schemas, or no schemas
	case 'f':
		s.closed = true
	case 't', jsontext.KindInvalid: // which is no value
	default:
		if s.additional, err = newSchema(at+".additionalProperties", in.AdditionalProperties, depth+1); err != nil {
			return err
		}
	}
	if in.Properties == nil {
		return nil
	}
	names, values, err := members(in.Properties)
	if in.Properties.Kind() != '{' || err != nil {
		return fault.Field(at+".properties", "invalid_type", "%s.properties must be an object with a schema for each name.", at)
	}
	s.names, s.properties = names, make(map[string]*schema, len(names))
	for i, name := range names {
		if s.properties[name], err = newSchema(at+".properties."+name, values[i], depth+1); err != nil {
			return err
		}
	}
	return nil
}

// apply checks variables, and returns them with the defaults of those that are not given. The
// error is invalid_prompt_variables.
func (s *schema) apply(variables jsontext.Value) (jsontext.Value, error) {
	if len(variables) == 0 {
		variables = jsontext.Value("{}")
	}
	given, _, err := members(variables)
	if err != nil {
		return nil, invalidVariables(FieldVariables, "%s is not valid JSON, or names a variable twice.", FieldVariables)
	}
	var added []byte
	for _, name := range s.names {
		value := s.properties[name].standard
		if value == nil || slices.Contains(given, name) {
			continue
		}
		if len(given)+len(added) > 0 {
			added = append(added, ',')
		}
		if added, err = jsontext.AppendQuote(added, name); err != nil {
			return nil, err
		}
		added = append(append(added, ':'), value...)
	}
	if added != nil {
		end := len(variables) - 1
		for variables[end] != '}' {
			end--
		}
		variables = append(append(slices.Clone(variables[:end]), added...), '}')
	}
	return variables, s.check(FieldVariables, variables)
}

// check checks a value. Errors name the place and what the value must be, and never the value.
func (s *schema) check(at string, v jsontext.Value) error {
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, func(name string) bool { return isType(name, v) }) {
		return invalidVariables(at, "%s must be of the type %s.", at, listed(s.types))
	}
	if s.enum != nil {
		one := slices.Clone(v)
		if one.Canonicalize() != nil || !slices.ContainsFunc(s.enum, func(e jsontext.Value) bool { return string(e) == string(one) }) {
			return invalidVariables(at, "%s must be one of the values that the prompt's variable_schema lists.", at)
		}
	}
	switch v.Kind() { //nolint:exhaustive // all others have nothing more to check
	case '"':
		return s.checkText(at, v)
	case '0':
		return s.checkNumber(at, v)
	case '[':
		return s.checkList(at, v)
	case '{':
		return s.checkObject(at, v)
	}
	return nil
}

func isType(name string, v jsontext.Value) bool {
	switch v.Kind() { //nolint:exhaustive // all others are numbers
	case 'n':
		return name == "null"
	case 't', 'f':
		return name == "boolean"
	case '"':
		return name == "string"
	case '[':
		return name == "array"
	case '{':
		return name == "object"
	}
	n, err := strconv.ParseFloat(string(v), 64)
	return name == "number" || name == "integer" && err == nil && n == float64(int64(n))
}

func (s *schema) checkText(at string, v jsontext.Value) error {
	if s.minLength == nil && s.maxLength == nil {
		return nil
	}
	text, _ := textOf(v)
	return within(at, "characters", utf8.RuneCountInString(text), s.minLength, s.maxLength)
}

func (s *schema) checkNumber(at string, v jsontext.Value) error {
	n, err := strconv.ParseFloat(string(v), 64)
	switch {
	case err != nil:
		return invalidVariables(at, "%s is too large.", at)
	case s.minimum != nil && n < *s.minimum:
		return invalidVariables(at, "%s must be at least %v.", at, *s.minimum)
	case s.maximum != nil && n > *s.maximum:
		return invalidVariables(at, "%s must be at most %v.", at, *s.maximum)
	}
	return nil
}

func (s *schema) checkList(at string, v jsontext.Value) error {
	items, err := elements(v)
	if err != nil {
		return invalidVariables(at, "%s is not valid JSON.", at)
	}
	if err := within(at, "items", len(items), s.minItems, s.maxItems); err != nil || s.items == nil {
		return err
	}
	for i, item := range items {
		if err := s.items.check(fmt.Sprintf("%s[%d]", at, i), item); err != nil {
			return err
		}
	}
	return nil
}

func (s *schema) checkObject(at string, v jsontext.Value) error {
	names, values, err := members(v)
	if err != nil {
		return invalidVariables(at, "%s is not valid JSON.", at)
	}
	for _, name := range s.required {
		if !slices.Contains(names, name) {
			return invalidVariables(at+"."+name, "%s.%s is missing. The prompt's variable_schema requires it.", at, name)
		}
	}
	for i, name := range names {
		of := s.properties[name]
		if of == nil {
			of = s.additional
			if s.closed {
				return invalidVariables(at, "%s has %s, which the prompt's variable_schema does not have. Remove it.", at, fault.Quote(name))
			}
		}
		if of == nil {
			continue
		}
		if err := of.check(at+"."+name, values[i]); err != nil {
			return err
		}
	}
	return nil
}

func within(at, what string, n int, least, most *int) error {
	switch {
	case least != nil && n < *least:
		return invalidVariables(at, "%s must have at least %d %s.", at, *least, what)
	case most != nil && n > *most:
		return invalidVariables(at, "%s must have at most %d %s.", at, *most, what)
	}
	return nil
}

// listed joins names as a sentence does.
func listed(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
