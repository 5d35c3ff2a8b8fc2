package openaitest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// valueProblems returns what a schema says against a value, and the members that it does not know.
func valueProblems(s *jsonschema.Schema, v any) []string {
	if err := s.Validate(v); err != nil {
		return complaints(err)
	}
	return unknown([]*jsonschema.Schema{s}, v, "")
}

// unknown returns the members of a valid value that none of its schemas has. OpenAI's schemas allow
// others in most objects, for what its API will have; the gateway must not write such ones.
func unknown(schemas []*jsonschema.Schema, v any, path string) []string {
	all := flat(nil, schemas, v)
	var out []string
	switch v := v.(type) {
	case []any:
		var items []*jsonschema.Schema
		for _, s := range all {
			if s.Items2020 != nil {
				items = append(items, s.Items2020)
			}
		}
		for i, one := range v {
			out = append(out, unknown(items, one, path+"/"+strconv.Itoa(i))...)
		}
	case object:
		if free(all) {
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			members, ok := memberSchemas(all, name)
			if !ok {
				out = append(out, fmt.Sprintf("%s/%s: %s has no such member", path, name, names(all)))
				continue
			}
			out = append(out, unknown(members, v[name], path+"/"+name)...)
		}
	}
	return out
}

// flat appends the schemas that a value has: with those that they refer to, and of unions those
// that the value fits.
func flat(out, schemas []*jsonschema.Schema, v any) []*jsonschema.Schema {
	for _, s := range schemas {
		out = append(out, s)
		if s.Ref != nil {
			out = flat(out, []*jsonschema.Schema{s.Ref}, v)
		}
		out = flat(out, s.AllOf, v)
		for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
			if one.Validate(v) == nil {
				out = flat(out, []*jsonschema.Schema{one}, v)
			}
		}
	}
	return out
}

// free reports whether the schemas of an object name no members.
func free(all []*jsonschema.Schema) bool {
	return !slices.ContainsFunc(all, func(s *jsonschema.Schema) bool { return len(s.Properties) > 0 })
}

// memberSchemas returns the schemas of a member, and whether there may be one.
func memberSchemas(all []*jsonschema.Schema, name string) (out []*jsonschema.Schema, ok bool) {
	for _, s := range all {
		if m := s.Properties[name]; m != nil {
			out, ok = append(out, m), true
		}
		switch more := s.AdditionalProperties.(type) {
		case bool:
			ok = ok || more
		case *jsonschema.Schema:
			out, ok = append(out, more), true
		}
		ok = ok || isAddition(schemaName(s), name)
	}
	return out, ok
}

// schemaName returns the name of a schema of the document, or the place of a part of one below the name.
func schemaName(s *jsonschema.Schema) string {
	_, name, _ := strings.Cut(s.Location, "#/components/schemas/")
	return name
}

// names returns the names of schemas, for a problem.
func names(all []*jsonschema.Schema) string {
	var out []string
	for _, s := range all {
		if name := schemaName(s); name != "" && len(s.Properties) > 0 {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		_, place, _ := strings.Cut(all[0].Location, "#")
		return place
	}
	return strings.Join(out, ", ")
}
