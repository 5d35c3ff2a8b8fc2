package tenancy

import (
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Team owns keys.
type Team struct {
	ID                   id.Team
	Alias                string // may be empty
	Organization         id.Organization
	Models               []string // what its keys may use; empty means everything that the organization may
	ModelAliases         map[string]string
	Tags                 []string
	Blocked              bool
	Metadata             string   // text of a JSON object; empty for none
	MemberPermissions    []string // what members who are no admins may do with its keys
	MemberBudget         *money.Pico
	MemberBudgetDuration string
	MemberRPM, MemberTPM *uint32
	MemberKeyDuration    string // the longest that a member's key is valid; empty for no bound
	Limits               Limits
	Prompts              PromptRules
	Guardrails           []string // ids of those that always apply to requests of its keys
	record.Meta

	allowed *access.Models
}

// Roles in a team.
const (
	TeamAdmin = "admin"
	TeamUser  = "user"
)

// TeamMember is a user in a team.
type TeamMember struct {
	Team           id.Team
	User           id.User
	Role           string // TeamAdmin or TeamUser
	MaxBudget      *money.Pico
	BudgetDuration string
	TPM, RPM       *uint32
	AllowedModels  []string // what the user's keys in it may use; empty means all that the team may
	record.Meta

	allowed *access.Models
}

// indexes of the tables of teams and their members.
const (
	teamByAlias         = 0
	teamByOrganization  = 1
	teamByAge           = 2
	teamByBudget        = 3
	teamByDefaultPrompt = 4
	teamByGuardrail     = 5

	teamMemberByTeam = 0
	teamMemberByUser = 1
)

func newTeams() *table.Table[Team] {
	return table.New(&table.Spec[Team]{
		Space:    store.SpaceTeam,
		Key:      func(t *Team) []byte { return []byte(t.ID) },
		Revision: func(t *Team) uint64 { return t.Revision },
		Resource: event.ResourceTeam,
		Bounds:   func(t *Team) (string, event.Bounds) { return string(t.ID), t.bounds() },
		Encode:   func(t *Team) proto.Message { return t.record() },
		Decode:   decodeTeam,
		Indexes: []func(*Team) [][]byte{
			teamByAlias:         func(t *Team) [][]byte { return [][]byte{[]byte(t.Alias)} }, // those without a name, too: lists go by it
			teamByOrganization:  func(t *Team) [][]byte { return given(string(t.Organization)) },
			teamByAge:           func(t *Team) [][]byte { return [][]byte{record.Newest(t.CreatedAt)} },
			teamByBudget:        func(t *Team) [][]byte { return given(string(t.Limits.Budget)) },
			teamByDefaultPrompt: func(t *Team) [][]byte { return given(t.Prompts.Default) },
			teamByGuardrail:     func(t *Team) [][]byte { return guardrailKeys(t.Guardrails) },
		},
	})
}

func (t *Team) record() *clusterv1.Team {
	return &clusterv1.Team{
		Id: string(t.ID), Alias: t.Alias, OrganizationId: string(t.Organization), Models: t.Models, ModelAliases: record.NamedValues(t.ModelAliases),
		Tags: t.Tags, Blocked: t.Blocked, MetadataJson: t.Metadata, MemberPermissions: t.MemberPermissions,
		MemberBudgetPico: (*int64)(t.MemberBudget), MemberBudgetDuration: t.MemberBudgetDuration,
		MemberRpmLimit: t.MemberRPM, MemberTpmLimit: t.MemberTPM, MemberKeyDuration: t.MemberKeyDuration, Limits: t.Limits.record(),
		Prompts: t.Prompts.record(), Guardrails: t.Guardrails,
	}
}

func decodeTeam(_, value []byte) (*Team, error) {
	r := &clusterv1.Team{}
	if err := proto.Unmarshal(value, r); err != nil {
		return nil, err
	}
	t := &Team{
		ID: id.Team(r.GetId()), Alias: r.GetAlias(), Organization: id.Organization(r.GetOrganizationId()), Models: r.GetModels(),
		ModelAliases: record.FromNamedValues(r.GetModelAliases()), Tags: r.GetTags(), Blocked: r.GetBlocked(), Metadata: r.GetMetadataJson(),
		MemberPermissions: r.GetMemberPermissions(), MemberBudget: (*money.Pico)(r.MemberBudgetPico), MemberBudgetDuration: r.GetMemberBudgetDuration(),
		MemberRPM: r.MemberRpmLimit, MemberTPM: r.MemberTpmLimit, MemberKeyDuration: r.GetMemberKeyDuration(),
		Limits: limitsFrom(r.GetLimits()), Prompts: promptRulesFrom(r.GetPrompts()), Guardrails: r.GetGuardrails(), Meta: record.MetaOf(r.GetStamp()),
	}
	var bad int
	if t.allowed, bad = access.Compile(t.Models); bad >= 0 {
		return nil, access.BadPattern("", bad)
	}
	return t, nil
}

func newTeamMembers() *table.Table[TeamMember] {
	return table.New(&table.Spec[TeamMember]{
		Space:    store.SpaceTeamMember,
		Key:      func(m *TeamMember) []byte { return record.Join(string(m.Team), string(m.User)) },
		Revision: func(m *TeamMember) uint64 { return m.Revision },
		Resource: event.ResourceTeamMember,
		Bounds:   func(m *TeamMember) (string, event.Bounds) { return string(m.Team) + "/" + string(m.User), m.bounds() },
		Encode: func(m *TeamMember) proto.Message {
			return &clusterv1.TeamMember{
				TeamId: string(m.Team), UserId: string(m.User), Role: m.Role, MaxBudgetPico: (*int64)(m.MaxBudget), BudgetDuration: m.BudgetDuration,
				TpmLimit: m.TPM, RpmLimit: m.RPM, AllowedModels: m.AllowedModels,
			}
		},
		Decode: decodeTeamMember,
		Indexes: []func(*TeamMember) [][]byte{
			teamMemberByTeam: func(m *TeamMember) [][]byte { return given(string(m.Team)) },
			teamMemberByUser: func(m *TeamMember) [][]byte { return given(string(m.User)) },
		},
	})
}

func decodeTeamMember(_, value []byte) (*TeamMember, error) {
	r := &clusterv1.TeamMember{}
	if err := proto.Unmarshal(value, r); err != nil {
		return nil, err
	}
	m := &TeamMember{
		Team: id.Team(r.GetTeamId()), User: id.User(r.GetUserId()), Role: r.GetRole(),
		MaxBudget: (*money.Pico)(r.MaxBudgetPico), BudgetDuration: r.GetBudgetDuration(), TPM: r.TpmLimit, RPM: r.RpmLimit,
		AllowedModels: r.GetAllowedModels(), Meta: record.MetaOf(r.GetStamp()),
	}
	var bad int
	if m.allowed, bad = access.Compile(m.AllowedModels); bad >= 0 {
		return nil, access.BadPattern("", bad)
	}
	return m, nil
}

// ModelsOf returns what a list of a key of the team, or of a member, allows there. t is nil for
// a key in no team.
func (t *Team) ModelsOf(list *access.Models) *access.Models {
	if t == nil {
		return list
	}
	return list.InTeam()
}

// ModelsOfUser returns what a user's list allows the user's keys in the team. t is nil for a
// key in no team.
func (t *Team) ModelsOfUser(list *access.Models) *access.Models {
	if t == nil {
		return list
	}
	return list.OfUserInTeam()
}

// Allowed returns the models that the team's own list allows.
func (t *Team) Allowed() *access.Models { return t.allowed }

// Allowed returns the models that the member's own list allows.
func (m *TeamMember) Allowed() *access.Models { return m.allowed }
