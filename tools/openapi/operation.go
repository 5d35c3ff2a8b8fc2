package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// operations generates the operations of calls.
type operations struct {
	schemas  *schemas
	examples *examples
	kept     *object // complete hand-written examples, by the name of the call
}

// operation generates the n-th operation of a call.
func (o *operations) operation(c call, n int) (*object, error) {
	b := c.bindings[n]
	name := string(c.method.Name())
	text := capital(strings.TrimPrefix(strings.TrimPrefix(comment(c.method), name+" "), "is "))
	out := obj("operationId", operationID(c, n), "tags", []string{c.tag()}, "summary", words(name))
	whole := text
	if n > 0 {
		whole = described(text, "The same as "+c.bindings[0].verb+" "+c.bindings[0].path+".")
	}
	if whole != "" {
		out.set("description", whole)
	}
	if n > 0 {
		out.set(sameAs, operationID(c, 0))
	}
	if c.public() {
		out.set("security", []any{})
	}
	params, err := o.parameters(c, b)
	if err != nil {
		return nil, err
	}
	if len(params) > 0 {
		out.set("parameters", params)
	}
	if b.body != "" {
		body, err := o.body(c, b)
		if err != nil {
			return nil, err
		}
		out.set("requestBody", body)
	}
	answers, err := o.responses(c, b, text)
	if err != nil {
		return nil, err
	}
	return out.set("responses", answers), nil
}

// sameAs names the operation that another one duplicates.
const sameAs = "x-same-as"

// operationID returns the name of the call; see furtherID for further bindings.
func operationID(c call, n int) string {
	name := []rune(string(c.method.Name()))
	name[0] = unicode.ToLower(name[0])
	if n == 0 {
		return string(name)
	}
	return furtherID(string(name), c.bindings[n].verb, c.bindings[n].path)
}

// furtherID returns the name of an operation at a further path.
func furtherID(name, verb, path string) string {
	way := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(path, "_"), "_")
	return name + "_" + strings.ToLower(verb) + "_" + way
}

// words splits a name: UpdateKey becomes Update key.
func words(name string) string {
	var out strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		out.WriteRune(r)
	}
	return out.String()
}

// sentence splits a text after its first sentence.
func sentence(text string) (first, rest string) {
	for i := 0; i+2 < len(text); i++ {
		if next := rune(text[i+2]); text[i] == '.' && text[i+1] == ' ' && (unicode.IsUpper(next) || unicode.IsDigit(next)) {
			return text[:i+1], text[i+2:]
		}
	}
	return text, ""
}

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// parameters returns the parameters in path, query and headers.
func (o *operations) parameters(c call, b binding) ([]any, error) {
	var out []any
	fields := c.method.Input().Fields()
	inPath := b.params()
	for _, name := range inPath {
		f := fields.ByName(protoreflect.Name(name))
		if f == nil {
			return nil, fmt.Errorf("%s has no field %s", c.method.Input().FullName(), name)
		}
		one, err := o.parameter(f, "path")
		if err != nil {
			return nil, err
		}
		if slices.Contains(b.wild, name) {
			one.set("description", described(comment(f), "It may have slashes."))
		}
		out = append(out, one)
	}
	for i := range fields.Len() {
		f := fields.Get(i)
		if name := string(f.Name()); b.body == "*" || name == b.body || slices.Contains(inPath, name) {
			continue
		}
		one, err := o.parameter(f, "query")
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	if c.changes() {
		out = append(out, obj("$ref", "#/components/parameters/IdempotencyKey"))
	}
	if fields.ByName(fieldExpected) != nil {
		out = append(out, obj("$ref", "#/components/parameters/IfMatch"))
	}
	if c.option().GetConditional() {
		out = append(out, obj("$ref", "#/components/parameters/IfNoneMatch"))
	}
	return out, nil
}

func (o *operations) parameter(f protoreflect.FieldDescriptor, in string) (*object, error) {
	if m := f.Message(); m != nil && (f.IsMap() || wellKnown(m.FullName()) == nil || kindOf(wellKnown(m.FullName())) == "object") {
		return nil, fmt.Errorf("%s cannot be a parameter: it is an object", f.FullName())
	}
	schema, err := o.schemas.field(f, request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.FullName(), err)
	}
	must, err := mustBeGiven(f)
	if err != nil {
		return nil, err
	}
	out := obj("name", string(f.Name()), "in", in)
	if text := described(comment(f), fieldRules(f)); text != "" {
		out.set("description", text)
	}
	if must || in == "path" {
		out.set("required", true)
	}
	if in == "path" && kindOf(schema) == "string" && schema.get("minLength") == nil {
		schema.set("minLength", uint64(1))
	}
	if examples, ok := schema.get("examples").([]any); ok {
		schema.drop("examples")
		out.set("example", examples[0])
	} else if must || in == "path" {
		out.set("example", o.examples.of(schema, string(f.Name()), request))
	}
	return out.set("schema", schema), nil
}

