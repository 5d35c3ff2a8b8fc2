package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Members of the base that this program reads and does not write to the document.
const (
	hintKept     = "x-kept"     // fields that an update does not clear
	hintFields   = "x-examples" // examples by field
	hintExamples = "x-calls"    // examples by call

	hintInference  = "x-inference"  // what the operations of the data plane have in common
	hintOperations = "x-operations" // more of each of them
)

// document adds the generated part to the base. Operations are in the order of source.calls,
// followed by those of the data plane and those of the base.
func document(src *source) (*object, error) {
	doc := src.base.copyOf()
	components := doc.child("components")
	ops := &operations{
		kept: doc.child(hintExamples),
	}
	ops.examples = newExamples(components.child("schemas"), doc.child(hintFields), src.calls)
	ops.schemas = newSchemas(components.child("schemas"), listAt(doc, hintKept), src.calls)
	if err := tags(doc, src.calls); err != nil {
		return nil, err
	}
	paths := obj()
	for _, c := range src.calls {
		for n, b := range c.bindings {
			one, err := ops.operation(c, n)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.method.FullName(), err)
			}
			if err := place(paths, b.verb, b.path, one); err != nil {
				return nil, err
			}
		}
	}
	operations, err := inference(doc)
	if err != nil {
		return nil, err
	}
	for _, more := range []*object{operations, doc.child("paths")} {
		if err := placeAll(paths, more); err != nil {
			return nil, err
		}
	}
	doc.set("paths", paths)
	passthrough(doc.child("x-passthrough"))
	for _, hint := range []string{hintKept, hintFields, hintExamples, hintInference, hintOperations} {
		doc.drop(hint)
	}
	return doc, checkIDs(paths)
}

// listAt returns a member that is a list.
func listAt(o *object, name string) []any {
	list, _ := o.get(name).([]any)
	return list
}

// placeAll adds all operations of further paths.
func placeAll(paths, more *object) error {
	for _, p := range more.names {
		item, _ := more.get(p).(*object)
		for _, verb := range item.names {
			one, _ := item.get(verb).(*object)
			if err := place(paths, verb, p, one); err != nil {
				return err
			}
		}
	}
	return nil
}

// place adds an operation at its path. Two paths that differ only in parameter names are equal
// for a client: the names of the first one are used.
func place(paths *object, verb, path string, one *object) error {
	for _, other := range paths.names {
		if other != path && nameless(other) == nameless(path) {
			rename(one, names(path), names(other))
			path = other
			break
		}
	}
	item := paths.child(path)
	if item.get(strings.ToLower(verb)) != nil {
		return fmt.Errorf("%s %s is defined twice", verb, path)
	}
	item.set(strings.ToLower(verb), one)
	return nil
}

// rename renames the parameters of a path.
func rename(one *object, from, to []string) {
	params, _ := one.get("parameters").([]any)
	for _, p := range params {
		param, _ := p.(*object)
		if i := slices.Index(from, fmt.Sprint(param.get("name"))); i >= 0 && param.get("in") == "path" {
			param.set("name", to[i])
		}
	}
}

func nameless(path string) string {
	var out strings.Builder
	for i, part := range strings.Split(path, "{") {
		if i > 0 {
			_, part, _ = strings.Cut(part, "}")
			out.WriteString("{}")
		}
		out.WriteString(part)
	}
	return out.String()
}

func checkIDs(paths *object) error {
	seen := map[any]string{}
	for _, p := range paths.names {
		item, _ := paths.get(p).(*object)
		for _, verb := range item.names {
			one, _ := item.get(verb).(*object)
			id := one.get("operationId")
			if other, ok := seen[id]; ok || id == nil {
				return fmt.Errorf("%s %s has the operationId %v of %s", verb, p, id, other)
			}
			seen[id] = p
		}
	}
	return nil
}

// tags adds the tags of services that the base does not list. The service's comment becomes the
// tag's description.
func tags(doc *object, calls []call) error {
	listed, _ := doc.get("tags").([]any)
	known := map[string]*object{}
	for _, t := range listed {
		one, _ := t.(*object)
		if one == nil {
			return fmt.Errorf("a tag is not an object")
		}
		known[fmt.Sprint(one.get("name"))] = one
	}
	for _, c := range calls {
		tag := c.tag()
		if known[tag] == nil {
			known[tag] = obj("name", tag)
			listed = append(listed, known[tag])
		}
		if known[tag].get("description") == nil {
			known[tag].set("description", serviceText(c.method.Parent()))
		}
	}
	doc.set("tags", listed)
	return nil
}

// serviceText returns a service's comment without its name.
func serviceText(d protoreflect.Descriptor) string {
	return capital(strings.TrimPrefix(comment(d), string(d.Name())+" "))
}
