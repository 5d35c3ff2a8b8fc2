package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// route takes the aliases and the fallbacks into a catalogue that nobody else
// has yet, and checks every name in them. What is not a name at all is left out;
// one that nobody has is kept, and is a problem.
func (c *Catalog) route(p *problems) {
	s := &c.router.spec
	c.router.settings.ModelGroupAlias = c.aliases(s.ModelGroupAlias, p)
	c.router.full.ModelGroupAlias = make(map[string]string, len(c.router.settings.ModelGroupAlias))
	for alias, group := range c.router.settings.ModelGroupAlias {
		c.router.full.ModelGroupAlias[string(alias)] = string(group)
	}
	c.router.fallbacks = [fallbackClasses]fallbackTable{
		GeneralFallbacks:       c.fallbackTable(GeneralFallbacks, s.Fallbacks, s.DefaultFallbacks, p),
		ContextWindowFallbacks: c.fallbackTable(ContextWindowFallbacks, s.ContextWindowFallbacks, nil, p),
		ContentPolicyFallbacks: c.fallbackTable(ContentPolicyFallbacks, s.ContentPolicyFallbacks, nil, p),
	}
}

// aliases checks model_group_alias; every alias must lead to a group at once.
func (c *Catalog) aliases(spec map[string]string, p *problems) map[id.ModelName]id.ModelName {
	aliases := make(map[id.ModelName]id.ModelName, len(spec))
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		param := "router_settings.model_group_alias." + name
		to := spec[name]
		switch {
		case !validName(name):
			p.add("router_settings.model_group_alias", codeInvalid, "the alias %s is empty, longer than %d bytes or holds a control character", quote(name), maxName)
		case name == to:
			p.add(param, codeInvalid, "the alias stands for itself; remove it")
		default:
			if !c.Serves(id.ModelName(to)) {
				p.add(param, codeUnknown, "the alias stands for %s, which is no model_name; name one that model_list has", quote(to))
			}
			aliases[id.ModelName(name)] = id.ModelName(to)
		}
	}
	return aliases
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

// fallbackTable checks the lists of one class.
func (c *Catalog) fallbackTable(class FallbackClass, spec []map[string][]string, defaults []string, p *problems) fallbackTable {
	own := make(map[string][]string)
	edges := make(map[string][]Target)
	general, _ := c.targets("router_settings.default_fallbacks", defaults, p)
	for i, entry := range spec {
		at := fmt.Sprintf("%s[%d]", class.param(), i)
		for _, key := range slices.Sorted(maps.Keys(entry)) {
			param := at + "." + key
			list, targets := c.targets(param, entry[key], p)
			if key == anyone {
				general = slices.Concat(list, general)
				continue
			}
			source, ok := c.source(key)
			if !ok {
				p.add(param, codeUnknown, "%s is no model_name, provider/model or deployment id; name one that model_list has", quote(key))
			}
			if _, twice := own[key]; twice {
				p.add(param, codeDuplicate, "%s has two fallback lists; join them into one", quote(key))
				continue
			}
			own[key] = list
			edges[source] = append(edges[source], targets...)
			if ok && cycle(edges, source) {
				p.add(param, codeCycle, "the fallbacks of %s lead back to it; remove it from the lists of those that it falls back to", quote(key))
				delete(edges, source) // so that every other loop is reported once
			}
		}
	}
	t := fallbackTable{own: make(map[string]*names, len(own)), general: &names{general}}
	for key, list := range own {
		t.own[key] = &names{slices.Concat(list, general)}
	}
	return t
}

// targets checks one list. It returns what is usable of it, and what of that
// means something now.
func (c *Catalog) targets(param string, list []string, p *problems) ([]string, []Target) {
	if len(list) > maxFallbacks {
		p.add(param, codeTooLong, "the list has %d entries; at most %d are allowed", len(list), maxFallbacks)
		return nil, nil
	}
	found := make([]Target, 0, len(list))
	for i, name := range list {
		t, ok := c.resolve(name)
		if !ok {
			p.add(fmt.Sprintf("%s[%d]", param, i), codeUnknown, "%s is no model_name, provider/model or deployment id; name one that model_list has", quote(name))
			continue
		}
		found = append(found, t)
	}
	return slices.Clone(list), found
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
