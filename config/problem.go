package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Problem is one thing that is wrong with, or pointless in, a configuration file.
type Problem struct {
	File   string // name of the file, as it was given
	Line   int    // first line is 1; 0 if the problem has no place
	Column int    // first column is 1
	Path   string // such as model_list[0].gateway_params; empty for the whole file
	Detail string // what is wrong, and the remedy; shows no secret
}

// String returns the problem as file:line:column: path: detail.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.Path != "" {
		b.WriteString(": ")
		b.WriteString(p.Path)
	}
	b.WriteString(": ")
	b.WriteString(p.Detail)
	return b.String()
}

// ProblemsError is why a file is rejected: all that is wrong with it, in the order of
// the file. It unwraps to one *fault.Error a problem.
type ProblemsError []Problem

// Error returns one problem a line.
func (ps ProblemsError) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems as errors with a kind.
func (ps ProblemsError) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = fault.Field(p.Path, invalid, "%s", p.Detail)
	}
	return errs
}

// invalid is the code of every problem.
const invalid = "invalid_configuration"

// sorted puts problems into the order of the file. What aliases and merges
// repeat is said once.
func sorted(ps []Problem) []Problem {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(ps)
}

// place is a position in the file.
type place struct{ line, column int }

// places finds the place of a path.
type places map[string]place

// find returns the place of the path, or of the nearest enclosing one.
func (ps places) find(path string) place {
	for path != "" {
		if at, ok := ps[path]; ok {
			return at
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return place{}
}

// Locate gives complaints about the configuration that were found later on
// their place in the file: each *fault.Error within err whose Param is a path
// becomes a Problem. Errors of other sorts are returned as they are, joined
// behind the problems. Locate(nil) is nil.
func (c *Config) Locate(err error) error {
	if err == nil {
		return nil
	}
	var found ProblemsError
	var others []error
	for _, e := range flatten(err) {
		var f *fault.Error
		if !errors.As(e, &f) || f.Param == "" {
			others = append(others, e)
			continue
		}
		at := c.origin.at.find(f.Param)
		found = append(found, Problem{File: c.origin.file, Line: at.line, Column: at.column, Path: f.Param, Detail: f.Message()})
	}
	if len(found) == 0 {
		return err
	}
	found = sorted(found)
	if len(others) == 0 {
		return found
	}
	return errors.Join(append([]error{found}, others...)...)
}

// flatten takes joined errors apart.
func flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, flatten(e)...)
	}
	return all
}
