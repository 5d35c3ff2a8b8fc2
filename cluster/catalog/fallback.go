package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// Target is one hop of a fallback list: a group, the deployments of one
// provider's model, or a single deployment.
type Target struct {
	Name        string        // as it is written in the list
	Deployments []*Deployment // never empty; the caller must not change it

	node string // what it is, however it is written
}

// anyone is the key of the list that applies to everybody, after their own.
const anyone = "*"

// fallbackTable is the lists of one class: what every key leads to, the default
// list already behind it and cut to the longest that may be used.
type fallbackTable struct {
	own     map[string][]Target // by model_name, provider/model or deployment id
	general []Target
}

// Fallbacks returns where a request goes when its group has failed: the targets
// of its own entry, then the default ones, each once, at most MaxFallbacks. The
// entry is looked up by the name that was asked for and the group's name, then
// by the failed deployment's provider/model, then by its id; failed may be nil.
// A target that is the group itself is left out. The result is not followed
// further: a target's own fallbacks do not apply. The caller must not change it.
func (c *Catalog) Fallbacks(class FallbackClass, g Group, failed *Deployment) []Target {
	t := &c.fallbacks[class]
	list, own := t.own[string(g.Asked)]
	if !own {
		list, own = t.own[string(g.Name)]
	}
	if !own && failed != nil {
		if list, own = t.own[failed.Identifier()]; !own {
			list, own = t.own[string(failed.ID)]
		}
	}
	if !own {
		list = t.general
	}
	name, asked := groupNode(g.Name), groupNode(g.Asked)
	self := func(t Target) bool { return t.node == name || t.node == asked }
	if slices.ContainsFunc(list, self) {
		list = slices.DeleteFunc(slices.Clone(list), self)
	}
	return list[:min(len(list), c.settings.MaxFallbacks)]
}

// resolve finds what a name in a fallback list means: a model_name (or alias)
// first, then a provider/model, then a deployment's id, then a name that a
// wildcard serves. Wildcards come last because `*` would swallow everything.
func (c *Catalog) resolve(name string) (Target, bool) {
	asked := id.ModelName(name)
	if to, ok := c.settings.ModelGroupAlias[asked]; ok {
		asked = to
	}
	if ds, ok := c.groups[asked]; ok {
		return Target{name, ds, groupNode(asked)}, true
	}
	if ds, ok := c.byModel[name]; ok {
		return Target{name, ds, "model:" + name}, true
	}
	if d, ok := c.byID[id.Deployment(name)]; ok && !strings.Contains(d.Model, "*") {
		return Target{name, []*Deployment{d}, idNode(d.ID)}, true
	}
	if g, ok := c.Group(asked); ok {
		return Target{name, g.Deployments, groupNode(asked)}, true
	}
	return Target{}, false
}

// source finds what the key of a fallback list means. Unlike a target it may be
// a wildcard, or a deployment whose model id has a star: it is only compared.
func (c *Catalog) source(key string) (node string, ok bool) {
	if t, ok := c.resolve(key); ok {
		return t.node, true
	}
	if slices.ContainsFunc(c.wild, func(w wildcard) bool { return string(w.name) == key }) {
		return groupNode(id.ModelName(key)), true
	}
	_, ok = c.byID[id.Deployment(key)]
	return idNode(id.Deployment(key)), ok
}

func idNode(d id.Deployment) string { return "id:" + string(d) }

// groupNode tells a group from the models and ids of the same spelling.
func groupNode(name id.ModelName) string { return "group:" + string(name) }

// fallbackTables checks and resolves every list.
func (b *builder) fallbackTables(s RouterSpec) {
	b.fallbackTable(GeneralFallbacks, s.Fallbacks, s.DefaultFallbacks)
	b.fallbackTable(ContextWindowFallbacks, s.ContextWindowFallbacks, nil)
	b.fallbackTable(ContentPolicyFallbacks, s.ContentPolicyFallbacks, nil)
}

func (class FallbackClass) param() string {
	switch class {
	case ContextWindowFallbacks:
		return "router_settings.context_window_fallbacks"
	case ContentPolicyFallbacks:
		return "router_settings.content_policy_fallbacks"
	case GeneralFallbacks, fallbackClasses:
	}
	return "router_settings.fallbacks"
}

func (b *builder) fallbackTable(class FallbackClass, spec []map[string][]string, defaults []string) {
	own := make(map[string][]Target)
	edges := make(map[string][]Target)
	general := b.targets("router_settings.default_fallbacks", defaults)
	for i, entry := range spec {
		at := fmt.Sprintf("%s[%d]", class.param(), i)
		for _, key := range slices.Sorted(maps.Keys(entry)) {
			param := at + "." + key
			if key == anyone {
				general = unite(b.targets(param, entry[key]), general)
				continue
			}
			source, ok := b.c.source(key)
			if !ok {
				b.problems.add(param, codeUnknown, "%s is no model_name, provider/model or deployment id; name one that model_list has", quote(key))
				continue
			}
			if _, twice := own[key]; twice {
				b.problems.add(param, codeDuplicate, "%s has two fallback lists; join them into one", quote(key))
				continue
			}
			own[key] = b.targets(param, entry[key])
			edges[source] = append(edges[source], own[key]...)
			if cycle(edges, source) {
				b.problems.add(param, codeCycle, "the fallbacks of %s lead back to it; remove it from the lists of those that it falls back to", quote(key))
				delete(edges, source) // so that every other loop is reported once
			}
		}
	}
	for key := range own {
		own[key] = unite(own[key], general)
	}
	b.c.fallbacks[class] = fallbackTable{own: own, general: general}
}

// targets resolves one list.
func (b *builder) targets(param string, names []string) []Target {
	if len(names) > maxFallbacks {
		b.problems.add(param, codeTooLong, "the list has %d entries; at most %d are allowed", len(names), maxFallbacks)
		return nil
	}
	list := make([]Target, 0, len(names))
	for i, name := range names {
		t, ok := b.c.resolve(name)
		if !ok {
			b.problems.add(fmt.Sprintf("%s[%d]", param, i), codeUnknown, "%s is no model_name, provider/model or deployment id; name one that model_list has", quote(name))
			continue
		}
		list = append(list, t)
	}
	return unite(list, nil)
}

// unite joins two lists and keeps the first mention of each target.
func unite(first, then []Target) []Target {
	seen := make(map[string]bool, len(first)+len(then))
	out := make([]Target, 0, len(first)+len(then))
	for _, t := range slices.Concat(first, then) {
		if !seen[t.node] {
			seen[t.node] = true
			out = append(out, t)
		}
	}
	return out
}

// cycle reports whether start can be reached from itself.
func cycle(edges map[string][]Target, start string) bool {
	seen := make(map[string]bool)
	next := []string{start}
	for len(next) > 0 {
		node := next[len(next)-1]
		next = next[:len(next)-1]
		for _, t := range edges[node] {
			if t.node == start {
				return true
			}
			if !seen[t.node] {
				seen[t.node] = true
				next = append(next, t.node)
			}
		}
	}
	return false
}
