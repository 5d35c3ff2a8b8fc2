package tenancy

import (
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Organization owns teams, keys, prompts and guardrails.
type Organization struct {
	ID         id.Organization
	Alias      string   // unique
	Models     []string // what its keys may use; empty means everything
	Metadata   string   // text of a JSON object; empty for none
	Limits     Limits
	Prompts    PromptRules
	Guardrails []string // ids of those that always apply to requests of its keys
	record.Meta

	allowed *access.Models
}

// Allowed returns the models that the organization's list allows.
func (o *Organization) Allowed() *access.Models { return o.allowed }

// OrganizationMember is a user in an organization.
type OrganizationMember struct {
	Organization id.Organization
	User         id.User
	Role         Role // RoleOrgAdmin, RoleInternalUser or RoleInternalUserViewer
	MaxBudget    *money.Pico
	record.Meta
}

// indexes of the tables of organizations and their members.
const (
	organizationByAlias         = 0
	organizationByBudget        = 1
	organizationByDefaultPrompt = 2
	organizationByGuardrail     = 3

	organizationMemberByOrganization = 0
	organizationMemberByUser         = 1
)

func newOrganizations() *table.Table[Organization] {
	return table.New(&table.Spec[Organization]{
		Space:    store.SpaceOrganization,
		Key:      func(o *Organization) []byte { return []byte(o.ID) },
		Revision: func(o *Organization) uint64 { return o.Revision },
		Resource: event.ResourceOrganization,
		Bounds:   func(o *Organization) (string, event.Bounds) { return string(o.ID), o.Limits.bounds() },
		Encode: func(o *Organization) proto.Message {
			return &clusterv1.Organization{
				Id: string(o.ID), Alias: o.Alias, Models: o.Models, MetadataJson: o.Metadata, Limits: o.Limits.record(), Prompts: o.Prompts.record(),
				Guardrails: o.Guardrails,
			}
		},
		Decode: decodeOrganization,
		Indexes: []func(*Organization) [][]byte{
			organizationByAlias:         func(o *Organization) [][]byte { return given(o.Alias) },
			organizationByBudget:        func(o *Organization) [][]byte { return given(string(o.Limits.Budget)) },
			organizationByDefaultPrompt: func(o *Organization) [][]byte { return given(o.Prompts.Default) },
			organizationByGuardrail:     func(o *Organization) [][]byte { return guardrailKeys(o.Guardrails) },
		},
	})
}

func decodeOrganization(_, value []byte) (*Organization, error) {
	r := &clusterv1.Organization{}
	if err := proto.Unmarshal(value, r); err != nil {
		return nil, err
	}
	o := &Organization{
		ID: id.Organization(r.GetId()), Alias: r.GetAlias(), Models: r.GetModels(), Metadata: r.GetMetadataJson(),
		Limits: limitsFrom(r.GetLimits()), Prompts: promptRulesFrom(r.GetPrompts()), Guardrails: r.GetGuardrails(), Meta: record.MetaOf(r.GetStamp()),
	}
	var bad int
	if o.allowed, bad = access.Compile(o.Models); bad >= 0 {
		return nil, access.BadPattern("", bad)
	}
	return o, nil
}

func newOrganizationMembers() *table.Table[OrganizationMember] {
	return table.New(&table.Spec[OrganizationMember]{
		Space:    store.SpaceOrganizationMember,
		Key:      func(m *OrganizationMember) []byte { return record.Join(string(m.Organization), string(m.User)) },
		Revision: func(m *OrganizationMember) uint64 { return m.Revision },
		Resource: event.ResourceOrganizationMember,
		Bounds: func(m *OrganizationMember) (string, event.Bounds) {
			return string(m.Organization) + "/" + string(m.User), event.Bounds{}.Money("max_budget_in_organization", m.MaxBudget)
		},
		Encode: func(m *OrganizationMember) proto.Message {
			return &clusterv1.OrganizationMember{OrganizationId: string(m.Organization), UserId: string(m.User), Role: string(m.Role), MaxBudgetPico: (*int64)(m.MaxBudget)}
		},
		Decode: func(_, value []byte) (*OrganizationMember, error) {
			r := &clusterv1.OrganizationMember{}
			if err := proto.Unmarshal(value, r); err != nil {
				return nil, err
			}
			return &OrganizationMember{
				Organization: id.Organization(r.GetOrganizationId()), User: id.User(r.GetUserId()), Role: Role(r.GetRole()),
				MaxBudget: (*money.Pico)(r.MaxBudgetPico), Meta: record.MetaOf(r.GetStamp()),
			}, nil
		},
		Indexes: []func(*OrganizationMember) [][]byte{
			organizationMemberByOrganization: func(m *OrganizationMember) [][]byte { return given(string(m.Organization)) },
			organizationMemberByUser:         func(m *OrganizationMember) [][]byte { return given(string(m.User)) },
		},
	})
}

// AddOrganizationMember puts a user into an organization, one that the transaction
// has read or made. It returns Exists for one that is in it already.
func (s *Set) AddOrganizationMember(tx *record.Txn, u *User, m OrganizationMember) (*OrganizationMember, error) {
	if _, err := s.needOrganization(tx, m.Organization); err != nil {
		return nil, err
	}
	m.User = u.ID
	if _, ok := s.OrganizationMember(tx, m.Organization, m.User); ok {
		return nil, occupied("user_id", "The user %s is in the organization already; use /organization/member_update to change what it is there.", fault.Short(string(m.User)))
	}
	s.grow(tx, collection{ofOrganization, string(m.Organization)})
	s.grow(tx, collection{ofUser, string(m.User)})
	m.Meta = tx.Stamped(record.Meta{})
	s.organizationMembers.Put(tx, &m)
	return &m, nil
}

// UpdateOrganizationMember puts a membership in the place of the one that the user
// has in the organization. It returns NotFound if the user has none, and
// Conflict if ifRevision is given and is not its current revision.
func (s *Set) UpdateOrganizationMember(tx *record.Txn, m OrganizationMember, ifRevision uint64) (*OrganizationMember, error) {
	before, err := s.needOrganizationMember(tx, m.Organization, m.User)
	if err != nil {
		return nil, err
	}
	if err := record.CheckRevision("record", before.Revision, ifRevision); err != nil {
		return nil, err
	}
	if m.Role != before.Role || m.MaxBudget != nil {
		tx.RequireFence()
	}
	m.Meta = tx.Stamped(before.Meta)
	s.organizationMembers.Put(tx, &m)
	return &m, nil
}

// DeleteOrganizationMember takes a user out of an organization, with the keys that
// the user has in it and the user's places in its teams. It returns the membership
// as it was.
func (s *Set) DeleteOrganizationMember(tx *record.Txn, o id.Organization, u id.User) (*OrganizationMember, error) {
	old, err := s.needOrganizationMember(tx, o, u)
	if err != nil {
		return nil, err
	}
	s.sawAll(tx, collection{ofUser, string(u)})
	for k := range s.keys.By(keyByUser, []byte(u)) {
		if k.Organization == o {
			s.deleteKey(tx, k)
		}
	}
	for m := range s.teamMembers.By(teamMemberByUser, []byte(u)) {
		// A team that joins another organization meanwhile is read for that.
		if t, ok := s.teams.Read(tx, []byte(m.Team)); ok && t.Organization == o {
			s.teamMembers.Delete(tx, m)
		}
	}
	s.organizationMembers.Delete(tx, old)
	tx.RequireFence()
	return old, nil
}

func (s *Set) needOrganizationMember(tx *record.Txn, o id.Organization, u id.User) (*OrganizationMember, error) {
	if _, err := s.needOrganization(tx, o); err != nil {
		return nil, err
	}
	m, ok := s.OrganizationMember(tx, o, u)
	if !ok {
		return nil, absent(codeNoMember, "user_id", "The user %s is not in the organization.", fault.Short(string(u)))
	}
	return m, nil
}
