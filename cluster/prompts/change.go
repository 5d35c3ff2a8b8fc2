package prompts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts/template"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// maxContent bounds what the messages of one version come to, in bytes.
const maxContent = 512 << 10

// Create makes a prompt, of an id that is new: its version 1. variables may be nil,
// for those that the template has. It faults with Exists where the name is taken
// in the organization, and is Malformed for a name or a template that is none.
func (s *Set) Create(tx *record.Txn, p Prompt, messages []Message, variables []string) (*Prompt, *Version, error) {
	name, problem := id.CleanName(p.Name)
	if problem != "" {
		return nil, nil, fault.Field("prompt_name", "invalid_value", "prompt_name %s; choose another.", problem)
	}
	if old, taken := s.heads.One(promptByName, nameKey(p.Organization, name)); taken {
		s.heads.Read(tx, []byte(old.ID))
		return nil, nil, &fault.Error{Kind: fault.Exists, Code: "already_exists", Param: "prompt_name", Detail: "There is a prompt of that name already. Choose another name, or make its next version with PUT /prompts/{name}."}
	}
	p.Name, p.Latest, p.Meta = name, 1, tx.Stamped(record.Meta{})
	v, err := newVersion(tx, &p, messages, variables)
	if err != nil {
		return nil, nil, err
	}
	s.heads.Read(tx, []byte(p.ID))
	tx.Claim(store.SpacePromptName, nameKey(p.Organization, name), []byte(p.ID))
	s.heads.Put(tx, &p)
	s.versions.Put(tx, v)
	return &p, v, nil
}

// Update makes the next version of a prompt, which Find has returned in the same
// transaction. variables may be nil, for those of the version before that the
// template still has, and those that it has besides. With ifRevision other than 0
// it is Conflict if the prompt is of another revision.
func (s *Set) Update(tx *record.Txn, p *Prompt, messages []Message, variables []string, ifRevision uint64) (*Prompt, *Version, error) {
	if ifRevision != 0 && ifRevision != p.Revision {
		return nil, nil, fault.New(fault.Conflict, "revision_conflict", "The prompt is of revision %d, not %d; read it again and decide anew.", p.Revision, ifRevision)
	}
	next := *p
	next.Latest++
	next.Meta = tx.Stamped(p.Meta)
	v, err := newVersion(tx, &next, messages, variables)
	if err != nil {
		return nil, nil, err
	}
	s.heads.Put(tx, &next)
	s.versions.Put(tx, v)
	return &next, v, nil
}

// newVersion checks a template and makes the version of it that p says is its latest.
func newVersion(tx *record.Txn, p *Prompt, messages []Message, variables []string) (*Version, error) {
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
	return &Version{
		Prompt: p.ID, Number: p.Latest, Messages: messages, Variables: variables,
		Meta: tx.Stamped(record.Meta{}), compile: compiled(messages),
	}, nil
}

// Delete removes a prompt, which Find has returned in the same transaction, with
// all its versions, and returns how many those were.
func (s *Set) Delete(tx *record.Txn, p *Prompt) int {
	s.heads.Delete(tx, p)
	tx.Release(store.SpacePromptName, nameKey(p.Organization, p.Name))
	n := 0
	for v := range s.versions.By(versionByPrompt, []byte(p.ID)) {
		s.versions.Delete(tx, v)
		n++
	}
	tx.Revokes()
	return n
}

// DeleteOrganization removes every prompt of an organization. One that is made at
// the same time rests on the organization's record, which is deleted with them.
func (s *Set) DeleteOrganization(tx *record.Txn, org id.Organization) {
	if org == "" {
		return
	}
	for p := range s.heads.By(promptByOrganization, []byte(org)) {
		s.Delete(tx, p)
	}
}
