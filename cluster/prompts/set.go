package prompts

import (
	"context"
	"iter"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/table"
)

// Set is every prompt.
type Set struct {
	heads    *table.Table[Prompt]
	versions *table.Table[Version]
}

// New returns an empty set.
func New() *Set { return &Set{heads: newHeads(), versions: newVersions()} }

// With returns the set as changes of the replicated state leave it. A record that
// cannot be read is left as it was, and is among the errors.
func (s *Set) With(changes []record.Change) (*Set, []error) {
	heads, _, broken := s.heads.With(changes)
	versions, _, more := s.versions.With(changes)
	return &Set{heads: heads, versions: versions}, append(broken, more...)
}

// Load returns the set with everything that the replicated state has. What cannot
// be read is left out, and is among broken.
func (s *Set) Load(ctx context.Context, state table.Scanner) (loaded *Set, broken []error, err error) {
	heads, broken, err := s.heads.Load(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	versions, more, err := s.versions.Load(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	return &Set{heads: heads, versions: versions}, append(broken, more...), nil
}

// Len returns how many prompts there are.
func (s *Set) Len() int { return s.heads.Len() }

// Newest returns the prompts, the newest first.
func (s *Set) Newest() iter.Seq[*Prompt] { return s.heads.Sorted(promptByAge, 0) }

// Who is somebody who looks for a prompt.
type Who struct {
	Organization id.Organization            // whose names come first; empty for none
	MaySee       func(id.Organization) bool // whether the prompts of an organization are for them; empty: everybody's
}

// Find returns the prompt of an id or, failing that, of a name: first among those
// of the asker's organization, then among everybody's, then among the others that
// they may see. It faults with NotFound, in one text whatever the reason, and with
// Conflict where several others have that name.
func (s *Set) Find(tx *record.Txn, param, ref string, who Who) (*Prompt, error) {
	p, err := s.find(ref, who)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, &fault.Error{Kind: fault.NotFound, Code: "prompt_not_found", Param: param, Detail: "There is no such prompt, or this API key may not use it."}
	}
	if tx != nil {
		s.heads.Read(tx, []byte(p.ID))
	}
	return p, nil
}

func (s *Set) find(ref string, who Who) (*Prompt, error) {
	if p, ok := s.heads.Get([]byte(ref)); ok && who.MaySee(p.Organization) {
		return p, nil
	}
	name, problem := id.CleanName(ref)
	if problem != "" {
		return nil, nil
	}
	for _, org := range []id.Organization{who.Organization, ""} {
		if p, ok := s.heads.One(promptByName, nameKey(org, name)); ok && who.MaySee(org) {
			return p, nil
		}
	}
	var found *Prompt
	for p := range s.heads.By(promptByNameAlone, []byte(name)) {
		switch {
		case !who.MaySee(p.Organization):
		case found != nil:
			return nil, fault.New(fault.Conflict, "ambiguous_name", "Several organizations have a prompt of that name. Name it by its prompt_id.")
		default:
			found = p
		}
	}
	return found, nil
}

// Version returns a version of a prompt; number 0 means the latest. It faults with
// NotFound where there is none of that number.
func (s *Set) Version(p *Prompt, number uint32) (*Version, error) {
	if number == 0 {
		number = p.Latest
	}
	v, ok := s.versions.Get(versionKey(p.ID, number))
	if !ok {
		return nil, &fault.Error{Kind: fault.NotFound, Code: "prompt_version_not_found", Param: "version", Detail: "The prompt has no such version; GET /prompts/{prompt_id}/versions lists those that it has."}
	}
	return v, nil
}

// Versions returns all versions of a prompt, the latest first.
func (s *Set) Versions(p *Prompt) []*Version {
	out := slices.Collect(s.versions.By(versionByPrompt, []byte(p.ID)))
	slices.Reverse(out)
	return out
}
