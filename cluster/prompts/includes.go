package prompts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
)

// maxIncluding is how many prompts an error lists.
const maxIncluding = 100

// includeCheck checks what a version of a prompt includes, as one transaction sees it.
type includeCheck struct {
	set    *Set
	tx     *record.Txn
	prompt *Prompt
}

// check rejects references to prompts that are unknown, that are no single text, or that lead
// back to the prompt. depth is the number of prompts from the version to the references.
func (c *includeCheck) check(refs []template.Reference, depth int) error {
	for _, ref := range refs {
		if depth >= template.MaxIncludes {
			return badInclude("%s is included by %d prompts in a row, and %d is the most. Copy the text of one of them.", ref, depth+1, template.MaxIncludes)
		}
		if name, _ := id.CleanName(ref.Name); name == c.prompt.Name || ref.Name == c.prompt.ID {
			return badInclude("%s leads back to this prompt, so it would include itself. Remove the include.", ref)
		}
		p, err := c.set.Find(c.tx, "", ref.Name, c.prompt.includes())
		if err != nil {
			return badInclude("The template includes %s, and there is no such prompt in its organization. Make that prompt first, or correct the name.", ref)
		}
		numbers, err := p.numbers(ref)
		if err != nil {
			return badInclude("The template includes %s. %s", ref, fault.From(err).Detail)
		}
		for _, number := range numbers {
			v, err := c.set.Version(p, number)
			if err != nil {
				return badInclude("The template includes %s, and the prompt has no such version.", ref)
			}
			program, err := asPartial(ref, v)
			if err != nil {
				return about("messages", err)
			}
			if err := c.check(program.includes, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func badInclude(format string, args ...any) error {
	return fault.Field("messages", "invalid_template", format, args...)
}

// numbers returns the versions of p that a reference may mean: several for a split label.
func (p *Prompt) numbers(ref template.Reference) ([]uint32, error) {
	name := cmp.Or(ref.Label, p.DefaultLabel)
	switch l, ok := p.Label(name); {
	case ref.Version != 0:
		return []uint32{ref.Version}, nil
	case name == "" || name == LabelLatest:
		return []uint32{p.Latest}, nil
	case !ok:
		return nil, noLabel(FieldLabel)
	default:
		out := make([]uint32, len(l.Shares))
		for i, s := range l.Shares {
			out[i] = s.Version
		}
		return out, nil
	}
}

// checkNamed checks what the versions of a label include, which then are in force.
func (s *Set) checkNamed(tx *record.Txn, p *Prompt, shares []Share) error {
	c := includeCheck{s, tx, p}
	for _, share := range shares {
		v, err := s.Version(p, share.Version)
		if err != nil {
			return err
		}
		program, err := v.program()
		if err != nil {
			return err
		}
		if err := c.check(program.includes, 0); err != nil {
			f := *fault.From(err)
			f.Param = "version"
			return &f
		}
	}
	return nil
}

// CheckUnused is Conflict if versions of other prompts include p. The error lists the prompts.
func (s *Set) CheckUnused(p *Prompt) error {
	var names []string
	for _, name := range []string{p.Name, p.ID} {
		for prompt := range s.versions.including(name) {
			head, ok := s.Get(prompt)
			if !ok || head.ID == p.ID || slices.Contains(names, head.Name) || len(names) == maxIncluding {
				continue
			}
			found, err := s.Find(nil, "", name, head.includes())
			if err == nil && found.ID == p.ID {
				names = append(names, head.Name)
			}
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names)
	return &fault.Error{
		Kind: fault.Conflict, Code: "prompt_in_use", Param: "name", Details: map[string]any{"included_by": names},
		Detail: "Versions of other prompts include this one: " + strings.Join(names, ", ") + ". Delete those prompts first.",
	}
}

// Included returns the prompts that a version of p includes itself, as this set resolves them.
func (s *Set) Included(p *Prompt, v *Version) []*Prompt {
	var out []*Prompt
	for _, name := range v.includedNames() {
		found, err := s.Find(nil, "", name, p.includes())
		if err == nil && !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	return out
}

// includes returns which prompts the versions of p may include: those of its organization, and
// everybody's.
func (p *Prompt) includes() resource.Who {
	org := p.Organization
	return resource.Who{Organization: org, MaySee: func(o id.Organization) bool { return o == "" || o == org }}
}

// includedNames returns the names that the templates of a version include, for an index. Most
// versions include nothing, and are not parsed for it.
func (v *Version) includedNames() []string {
	if !slices.ContainsFunc(v.Messages, func(m Message) bool {
		return strings.Contains(m.Content, "prompt:") || strings.Contains(string(m.Parts), "prompt:")
	}) {
		return nil
	}
	program, err := v.program()
	if err != nil {
		return nil
	}
	var out []string
	for _, ref := range program.includes {
		name, problem := id.CleanName(ref.Name)
		if problem == "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
