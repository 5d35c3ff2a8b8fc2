package prompts

import (
	"context"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/table"
)

// heads holds the prompts without their versions.
type heads = resource.Table[Prompt]

// Set holds all prompts with their versions.
type Set struct {
	*heads
	versions *histories
}

// New returns an empty set.
func New() *Set { return &Set{heads: newHeads(), versions: newHistories()} }

// With returns the set after changes of the replicated state. A record that cannot be read
// stays as it was, and is among the errors.
func (s *Set) With(changes []record.Change) (*Set, []error) {
	heads, broken := s.heads.With(changes)
	versions, more := s.versions.with(changes)
	return &Set{heads: heads, versions: versions}, append(broken, more...)
}

// Load returns the set of all records in the replicated state. Records that cannot be read are
// left out, and are among broken.
func (s *Set) Load(ctx context.Context, state table.Scanner) (loaded *Set, broken []error, err error) {
	heads, broken, err := s.heads.Load(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	versions, more, err := s.versions.load(ctx, state)
	if err != nil {
		return nil, nil, err
	}
	return &Set{heads: heads, versions: versions}, append(broken, more...), nil
}

// Version returns a version of a prompt; number 0 means the latest. It is NotFound if there is
// no such version.
func (s *Set) Version(p *Prompt, number uint32) (*Version, error) {
	if number == 0 {
		number = p.Latest
	}
	return s.version("version", p, number)
}

func (s *Set) version(param string, p *Prompt, number uint32) (*Version, error) {
	v, ok := s.versions.get(p.ID, number)
	if !ok {
		return nil, &fault.Error{Kind: fault.NotFound, Code: "prompt_version_not_found", Param: param, Detail: "The prompt has no such version; GET /prompts/{prompt_id}/versions lists those that it has."}
	}
	return v, nil
}

// Versions returns all versions of a prompt, the latest first.
func (s *Set) Versions(p *Prompt) []*Version {
	return slices.Collect(s.versions.all(p.ID))
}
