package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/config/litellm"
)

// decoder collects what reading one file yields.
type decoder struct {
	file      string
	env       func(string) (string, bool)
	variables map[string]vault.Secret // of environment_variables
	at        places                  // of what the catalogue may complain about
	problems  ProblemsError
	warnings  []Problem
	accepted  map[string]bool // names of --accept-unprotected, and whether the file has them
	tables    litellm.Index   // what LiteLLM documents

	maxParallel int64 // general_settings.max_parallel_requests, another name of a router setting
}

// report adds a problem at a place.
func (d *decoder) report(at place, path, detail string) {
	d.problems = append(d.problems, Problem{File: d.file, Line: at.line, Column: at.column, Path: path, Detail: detail})
}

// fail adds a problem with a value.
func (d *decoder) fail(n *node, format string, args ...any) {
	d.report(n.at, n.path, fmt.Sprintf(format, args...))
}

// warn notes that a value is understood and does nothing.
func (d *decoder) warn(n *node, format string, args ...any) {
	d.warnings = append(d.warnings, Problem{
		File: d.file, Line: n.at.line, Column: n.at.column, Path: n.path, Detail: fmt.Sprintf(format, args...),
	})
}

// object is a mapping being read: it remembers which keys were asked for, and
// close reports the others.
type object struct {
	d     *decoder
	n     *node
	asked []string
	taken []bool
	lost  bool            // the value is no mapping, which is reported
	also  func() []string // further names that a key may have been meant to be
}

// open starts to read a mapping. A nil node, or one that is no mapping, reads
// as an empty one; the latter is a problem.
func (d *decoder) open(n *node) *object {
	o := &object{d: d, n: n}
	switch {
	case n == nil || n.kind == absent:
		o.n, o.lost = &node{kind: mapping}, true
	case n.kind != mapping:
		d.fail(n, "must be a mapping of key: value lines, and is %s", n.kind)
		o.n, o.lost = &node{kind: mapping, path: n.path, at: n.at}, true
	}
	o.asked = make([]string, 0, 32)
	o.taken = make([]bool, len(o.n.fields))
	return o
}

// take returns the value of a key and whether it is there; null is not there.
func (o *object) take(name string) (*node, bool) {
	o.asked = append(o.asked, name)
	for i, f := range o.n.fields {
		if f.name == name {
			o.taken[i] = true
			return f.value, f.value.kind != absent
		}
	}
	return nil, false
}

// rest calls known for each key that nobody asked for, and reports the key if
// known returns false.
func (o *object) rest(known func(f field) bool) {
	for i, f := range o.n.fields {
		if o.taken[i] || known != nil && known(f) {
			continue
		}
		if o.also != nil {
			o.asked, o.also = append(o.asked, o.also()...), nil
		}
		detail := "unknown key " + quote(f.name)
		if near := suggest(f.name, o.asked); near != "" {
			detail += fmt.Sprintf("; did you mean %q?", near)
		} else {
			detail += ": remove it"
		}
		o.d.report(f.at, o.n.path, detail)
	}
}

// close reports the keys that nobody asked for.
func (o *object) close() { o.rest(nil) }

// entries returns the entries of a list. Any other value is a list of one.
func (n *node) entries() []*node {
	if n.kind == list {
		return n.items
	}
	return []*node{n}
}

// single reads a single value. The text that parse returns completes a problem that
// begins with the value.
func single[T any](o *object, name string, to *T, parse func(s string) (v T, problem string)) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	s, ok := o.d.text(n)
	if !ok {
		return
	}
	v, problem := parse(strings.TrimSpace(s))
	if problem != "" {
		o.d.fail(n, "%s %s", quote(n.text), problem)
		return
	}
	*to = v
}

// str reads a string. Any single value will do: 2024 is "2024".
func (o *object) str(name string, to *string) {
	if n, ok := o.take(name); ok {
		if s, ok := o.d.text(n); ok {
			*to = strings.TrimSpace(s)
		}
	}
}

