package catalog

import (
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
// list already behind it. They are names, for what a name means changes with the
// deployments.
type fallbackTable struct {
	own     map[string]*names // by model_name, provider/model or deployment id
	general *names
}

// names is one list. Its address is what Catalog.resolved knows it by.
type names struct{ list []string }

// Fallbacks returns where a request goes when its group has failed: the targets
// of its own entry, then the default ones, each once, at most MaxFallbacks. The
// entry is looked up by the name that was asked for and the group's name, then
// by the failed deployment's provider/model, then by its id; failed may be nil.
// A target that is the group itself is left out, as is one that nobody serves
// any more. The result is not followed further: a target's own fallbacks do not
// apply. The caller must not change it.
func (c *Catalog) Fallbacks(class FallbackClass, g Group, failed *Deployment) []Target {
	t := &c.router.fallbacks[class]
	list, own := t.own[string(g.Asked)]
	if !own {
		list, own = t.own[string(g.Name)]
	}
	if !own && failed != nil && len(t.own) > 0 {
		if list, own = t.own[failed.Identifier()]; !own {
			list, own = t.own[string(failed.ID)]
		}
	}
	if !own {
		list = t.general
	}
	targets := c.targetsOf(list)
	if len(targets) == 0 {
		return nil
	}
	self := func(t Target) bool { return isGroup(t.node, g.Name) || isGroup(t.node, g.Asked) }
	if slices.ContainsFunc(targets, self) {
		targets = slices.DeleteFunc(slices.Clone(targets), self)
	}
	return targets[:min(len(targets), c.router.settings.MaxFallbacks)]
}

// targetsOf returns what a list leads to in this catalogue, each target once. It
// is found out when the list is first asked for: every change makes a new
// catalogue, and few of them are asked for all lists.
func (c *Catalog) targetsOf(n *names) []Target {
	if len(n.list) == 0 {
		return nil
	}
	if found, ok := c.resolved.Load(n); ok {
		targets, _ := found.([]Target)
		return targets
	}
	seen := make(map[string]bool, len(n.list))
	targets := make([]Target, 0, len(n.list))
	for _, name := range n.list {
		if t, ok := c.resolve(name); ok && !seen[t.node] {
			seen[t.node] = true
			targets = append(targets, t)
		}
	}
	c.resolved.Store(n, targets)
	return targets
}

// resolve finds what a name in a fallback list means: a model_name (or alias)
// first, then a provider/model, then a deployment's id, then a name that a
// wildcard serves. Wildcards come last because `*` would swallow everything.
func (c *Catalog) resolve(name string) (Target, bool) {
	if to, ok := c.router.settings.ModelGroupAlias[id.ModelName(name)]; ok {
		if t, ok := c.resolvePlain(name, to); ok {
			return t, true
		}
	}
	return c.resolvePlain(name, id.ModelName(name))
}

// resolvePlain is resolve for a name that stands for the model asked.
func (c *Catalog) resolvePlain(name string, asked id.ModelName) (Target, bool) {
	if ds, ok := c.groups.get(string(asked)); ok {
		return Target{name, ds, groupNode(asked)}, true
	}
	if ds := c.ofModel(name); len(ds) > 0 {
		return Target{name, ds, "model:" + name}, true
	}
	if d, ok := c.byID.get(name); ok && !strings.Contains(d.Model, "*") {
		return Target{name, []*Deployment{d}, idNode(d.ID)}, true
	}
	if g, ok := c.group(asked); ok {
		return Target{name, g.Deployments, groupNode(asked)}, true
	}
	return Target{}, false
}

// ofModel returns the deployments of a "<provider>/<model>". The list is made for
// the call: few models are ever a fallback, and lists that every change had to
// copy would cost more than all of them.
func (c *Catalog) ofModel(name string) []*Deployment {
	if strings.Contains(name, modelEnd) {
		return nil
	}
	return c.byModel.under(name + modelEnd)
}

// source finds what the key of a fallback list means. Unlike a target it may be
// a wildcard, or a deployment whose model id has a star: it is only compared.
func (c *Catalog) source(key string) (node string, ok bool) {
	if t, ok := c.resolve(key); ok {
		return t.node, true
	}
	if slices.ContainsFunc(c.wild, func(w *wildcard) bool { return string(w.name) == key }) {
		return groupNode(id.ModelName(key)), true
	}
	_, ok = c.byID.get(key)
	return idNode(id.Deployment(key)), ok
}

func idNode(d id.Deployment) string { return "id:" + string(d) }

const groupPrefix = "group:"

// groupNode tells a group from the models and ids of the same spelling.
func groupNode(name id.ModelName) string { return groupPrefix + string(name) }

// isGroup is node == groupNode(name), without making a string.
func isGroup(node string, name id.ModelName) bool {
	rest, ok := strings.CutPrefix(node, groupPrefix)
	return ok && rest == string(name)
}