func (o *operations) body(c call, b binding) (*object, error) {
	input := c.method.Input()
	var schema *object
	var err error
	if b.body == "*" {
		schema, err = o.schemas.without(input, b.params())
	} else {
		f := input.Fields().ByName(protoreflect.Name(b.body))
		if f == nil {
			return nil, fmt.Errorf("%s has no field %s", input.FullName(), b.body)
		}
		schema, err = o.schemas.field(f, request)
	}
	if err != nil {
		return nil, err
	}
	example := o.keptExample(string(c.method.Name()), "request")
	if example == nil {
		example = o.examples.of(schema, "", request)
	} else if kept, ok := example.(*object); ok {
		example = withoutMembers(kept, b.params())
	}
	must := false
	for i := range input.Fields().Len() {
		f := input.Fields().Get(i)
		one, err := mustBeGiven(f)
		if err != nil {
			return nil, err
		}
		must = must || one && !slices.Contains(b.params(), string(f.Name()))
	}
	return obj("required", must, "content", obj("application/json", obj("schema", schema, "example", example))), nil
}

// withoutMembers removes the members that the path contains.
func withoutMembers(o *object, names []string) *object {
	out := o.copyOf()
	for _, n := range names {
		out.drop(n)
	}
	return out
}

func (o *operations) keptExample(call, what string) any {
	kept, _ := o.kept.get(call).(*object)
	if kept == nil {
		return nil
	}
	return kept.get(what)
}

// responses returns the responses of the operation.
func (o *operations) responses(c call, b binding, text string) (*object, error) {
	output := c.method.Output()
	schema, err := o.schemas.ref(output, response)
	single := isRecord(output)
	if b.answer != "" {
		f := output.Fields().ByName(protoreflect.Name(b.answer))
		if f == nil {
			return nil, fmt.Errorf("%s has no field %s", output.FullName(), b.answer)
		}
		schema, err = o.schemas.field(f, response)
		single = false
	}
	if err != nil {
		return nil, err
	}
	example := o.keptExample(string(c.method.Name()), "response")
	if example == nil {
		example = o.examples.of(schema, b.answer, response)
	}
	headers := obj(
		"x-gateway-request-id", obj("$ref", "#/components/headers/RequestID"),
		"x-gateway-revision", obj("$ref", "#/components/headers/Revision"),
	)
	if single {
		headers.set("etag", obj("$ref", "#/components/headers/ETag"))
	}
	if c.changes() {
		headers.set("idempotency-replayed", obj("$ref", "#/components/headers/IdempotencyReplayed"))
	}
	first, _ := sentence(about(output))
	content := obj("application/json", obj("schema", schema, "example", example))
	if also, ok := o.keptExample(string(c.method.Name()), "also").(*object); ok { // other media types of the same response
		for _, media := range also.names {
			content.set(media, also.get(media))
		}
	}
	out := obj("200", obj("description", first, "headers", headers, "content", content))
	if c.option().GetConditional() {
		out.set("304", obj("description", "It is what If-None-Match names."))
	}
	for _, r := range refusals(c, b, text) {
		one := obj("$ref", "#/components/responses/"+r.component)
		if why := said(text, r.status); why != "" {
			one.set("description", why)
		}
		out.set(r.status, one)
	}
	return out, nil
}

// isRecord reports whether a response is one record, or has one and facts about it: its
// revision is that of the response.
func isRecord(m protoreflect.MessageDescriptor) bool {
	if m.Fields().ByName(fieldRevision) != nil {
		return true
	}
	records := 0
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		if inner := f.Message(); inner != nil && !f.IsList() && !f.IsMap() && inner.Fields().ByName(fieldRevision) != nil {
			records++
		}
	}
	return records == 1
}

type refusal struct{ status, component string }

// refusals returns the errors of an operation.
func refusals(c call, b binding, text string) []refusal {
	secured := !c.public()
	named := c.method.Input().Fields().Len() > 0 || strings.Contains(text, "404")
	var out []refusal
	for _, row := range []struct {
		refusal
		when bool
	}{
		{refusal{"400", "BadRequest"}, true},
		{refusal{"401", "Unauthorized"}, secured},
		{refusal{"403", "Forbidden"}, secured},
		{refusal{"404", "NotFound"}, named},
		{refusal{"408", "RequestTimeout"}, b.body != ""},
		{refusal{"409", "Conflict"}, c.changes()},
		{refusal{"413", "TooLarge"}, b.body != ""},
		{refusal{"415", "UnsupportedMediaType"}, b.body != ""},
		{refusal{"422", "Invalid"}, true},
		{refusal{"431", "HeadersTooLarge"}, true},
		{refusal{"503", "Unavailable"}, true},
	} {
		if row.when {
			out = append(out, row.refusal)
		}
	}
	return out
}

// said returns the sentence of a comment that begins with a status.
func said(text, status string) string {
	for text != "" {
		var one string
		one, text = sentence(text)
		for clause := range strings.SplitSeq(strings.TrimSuffix(one, "."), ", ") {
			if rest, ok := strings.CutPrefix(clause, status+" "); ok {
				return capital(rest) + "."
			}
		}
	}
	return ""
}
