package prompts

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
	"github.com/modelgateway/modelgateway/cluster/resource"
)

// partials returns what the templates of a choice include, as this Set has it.
func (s *Set) partials(c Choice) template.Resolver {
	return func(ref template.Reference) (*template.Template, error) {
		_, v, err := s.included(c.Prompt.Organization, ref, c.user)
		if err != nil {
			return nil, err
		}
		p, err := v.program()
		if err != nil {
			return nil, err
		}
		if p.partial == nil {
			return nil, noPartial(ref)
		}
		return p.partial, nil
	}
}

// included returns the prompt and the version that a template of a prompt of an organization
// names: a prompt of the same organization, or else one without an organization.
func (s *Set) included(org id.Organization, ref template.Reference, user string) (*Prompt, *Version, error) {
	reader := resource.Who{Organization: org, MaySee: func(o id.Organization) bool { return o == "" || o == org }}
	c, err := s.Resolve(reader, ref.Name, ref.Version, ref.Label, user)
	if err != nil {
		return nil, nil, fault.Field("", "invalid_template", "The template includes %s. %s", ref, fault.From(err).Detail)
	}
	return c.Prompt, c.Version, nil
}

func noPartial(ref template.Reference) error {
	return fault.Field("", "invalid_template", "The template includes %s, which has other content than one message of text. Include a prompt with one text.", ref)
}