// oneOf reads one of the named values.
func oneOf[T ~string](o *object, name string, to *T, allowed ...T) {
	single(o, name, to, func(s string) (T, string) {
		v := T(strings.ToLower(s))
		if slices.Contains(allowed, v) {
			return v, ""
		}
		names := make([]string, len(allowed))
		for i, a := range allowed {
			names[i] = string(a)
		}
		return v, "is not allowed: use one of " + strings.Join(names, ", ")
	})
}

// secret reads a credential.
func (o *object) secret(name string, to *vault.Secret) {
	if n, ok := o.take(name); ok {
		*to = o.d.secret(n)
	}
}

// boolean reads true or false, and the other words that YAML 1.1 has for them,
// because existing files use them.
func (o *object) boolean(name string, to *bool) {
	single(o, name, to, parseBoolean)
}

func parseBoolean(s string) (v bool, problem string) {
	switch strings.ToLower(s) {
	case "true", "yes", "on":
		return true, ""
	case "false", "no", "off":
		return false, ""
	}
	return false, "is neither true nor false"
}

// integer reads a whole number within bounds. 60.0 and 1e3 are whole too.
func (o *object) integer(name string, to *int64, least, most int64) {
	single(o, name, to, func(s string) (int64, string) { return parseInteger(s, least, most) })
}

func parseInteger(s string, least, most int64) (v int64, problem string) {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		p, perr := money.Parse(s) // exact: 1e3 and 60.0, and nothing that has a fraction
		if v = int64(p / money.USD); perr != nil || p%money.USD != 0 {
			return 0, "is not a whole number"
		}
	}
	return v, outside(v, least, most)
}

// outside returns that a value is out of its range, or "".
func outside[T cmp.Ordered](v, least, most T) string {
	if v < least || v > most {
		return fmt.Sprintf("is out of range: allowed are %v to %v", least, most)
	}
	return ""
}

// duration reads a time span within bounds: a number is seconds and may have a
// fraction, a string may carry a unit.
func (o *object) duration(name string, to *time.Duration, least, most time.Duration) {
	single(o, name, to, func(s string) (time.Duration, string) {
		v, ok := parseSpan(s)
		if !ok {
			return 0, `is not a time span: write seconds, such as 30 or 0.08, or a number with a unit, such as "80ms", "30s", "5m", "1h"`
		}
		return v, outside(v, least, most)
	})
}

// parseSpan reads seconds or a number with units.
func parseSpan(s string) (time.Duration, bool) {
	if v, err := time.ParseDuration(s); err == nil {
		return v, true
	}
	v, err := time.ParseDuration(s + "s")
	return v, err == nil && !strings.ContainsAny(s, "hmsuµn")
}

// strings reads a list of strings; a single string is a list of one.
func (o *object) strings(name string, to *[]string) {
	if n, ok := o.take(name); ok {
		*to = o.d.strings(n)
	}
}

// namesOf reads a list of some of the known names. The text what completes "is not a …"
// in the problem with another one.
func (o *object) namesOf(name string, to *[]string, what string, known []string) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	*to = o.d.strings(n)
	for _, s := range *to {
		if !slices.Contains(known, s) {
			o.d.fail(n, "%s is not a %s: use some of %s", quote(s), what, strings.Join(known, ", "))
		}
	}
}

// strings reads a list of strings.
func (d *decoder) strings(n *node) []string {
	if n.kind == absent || n.kind == mapping {
		d.fail(n, "must be a list of strings, and is %s", n.kind)
		return nil
	}
	items := n.entries()
	all := make([]string, 0, len(items))
	for _, item := range items {
		s, ok := d.text(item)
		if s = strings.TrimSpace(s); ok && s == "" {
			d.fail(item, "is empty: write a name, or remove it")
		} else if ok {
			all = append(all, s)
		}
	}
	return all
}

// items returns the entries of a list.
func (o *object) items(name string) []*node {
	n, ok := o.take(name)
	if !ok {
		return nil
	}
	if n.kind != list {
		o.d.fail(n, "must be a list, and is %s", n.kind)
		return nil
	}
	return n.items
}
