package prompts

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// Create creates a prompt under a new id, with its version 1. Variables that the content uses
// and does not list are added. It is Exists if the name is taken in the organization, and
// Malformed for an invalid name or content.
func (s *Set) Create(tx *record.Txn, p Prompt, c Content) (*Prompt, *Version, error) {
	p.Latest = 1
	if err := p.checkSettings(); err != nil {
		return nil, nil, err
	}
	made, err := s.heads.Create(tx, p)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.putVersion(tx, made, c)
	return made, v, err
}

// Update creates the next version of a prompt that Find returned in the same transaction. next
// has the prompt's new settings. Variables are as in Create. If ifRevision is not 0, it is
// Conflict if the prompt has another revision.
func (s *Set) Update(tx *record.Txn, p *Prompt, next Prompt, c Content, ifRevision uint64) (*Prompt, *Version, error) {
	next.Latest = p.Latest + 1
	made, err := s.set(tx, p, next, ifRevision)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.putVersion(tx, made, c)
	return made, v, err
}

// Configure changes the settings of a prompt that Find returned in the same transaction, and
// makes no version. Errors are those of Update.
func (s *Set) Configure(tx *record.Txn, p *Prompt, next Prompt, ifRevision uint64) (*Prompt, error) {
	next.Latest = p.Latest
	if next.DefaultLabel != p.DefaultLabel {
		if err := s.checkDefault(tx, &next); err != nil {
			return nil, err
		}
	}
	return s.set(tx, p, next, ifRevision)
}

// checkDefault checks what the versions of a prompt's default label include, which are then in
// force.
func (s *Set) checkDefault(tx *record.Txn, p *Prompt) error {
	shares := []Share{{Version: p.Latest, Weight: 1}}
	if l, ok := p.Label(p.DefaultLabel); ok {
		shares = l.Shares
	}
	err := s.checkNamed(tx, p, shares)
	if err == nil {
		return nil
	}
	f := *fault.From(err)
	f.Param = "default_label"
	return &f
}

// set writes the head of a prompt.
func (s *Set) set(tx *record.Txn, p *Prompt, next Prompt, ifRevision uint64) (*Prompt, error) {
	if err := next.checkSettings(); err != nil {
		return nil, err
	}
	return s.heads.Update(tx, p, next, ifRevision)
}

// putVersion checks the content of a version and writes it as the latest one of p.
func (s *Set) putVersion(tx *record.Txn, p *Prompt, c Content) (*Version, error) {
	program, err := compile(&c)
	if err != nil {
		return nil, err
	}
	includes := includeCheck{s, tx, p}
	if err := includes.check(program.includes, 0); err != nil {
		return nil, err
	}
	c.Variables = slices.Clone(c.Variables)
	for _, name := range program.variables {
		if !slices.Contains(c.Variables, name) {
			c.Variables = append(c.Variables, name)
		}
	}
	v := &Version{Prompt: p.ID, Number: p.Latest, Content: c, Meta: tx.Stamped(record.Meta{})}
	tx.Put(versionRecord(v.Prompt, v.Number), v.record())
	tx.Record(event.PromptPublished(p.ID, p.Organization))
	return v, nil
}

// Delete removes a prompt that Find returned in the same transaction, with all its versions.
func (s *Set) Delete(tx *record.Txn, p *Prompt) {
	s.heads.Delete(tx, p)
	for v := range s.versions.all(p.ID) {
		at := versionRecord(p.ID, v.Number)
		tx.Require(at, v.Revision)
		tx.Delete(at)
	}
}
