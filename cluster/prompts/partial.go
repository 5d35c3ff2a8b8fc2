package prompts

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
	"github.com/modelgateway/modelgateway/cluster/resource"
)

// partials returns what the templates of a choice include, as this Set has it.
func (s *Set) partials(c Choice) template.Resolver {
	return func(ref template.Reference) (*template.Template, error) {
		p, err := s.included(c.Prompt.Organization, ref, c.user)
		if err != nil {
			return nil, err
		}
		return p.partial, nil
	}
}

// included returns the version of the prompt that a template of a prompt of an organization
// names: a prompt of the same organization, or else one without an
// organization. Its version has one message, a text.
func (s *Set) included(org id.Organization, ref template.Reference, user string) (*program, error) {
	reader := resource.Who{Organization: org, MaySee: func(o id.Organization) bool { return o == "" || o == org }}
	c, err := s.Resolve(reader, ref.Name, ref.Version, ref.Label, user)
	if err != nil {
		return nil, fault.Field("", "invalid_template", "The template includes %s. %s", ref, fault.From(err).Detail)
	}
	return asPartial(ref, c.Version)
}

// asPartial returns a version that a template includes.
func asPartial(ref template.Reference, v *Version) (*program, error) {
	p, err := v.program()
	if err != nil {
		return nil, err
	}
	if p.partial == nil {
		return nil, fault.Field("", "invalid_template", "The template includes %s, which is no single message of text. Include a prompt that is.", ref)
	}
	return p, nil
}

// used returns the variables that a choice uses, with those of all prompts that it includes.
func (s *Set) used(c Choice) []string {
	own, err := c.Version.program()
	if err != nil {
		return nil
	}
	out, seen := slices.Clone(own.variables), map[*program]bool{}
	var add func(includes []template.Reference)
	add = func(includes []template.Reference) {
		for _, ref := range includes {
			p, err := s.included(c.Prompt.Organization, ref, c.user)
			if err != nil || seen[p] {
				continue
			}
			seen[p] = true
			for _, name := range p.variables {
				if !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
			add(p.includes)
		}
	}
	add(own.includes)
	return out
}
