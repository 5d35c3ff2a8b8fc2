package catalog

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/id"
)

const fieldGuardrails = "guardrails"

// maxGuardrails bounds the guardrails of a deployment.
const maxGuardrails = 100

// guardrails checks the guardrails of a deployment. Whether they exist is not known here: those
// that a file names may be created later.
func (p *problems) guardrails(param string, refs []string) {
	switch {
	case len(refs) > maxGuardrails:
		p.add(param, codeTooLong, "the list has %d guardrails; at most %d are allowed", len(refs), maxGuardrails)
	case slices.ContainsFunc(refs, func(ref string) bool { return !validName(ref) }):
		p.add(param, codeInvalid, "the name of a guardrail is empty, longer than %d bytes, starts or ends with a space, or holds a control character", maxName)
	}
}

// Guarded returns the ids and names of the guardrails that apply to requests for a group, each once: those of its
// deployments, and of all to which it falls back. A request gets them all before it is known which deployment
// serves it, so no retry and no fallback escapes the guardrails of the deployment that it reaches.
func (c *Catalog) Guarded(g Group) []string {
	if c.guarded.len() == 0 {
		return nil
	}
	var all []string
	add := func(ds []*Deployment) {
		for _, d := range ds {
			for _, ref := range d.Guardrails {
				if !slices.Contains(all, ref) {
					all = append(all, ref)
				}
			}
		}
	}
	add(g.Deployments)
	for class := range fallbackClasses {
		for _, t := range c.Fallbacks(class, g, g.Deployments[0]) {
			add(t.Deployments)
		}
	}
	return all
}

// AllGuarded returns the ids and names of all guardrails that deployments have, each once.
func (c *Catalog) AllGuarded() []string {
	var all []string
	for _, d := range c.guarded.all() {
		all = append(all, d.Guardrails...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// GuardrailUsers returns how many deployments have a guardrail: by its id, or by its name in the file. Those
// count too that this node cannot use.
func (c *Catalog) GuardrailUsers(guardrail, name string) int {
	n := 0
	for _, d := range c.guarded.all() {
		if slices.Contains(d.Guardrails, guardrail) || d.Static && slices.ContainsFunc(d.Guardrails, func(ref string) bool { return named(ref, name) }) {
			n++
		}
	}
	for _, r := range c.unusable.all() {
		if slices.Contains(r.GetGuardrails(), guardrail) {
			n++
		}
	}
	return n
}

// named reports whether a reference of the file is a name, which has one form only.
func named(ref, name string) bool {
	clean, problem := id.CleanName(ref)
	return problem == "" && clean == name
}
