package tenancy

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// CreateOrganization adds an organization, in a transaction that is decided by this
// set. It returns Exists if the id or the name is taken, and NotFound if
// there is no such budget.
func (s *Set) CreateOrganization(tx *record.Txn, o Organization) (*Organization, error) {
	if _, ok := s.Organization(tx, o.ID); ok {
		return nil, occupied("organization_id", "There is an organization %s already; choose another organization_id, or leave it out to have one made.", fault.Short(string(o.ID)))
	}
	return s.putOrganization(tx, &Organization{}, o)
}

// UpdateOrganization puts an organization in place of the one with its id. It
// returns the errors of CreateOrganization, and Conflict if ifRevision is given
// and is not its current revision.
func (s *Set) UpdateOrganization(tx *record.Txn, o Organization, ifRevision uint64) (*Organization, error) {
	before, err := s.needOrganization(tx, o.ID)
	if err != nil {
		return nil, err
	}
	if err := record.CheckRevision("record", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	return s.putOrganization(tx, before, o)
}

// putOrganization writes an organization in the place of another, which is empty
// for one that is new.
func (s *Set) putOrganization(tx *record.Txn, before *Organization, o Organization) (*Organization, error) {
	var bad int
	if o.allowed, bad = access.Compile(o.Models); bad >= 0 {
		return nil, access.BadPattern("", bad)
	}
	if err := o.Limits.Check(""); err != nil {
		return nil, err
	}
	o.Limits.Models = s.models(o.Limits)
	if o.Alias != before.Alias {
		if _, ok := s.organizations.One(organizationByAlias, []byte(o.Alias)); ok {
			return nil, occupied("organization_alias", "Another organization has that organization_alias; choose another.")
		}
	}
	if err := s.useBudget(tx, before.Limits.Budget, o.Limits.Budget); err != nil {
		return nil, err
	}
	if o.Alias != before.Alias {
		if before.Alias != "" {
			tx.Release(store.SpaceOrganizationAlias, []byte(before.Alias))
		}
		tx.Claim(store.SpaceOrganizationAlias, []byte(o.Alias), []byte(o.ID))
	}
	s.useDefaultPrompt(tx, before.Prompts, o.Prompts)
	s.UseGuardrails(tx, before.Guardrails, o.Guardrails)
	if before.ID != "" && (o.Prompts.takes(before.Prompts) || takesGuardrails(before.Guardrails, o.Guardrails) ||
		narrows(before.Models, o.Models, before.Limits, o.Limits)) {
		tx.RequireFence()
	}
	o.Meta = tx.Stamped(before.Meta)
	s.organizations.Put(tx, &o)
	return &o, nil
}

// needOrganization returns an organization that a request names.
func (s *Set) needOrganization(tx *record.Txn, o id.Organization) (*Organization, error) {
	found, ok := s.Organization(tx, o)
	if !ok {
		return nil, absent(codeNoOrganization, "organization_id", "There is no organization %s.", fault.Short(string(o)))
	}
	return found, nil
}

// DeleteOrganization removes an organization with its teams, its keys, its customers and
// its memberships. Users stay. It returns the organization as it was.
func (s *Set) DeleteOrganization(tx *record.Txn, o id.Organization) (*Organization, error) {
	old, err := s.needOrganization(tx, o)
	if err != nil {
		return nil, err
	}
	s.sawAll(tx, collection{ofOrganization, string(o)})
	for t := range s.teams.By(teamByOrganization, []byte(o)) {
		s.dropTeam(tx, t)
	}
	for k := range s.keys.By(keyByOrganization, []byte(o)) {
		s.deleteKey(tx, k)
	}
	for c := range s.CustomersOf(o) {
		s.customers.Delete(tx, c)
	}
	for m := range s.OrganizationMembers(o) {
		s.organizationMembers.Delete(tx, m)
	}
	tx.Release(store.SpaceOrganizationAlias, []byte(old.Alias))
	s.organizations.Delete(tx, old)
	tx.RequireFence()
	return old, nil
}

// dropTeam removes a team with its keys and its memberships.
func (s *Set) dropTeam(tx *record.Txn, t *Team) {
	s.sawAll(tx, collection{ofTeam, string(t.ID)})
	for k := range s.keys.By(keyByTeam, []byte(t.ID)) {
		s.deleteKey(tx, k)
	}
	for m := range s.teamMembers.By(teamMemberByTeam, []byte(t.ID)) {
		s.teamMembers.Delete(tx, m)
	}
	s.teams.Delete(tx, t)
	tx.RequireFence()
}

// narrows reports whether a change of models and limits may take something away. It is false only
// in the simple cases: a list or a bound that stays, and one that is removed.
func narrows(models, newModels []string, limits, newLimits Limits) bool {
	if len(newModels) > 0 && !slices.Equal(models, newModels) {
		return true
	}
	return !limits.Same(newLimits) && !newLimits.Same(Limits{})
}

// JoinOrganization notes that a transaction makes something that belongs to an
// organization and is kept elsewhere: the organization has to be there, and its
// deletion then sees what was made. It returns NotFound with param if it does
// not exist.
func (s *Set) JoinOrganization(tx *record.Txn, param string, o id.Organization) error {
	if _, ok := s.organizations.Read(tx, []byte(o)); !ok {
		return absent(codeNoOrganization, param, "There is no organization %s. Make it with /organization/new, or name another.", fault.Short(string(o)))
	}
	s.grow(tx, collection{ofOrganization, string(o)})
	return nil
}
