package prompts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// maxContent bounds the total size of the messages of one version, in bytes.
const maxContent = 512 << 10

// Create creates a prompt under a new id, with its version 1. If variables is nil, they are
// those of the template. It is Exists if the name is taken in the organization, and Malformed
// for an invalid name or template.
func (s *Set) Create(tx *record.Txn, p Prompt, messages []Message, variables []string) (*Prompt, *Version, error) {
	p.Latest = 1
	made, err := s.heads.Create(tx, p)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.putVersion(tx, made, messages, variables)
	return made, v, err
}

// Update creates the next version of a prompt that Find returned in the same transaction. If
// variables is nil, they are those of the template. If ifRevision is not 0, it is Conflict if
// the prompt has another revision.
func (s *Set) Update(tx *record.Txn, p *Prompt, messages []Message, variables []string, ifRevision uint64) (*Prompt, *Version, error) {
	next := *p
	next.Latest++
	made, err := s.heads.Update(tx, p, next, ifRevision)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.putVersion(tx, made, messages, variables)
	return made, v, err
}

// putVersion checks a template and writes it as the latest version of p.
func (s *Set) putVersion(tx *record.Txn, p *Prompt, messages []Message, variables []string) (*Version, error) {
	var used []string
	size := 0
	for i, m := range messages {
		t, err := template.Parse(m.Content)
		if err != nil {
			f := *fault.From(err)
			f.Param = fmt.Sprintf("messages[%d].content", i)
			return nil, &f
		}
		for _, name := range t.Variables() {
			if !slices.Contains(used, name) {
				used = append(used, name)
			}
		}
		size += len(m.Content)
	}
	if size > maxContent {
		return nil, fault.Field("messages", "too_long", "The messages come to more than %d bytes. Make them shorter.", maxContent)
	}
	if variables == nil {
		variables = used
	}
	if missing := slices.DeleteFunc(slices.Clone(used), func(name string) bool { return slices.Contains(variables, name) }); len(missing) > 0 {
		return nil, fault.Field("variables", "invalid_value", "The template has variables that are not among variables: %s. Add them, or leave variables out.", strings.Join(missing, ", "))
	}
	v := &Version{
		Prompt: p.ID, Number: p.Latest, Messages: messages, Variables: variables,
		Meta: tx.Stamped(record.Meta{}), compile: compiled(messages),
	}
	s.versions.Put(tx, v)
	tx.Record(event.PromptPublished(p.ID, p.Organization))
	return v, nil
}

// Delete removes a prompt that Find returned in the same transaction, with all its versions.
func (s *Set) Delete(tx *record.Txn, p *Prompt) {
	s.heads.Delete(tx, p)
	for v := range s.versions.By(versionByPrompt, []byte(p.ID)) {
		s.versions.Delete(tx, v)
	}
}
