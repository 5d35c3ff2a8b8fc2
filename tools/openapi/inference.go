package main

import (
	"fmt"
	"strings"

	"github.com/modelgateway/modelgateway/dataplane"
)

// inference generates the operations of the data plane, by path, from their table. The base has
// what they have in common, and may have more of each.
func inference(base *object) (*object, error) {
	paths, known := obj(), obj()
	common, more := memberOf(base, hintInference), memberOf(base, hintOperations)
	for _, row := range dataplane.Operations() {
		first := row.Documented()[0]
		known.set(row.ID, true)
		for n, path := range row.Documented() {
			one := inferenceOperation(&row, common, memberOf(more, row.ID))
			if params := pathParameters(path); params != nil {
				one.set("parameters", params)
			}
			if n > 0 {
				one.set("operationId", furtherID(row.ID, "POST", path)).set("description", "The same as POST "+first+".").set(sameAs, row.ID)
			}
			paths.child(path).set("post", one)
		}
	}
	for _, id := range more.names {
		if known.get(id) == nil {
			return nil, fmt.Errorf("%s describes %s, which is not in the table of operations", hintOperations, id)
		}
	}
	return paths, nil
}

// pathParameters describes the names in braces of a path.
func pathParameters(path string) []any {
	var out []any
	for _, piece := range strings.Split(path, "{")[1:] {
		name, _, _ := strings.Cut(piece, "}")
		text, example := "The "+name+" of Google's clients. It chooses nothing: the model does.", "any"
		if name == "model" {
			text, example = "The model's name. It may have slashes.", "gpt-4o"
		}
		out = append(out, obj("name", name, "in", "path", "required", true, "description", text, "example", example, "schema", obj("type", "string", "minLength", 1)))
	}
	return out
}

// inferenceOperation generates the operation of a row.
func inferenceOperation(row *dataplane.Operation, common, more *object) *object {
	out := obj("operationId", row.ID, "tags", []string{"Inference"}, "summary", words(capital(row.ID)))
	if text := more.get("description"); text != nil {
		out.set("description", text)
	}
	answer := obj()
	for _, media := range row.Answers() {
		switch media {
		case row.Response:
			answer.set(media, form(more, "response", "object"))
		case row.Text:
			answer.set(media, form(more, "text", "string"))
		default:
			answer.set(media, form(more, "stream", "string"))
		}
	}
	responses := obj("200", obj("description", "The answer.", "headers", memberOf(common, "headers"), "content", answer))
	errors, own := memberOf(common, "errors"), memberOf(more, "errors")
	for _, status := range errors.names {
		if other := own.get(status); other != nil {
			responses.set(status, other)
			continue
		}
		responses.set(status, errors.get(status))
	}
	return out.set("requestBody", obj("required", true, "content", obj(row.Request.Media, form(more, "request", "object")))).set("responses", responses)
}

// memberOf returns a member that is an object; an empty one if it does not exist.
func memberOf(o *object, name string) *object {
	if one, ok := o.get(name).(*object); ok {
		return one
	}
	return obj()
}

// form returns the form of a body: its schema, and examples. It allows everything of a kind if the
// base does not describe the body.
func form(more *object, what, kind string) *object {
	if one := memberOf(more, what); len(one.names) > 0 {
		return one
	}
	return obj("schema", obj("type", kind))
}

// passthrough adds to the description of paths that the gateway does not serve itself where they are.
func passthrough(out *object) {
	var prefixes, methods []any
	for _, prefix := range dataplane.PassedPrefixes() {
		prefixes = append(prefixes, prefix)
	}
	for _, method := range dataplane.PassedMethods() {
		methods = append(methods, method)
	}
	out.set("prefixes", prefixes).set("methods", methods)
}
