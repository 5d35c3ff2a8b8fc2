package openaitest

import (
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// complaints returns the problems of a value that is not valid. Of a union these are the problems of the
// part that is meant.
func complaints(err error) []string {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	var out []string
	for _, leaf := range meant(invalid) {
		for _, text := range texts(leaf) {
			out = append(out, "/"+strings.Join(leaf.InstanceLocation, "/")+": "+text)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// meant returns the errors without causes. Of a union, each part has its own: only those of one part are kept.
func meant(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		best := meant(e.Causes[0])
		for _, cause := range e.Causes[1:] {
			if other := meant(cause); closer(e, other, best) {
				best = other
			}
		}
		return best
	}
	var out []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		out = append(out, meant(cause)...)
	}
	return out
}

// closer reports whether errors are those of a likelier part of a union than others: one of the
// value's type, and then one with fewer errors.
func closer(union *jsonschema.ValidationError, errs, others []*jsonschema.ValidationError) bool {
	if a, b := foreign(union, errs), foreign(union, others); a != b {
		return b
	}
	return len(errs) < len(others)
}

// foreign reports whether the value is of another type than a part of a union is about.
func foreign(union *jsonschema.ValidationError, errs []*jsonschema.ValidationError) bool {
	depth := len(union.InstanceLocation)
	return slices.ContainsFunc(errs, func(e *jsonschema.ValidationError) bool {
		switch len(e.InstanceLocation) {
		case depth:
			_, ok := e.ErrorKind.(*kind.Type)
			return ok
		case depth + 1:
			name := e.InstanceLocation[depth]
			return name == "type" || name == "role" || name == "object"
		}
		return false
	})
}

// texts returns what an error without causes says, of each member by itself.
func texts(e *jsonschema.ValidationError) []string {
	var out []string
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			out = append(out, name+" is missing")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			out = append(out, "there is no such member as "+name)
		}
	default:
		out = append(out, e.BasicOutput().Error.String())
	}
	return out
}
