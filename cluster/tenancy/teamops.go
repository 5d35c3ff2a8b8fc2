package tenancy

import (
	"slices"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// CreateTeam adds a team, in a transaction that is decided by this set. It returns
// Exists if the id is taken, and NotFound if there is no such
// organization or budget.
func (s *Set) CreateTeam(tx *record.Txn, t Team) (*Team, error) {
	if _, ok := s.Team(tx, t.ID); ok {
		return nil, occupied("team_id", "There is a team %s already; choose another team_id, or leave it out to have one made.", fault.Short(string(t.ID)))
	}
	return s.putTeam(tx, &Team{}, t)
}

// UpdateTeam puts a team in place of the one with its id; its keys follow it into
// another organization. It returns the errors of CreateTeam, and Conflict if
// ifRevision is given and is not its current revision.
func (s *Set) UpdateTeam(tx *record.Txn, t Team, ifRevision uint64) (*Team, error) {
	before, err := s.NeedTeam(tx, t.ID)
	if err != nil {
		return nil, err
	}
	if err := record.CheckRevision("record", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	return s.putTeam(tx, before, t)
}

// putTeam writes a team in the place of another, which is empty for one that is new.
func (s *Set) putTeam(tx *record.Txn, before *Team, t Team) (*Team, error) {
	var bad int
	if t.allowed, bad = access.Compile(t.Models); bad >= 0 {
		return nil, access.BadPattern("", bad)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	t.Limits.Models = s.teamModels(before, &t)
	if t.Organization != before.Organization {
		if err := s.joinOrganization(tx, before, t.Organization); err != nil {
			return nil, err
		}
	}
	if err := s.useBudget(tx, before.Limits.Budget, t.Limits.Budget); err != nil {
		return nil, err
	}
	s.useDefaultPrompt(tx, before.Prompts, t.Prompts)
	s.UseGuardrails(tx, before.Guardrails, t.Guardrails)
	if before.ID != "" && t.takes(before) {
		tx.RequireFence()
	}
	t.Meta = tx.Stamped(before.Meta)
	s.teams.Put(tx, &t)
	return &t, nil
}

// check rejects a team with inconsistent fields.
func (t *Team) check() error {
	if err := t.Limits.Check(""); err != nil {
		return err
	}
	if err := checkAmount("team_member_budget", t.MemberBudget); err != nil {
		return err
	}
	if err := checkPeriod("team_member_budget_duration", t.MemberBudgetDuration); err != nil {
		return err
	}
	return checkPeriod("team_member_key_duration", t.MemberKeyDuration)
}

// joinOrganization moves a team and its keys into an organization, or out of the
// one that it is in.
func (s *Set) joinOrganization(tx *record.Txn, t *Team, o id.Organization) error {
	if o != "" {
		if _, err := s.needOrganization(tx, o); err != nil {
			return err
		}
		s.grow(tx, collection{ofOrganization, string(o)})
	}
	if t.ID == "" {
		return nil
	}
	s.sawAll(tx, collection{ofTeam, string(t.ID)})
	for k := range s.TeamKeys(t.ID) {
		current, ok := s.keys.Read(tx, k.Hash[:])
		if !ok {
			continue
		}
		moved := *current
		moved.Organization, moved.Meta = o, tx.Stamped(current.Meta)
		s.keys.Put(tx, &moved)
	}
	return nil
}

// takes reports whether a team lets its keys and members do less than before, or
// may do so.
func (t *Team) takes(before *Team) bool {
	now := t.Permissions()
	return t.Blocked && !before.Blocked ||
		t.Organization != before.Organization ||
		t.Prompts.takes(before.Prompts) || takesGuardrails(before.Guardrails, t.Guardrails) ||
		narrows(before.Models, t.Models, before.Limits, t.Limits) ||
		narrows(nil, nil, before.memberLimits(), t.memberLimits()) ||
		slices.ContainsFunc(before.Permissions(), func(p string) bool { return !slices.Contains(now, p) })
}

// memberLimits is what bounds a member who has no bounds of its own.
func (t *Team) memberLimits() Limits {
	return Limits{MaxBudget: t.MemberBudget, BudgetDuration: t.MemberBudgetDuration, RPM: t.MemberRPM, TPM: t.MemberTPM}
}

// DeleteTeam removes a team with its keys and memberships. It returns the team as
// it was, and how many keys it had.
func (s *Set) DeleteTeam(tx *record.Txn, t id.Team) (old *Team, deleted int, err error) {
	if old, err = s.NeedTeam(tx, t); err != nil {
		return nil, 0, err
	}
	for range s.TeamKeys(t) {
		deleted++
	}
	s.dropTeam(tx, old)
	return old, deleted, nil
}

// NeedTeam returns a team that a request names; its error is that there is none.
func (s *Set) NeedTeam(tx *record.Txn, t id.Team) (*Team, error) {
	found, ok := s.Team(tx, t)
	if !ok {
		return nil, absent(codeNoTeam, "team_id", "There is no team %s.", fault.Short(string(t)))
	}
	return found, nil
}

// WithModels lets a team use further models, and returns it. One that may use
// every model is left as it is.
func (t *Team) WithModels(models []string) Team {
	out := *t
	if len(t.Models) == 0 {
		return out
	}
	out.Models = slices.Clone(t.Models)
	for _, m := range models {
		if !slices.Contains(out.Models, m) {
			out.Models = append(out.Models, m)
		}
	}
	return out
}

// WithoutModels takes models from a team, and returns it. It is Malformed if one is
// not in its list, or if none would be left, for that means every model.
func (t *Team) WithoutModels(models []string) (Team, error) {
	out := *t
	for i, m := range models {
		if !slices.Contains(t.Models, m) {
			return out, fault.Field("models["+strconv.Itoa(i)+"]", "invalid_value", "The team's list of models has no %s.", fault.Short(m))
		}
	}
	out.Models = slices.DeleteFunc(slices.Clone(t.Models), func(m string) bool { return slices.Contains(models, m) })
	if len(out.Models) == 0 {
		return out, fault.Field("models", "invalid_value", "No model would be left in the team's list, and an empty list means every model. To let its keys use none, set models to [\"%s\"] with /team/update.", access.NoModel)
	}
	return out, nil
}
