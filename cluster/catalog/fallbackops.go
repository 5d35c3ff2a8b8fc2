package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// Fallback is what a model falls back to, for failures of one class.
type Fallback struct {
	Class FallbackClass
	From  string   // a model name, provider/model or deployment id
	To    []string // the same kind of names, in order
}

// FallbackList returns the fallbacks of a class as the settings have them, in order.
// The caller must not change the lists in it.
func (c *Catalog) FallbackList(class FallbackClass) []Fallback {
	var all []Fallback
	for _, entry := range *class.in(&c.router.spec) {
		for _, from := range slices.Sorted(maps.Keys(entry)) {
			all = append(all, Fallback{Class: class, From: from, To: entry[from]})
		}
	}
	return all
}

// in is where a specification has the fallbacks of a class.
func (class FallbackClass) in(s *RouterSpec) *[]map[string][]string {
	switch class {
	case ContextWindowFallbacks:
		return &s.ContextWindowFallbacks
	case ContentPolicyFallbacks:
		return &s.ContentPolicyFallbacks
	case GeneralFallbacks, fallbackClasses:
	}
	return &s.Fallbacks
}

// SetFallback says what a model falls back to, in place of what it fell back to
// before. It faults with NotFound for a model that nobody serves, and is Malformed,
// with every problem, for targets that nobody serves or that lead back. With
// ifRevision other than 0 it is Conflict if the router settings are of another
// revision.
func (c *Catalog) SetFallback(tx *record.Txn, f Fallback, ifRevision uint64) error {
	node, ok := c.source(f.From)
	if !ok && f.From != anyone {
		tx.Require(routerAt(), c.router.revision)
		return &fault.Error{Op: "catalog", Kind: fault.NotFound, Code: "model_not_found", Param: "model", Detail: quote(f.From) + " is no model_name, provider/model or deployment id; GET /model/info lists those that there are."}
	}
	p := problems{}
	for i, name := range f.To {
		param := fmt.Sprintf("fallback_models[%d]", i)
		switch t, found := c.resolve(name); {
		case !found:
			p.add(param, codeUnknown, "%s is no model_name, provider/model or deployment id; name one that GET /model/info lists", quote(name))
		case t.node == node, name == f.From:
			p.add(param, codeCycle, "%s is the model itself, which has failed by then; remove it", quote(name))
		}
	}
	if err := p.err(); err != nil {
		return err
	}
	list := c.FallbackList(f.Class)
	at := slices.IndexFunc(list, func(o Fallback) bool { return o.From == f.From })
	if at < 0 {
		list = append(list, f)
	} else {
		list[at] = f
	}
	next, err := c.putFallbacks(tx, f.Class, list, ifRevision)
	if err != nil {
		return err
	}
	return renamed(c.checkRouter(next), "fallback_models")
}

// DeleteFallback has a model fall back to nothing of its own. It faults with NotFound
// where it does already, and with Conflict as SetFallback does.
func (c *Catalog) DeleteFallback(tx *record.Txn, class FallbackClass, from string, ifRevision uint64) error {
	list := c.FallbackList(class)
	rest := slices.DeleteFunc(slices.Clone(list), func(f Fallback) bool { return f.From == from })
	if len(rest) == len(list) {
		tx.Require(routerAt(), c.router.revision)
		return NoFallback(from)
	}
	_, err := c.putFallbacks(tx, class, rest, ifRevision)
	return err
}

// NoFallback is the error for a model that has no fallback of the class asked for.
func NoFallback(from string) error {
	return &fault.Error{Op: "catalog", Kind: fault.NotFound, Code: "fallback_not_found", Param: "model", Detail: "There is no fallback of that type for " + quote(from) + "; GET /fallbacks lists those that there are."}
}

// putFallbacks writes the fallbacks of a class and returns the settings with them.
func (c *Catalog) putFallbacks(tx *record.Txn, class FallbackClass, list []Fallback, ifRevision uint64) (RouterSpec, error) {
	entries := make([]map[string][]string, 0, len(list))
	for _, f := range list {
		entries = append(entries, map[string][]string{f.From: f.To})
	}
	var patch RouterSpec
	*class.in(&patch) = entries
	return c.router.spec.Merge(patch), c.putPatch(tx, c.router.patch.Merge(patch), ifRevision)
}

// renamed returns problems as those of one field.
func renamed(err error, param string) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var out []error
	for _, one := range joined.Unwrap() {
		e := *fault.From(one)
		e.Param = param
		out = append(out, &e)
	}
	return errors.Join(out...)
}
