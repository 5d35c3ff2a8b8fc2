package mgmt

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/listing"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type teamService struct {
	gatewayv1.UnimplementedTeamServiceServer
	service
}

// The sizes of lists unless the request sets them.
const (
	teamKeys = 100
	teamPage = 10
)

// CreateTeam creates a team with its members.
func (s teamService) CreateTeam(ctx context.Context, in *gatewayv1.CreateTeamRequest) (*gatewayv1.TeamRecord, error) {
	t, err := patchTeam(tenancy.Team{ID: id.Team(chosen(in.TeamId))}, in, nil)
	if err != nil {
		return nil, err
	}
	t = s.defaults.Team.Complete(t)
	if err := t.Limits.Check(""); err != nil {
		return nil, err
	}
	newcomers, err := newTeamMembers(in)
	if err != nil {
		return nil, err
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.TeamRecord, error) {
		t := t
		var err error
		if t.Prompts, err = c.promptRules(tenancy.PromptRules{}, t.Prompts, t.Organization); err != nil {
			return nil, err
		}
		if t.Guardrails, err = c.guardrailIDs(nil, t.Guardrails, t.Organization); err != nil {
			return nil, err
		}
		if err := c.rights.MayGrantTeam(nil, &t); err != nil {
			return nil, err
		}
		if in.TeamId != nil && !c.rights.Admin() {
			return nil, chosenID("team_id")
		}
		made, err := c.set.CreateTeam(c.tx, t)
		if err != nil {
			return nil, err
		}
		out := bareTeam(made)
		g := gathering{caller: c, batch: c.set.UserBatch(c.tx), team: made, defaults: s.defaults.User}
		for _, n := range newcomers {
			u, m, err := g.add(n, tenancy.TeamMember{Role: n.role})
			if err != nil {
				return nil, field.Within(n.param, err)
			}
			addTeamMember(out, m, u.Email)
		}
		return out, nil
	})
}

// GetTeam shows one team with its keys and memberships.
func (s teamService) GetTeam(ctx context.Context, in *gatewayv1.GetTeamRequest) (*gatewayv1.GetTeamResponse, error) {
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	t, err := c.team(in.GetTeamId())
	if err != nil {
		return nil, err
	}
	return &gatewayv1.GetTeamResponse{
		TeamId: string(t.ID), TeamInfo: c.teamRecord(t), Keys: c.newestKeys(c.set.TeamKeys(t.ID), int(orElse(in.KeyLimit, teamKeys))),
		TeamMemberships: shownAll(c.set.TeamMembers(t.ID), func(m *tenancy.TeamMember) *gatewayv1.TeamMembership {
			return teamMembership(m, emailOf(c.set, m.User))
		}),
	}, nil
}

// team returns a team that the caller may see.
func (c caller) team(of string) (*tenancy.Team, error) {
	t, _ := c.set.Team(c.tx, id.Team(of))
	return visible(c.rights, t, c.rights.MaySeeTeam, missing{codeNoTeam, "team_id", "team"})
}

// managedTeam returns a team that the caller may manage.
func (c caller) managedTeam(of string) (*tenancy.Team, error) {
	t, err := c.team(of)
	if err != nil {
		return nil, err
	}
	return t, c.rights.MayManageTeam(t)
}

// ListTeams shows the teams that the caller may see, ordered by name.
func (teamService) ListTeams(ctx context.Context, in *gatewayv1.ListTeamsRequest) (*gatewayv1.ListTeamsResponse, error) {
	teams, _ := viewer(ctx).teams(listing.TeamQuery{
		User: id.User(in.GetUserId()), Organization: id.Organization(in.GetOrganizationId()), Sort: listing.TeamsByAlias,
	})
	return &gatewayv1.ListTeamsResponse{Teams: teams}, nil
}

// ListTeamsPage shows a page of the teams that the caller may see.
func (teamService) ListTeamsPage(ctx context.Context, in *gatewayv1.ListTeamsPageRequest) (*gatewayv1.ListTeamsPageResponse, error) {
	page, size := span(in.Page, in.PageSize, teamPage)
	teams, total := viewer(ctx).teams(listing.TeamQuery{
		ID: id.Team(in.GetTeamId()), User: id.User(in.GetUserId()), Organization: id.Organization(in.GetOrganizationId()), Alias: in.GetTeamAlias(),
		Sort: in.GetSortBy(), Descending: in.GetSortOrder() != "asc", Offset: int(page-1) * int(size), Limit: int(size),
	})
	return &gatewayv1.ListTeamsPageResponse{Teams: teams, Total: uint32(total), Page: page, PageSize: size, TotalPages: pages(total, size)}, nil
}

// teams returns the teams that a query finds and that the caller may see, and their number
// without the limit of the query.
func (c caller) teams(q listing.TeamQuery) ([]*gatewayv1.TeamRecord, int) {
	if !c.rights.SeesAll() {
		q.May, q.Near = c.rights.MaySeeTeam, c.rights.User()
	}
	teams, total := listing.Teams(c.set, q)
	return shownAll(slices.Values(teams), c.teamRecord), total
}

// UpdateTeam changes the fields in the request.
func (s teamService) UpdateTeam(ctx context.Context, in *gatewayv1.UpdateTeamRequest) (*gatewayv1.UpdateTeamResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.UpdateTeamResponse, error) {
		t, err := c.updateTeam(operation.IfRevision(ctx), in.GetTeamId(), teamPatch(in))
		if err != nil {
			return nil, err
		}
		return &gatewayv1.UpdateTeamResponse{TeamId: in.GetTeamId(), Data: t}, nil
	})
}

// PatchTeam is UpdateTeam with another response.
func (s teamService) PatchTeam(ctx context.Context, in *gatewayv1.UpdateTeamRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, in.GetTeamId(), teamPatch(in))
}

func teamPatch(in *gatewayv1.UpdateTeamRequest) func(t *tenancy.Team) error {
	return func(t *tenancy.Team) (err error) {
		*t, err = patchTeam(*t, in, in.GetClear())
		return err
	}
}

// updateTeam changes a team. The caller must be allowed to manage the team, and to grant what
// the team has after the change.
func (c caller) updateTeam(ifRevision uint64, of string, patch func(*tenancy.Team) error) (*gatewayv1.TeamRecord, error) {
	before, err := c.managedTeam(of)
	if err != nil {
		return nil, err
	}
	after := *before
	if err := patch(&after); err != nil {
		return nil, err
	}
	if after.Prompts, err = c.promptRules(before.Prompts, after.Prompts, after.Organization); err != nil {
		return nil, err
	}
	if after.Guardrails, err = c.guardrailIDs(before.Guardrails, after.Guardrails, after.Organization); err != nil {
		return nil, err
	}
	if err := c.rights.MayGrantTeam(before, &after); err != nil {
		return nil, err
	}
	return shown(c.teamRecord)(c.set.UpdateTeam(c.tx, after, ifRevision))
}

// update changes one team and shows it.
func (s teamService) update(ctx context.Context, of string, patch func(*tenancy.Team) error) (*gatewayv1.TeamRecord, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.TeamRecord, error) {
		return c.updateTeam(operation.IfRevision(ctx), of, patch)
	})
}

// DeleteTeams deletes teams with their keys and memberships, all of them or none.
func (s teamService) DeleteTeams(ctx context.Context, in *gatewayv1.DeleteTeamsRequest) (*gatewayv1.DeleteTeamsResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeleteTeamsResponse, error) {
		out := &gatewayv1.DeleteTeamsResponse{}
		for i, of := range distinct(in.GetTeamIds()) {
			t, err := c.team(of)
			if err == nil {
				err = aboveTeam(c.rights, t)
			}
			if err != nil {
				return nil, field.Named(field.At("team_ids", i), err)
			}
			team := c.teamRecord(t)
			_, deleted, err := c.set.DeleteTeam(c.tx, t.ID)
			if err != nil {
				return nil, field.Named(field.At("team_ids", i), err)
			}
			out.DeletedTeams = append(out.GetDeletedTeams(), team)
			out.DeletedKeys += uint32(deleted)
		}
		return out, nil
	})
}

// aboveTeam denies callers that may not decide whether a team is in use at all.
func aboveTeam(r *rights.Rights, t *tenancy.Team) error {
	other := *t
	other.Blocked = !t.Blocked
	return r.MayGrantTeam(t, &other)
}

// BlockTeam blocks a team: the gateway rejects requests with its keys.
func (s teamService) BlockTeam(ctx context.Context, in *gatewayv1.BlockTeamRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, in.GetTeamId(), func(t *tenancy.Team) error {
		t.Blocked = true
		return nil
	})
}

// UnblockTeam unblocks a team.
func (s teamService) UnblockTeam(ctx context.Context, in *gatewayv1.UnblockTeamRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, in.GetTeamId(), func(t *tenancy.Team) error {
		t.Blocked = false
		return nil
	})
}

// AddTeamModels lets a team use more models.
func (s teamService) AddTeamModels(ctx context.Context, in *gatewayv1.AddTeamModelsRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, in.GetTeamId(), func(t *tenancy.Team) error {
		*t = t.WithModels(in.GetModels())
		return nil
	})
}

// DeleteTeamModels removes models from a team.
func (s teamService) DeleteTeamModels(ctx context.Context, in *gatewayv1.DeleteTeamModelsRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, in.GetTeamId(), func(t *tenancy.Team) (err error) {
		*t, err = t.WithoutModels(in.GetModels())
		return err
	})
}

// ListTeamPermissions shows what members may do with a team's keys.
func (s teamService) ListTeamPermissions(ctx context.Context, in *gatewayv1.ListTeamPermissionsRequest) (*gatewayv1.ListTeamPermissionsResponse, error) {
	return found(ctx, s.state, teamPermissions, func(c caller) (*tenancy.Team, error) { return c.team(in.GetTeamId()) })
}

func teamPermissions(t *tenancy.Team) *gatewayv1.ListTeamPermissionsResponse {
	return &gatewayv1.ListTeamPermissionsResponse{
		TeamId: string(t.ID), TeamMemberPermissions: t.Permissions(), AllAvailablePermissions: tenancy.TeamPermissions(),
	}
}

// UpdateTeamPermissions sets what members may do with a team's keys.
func (s teamService) UpdateTeamPermissions(ctx context.Context, in *gatewayv1.UpdateTeamPermissionsRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, in.GetTeamId(), func(t *tenancy.Team) error {
		t.MemberPermissions = in.GetTeamMemberPermissions()
		return nil
	})
}

// Fields of a team that are the defaults of its members.
const (
	fieldMemberBudget         = "team_member_budget"
	fieldMemberBudgetDuration = "team_member_budget_duration"
	fieldMemberRPM            = "team_member_rpm_limit"
	fieldMemberTPM            = "team_member_tpm_limit"
	fieldMemberKeyDuration    = "team_member_key_duration"
	fieldMemberPermissions    = "team_member_permissions"
)

// patchTeam returns a team with the changes of a request.
func patchTeam(t tenancy.Team, m proto.Message, clears []string) (tenancy.Team, error) {
	p := patchOf(m, clears, limitFields(ruleFields("team_alias", "organization_id", "metadata", "models", "model_aliases", "tags",
		fieldMemberPermissions, fieldMemberBudget, fieldMemberBudgetDuration, fieldMemberRPM, fieldMemberTPM, fieldMemberKeyDuration)...)...)
	t.Alias = p.text("team_alias", t.Alias)
	t.Organization = id.Organization(p.text("organization_id", string(t.Organization)))
	t.Metadata = p.metadata(t.Metadata)
	t.Models = p.list("models", t.Models)
	t.ModelAliases = p.pairs("model_aliases", t.ModelAliases)
	t.Tags = p.list("tags", t.Tags)
	t.Blocked = p.blocked(t.Blocked)
	t.MemberPermissions = p.list(fieldMemberPermissions, t.MemberPermissions)
	t.MemberBudget = p.amount(fieldMemberBudget, t.MemberBudget)
	t.MemberBudgetDuration = p.text(fieldMemberBudgetDuration, t.MemberBudgetDuration)
	t.MemberRPM = p.count(fieldMemberRPM, t.MemberRPM)
	t.MemberTPM = p.count(fieldMemberTPM, t.MemberTPM)
	t.MemberKeyDuration = p.text(fieldMemberKeyDuration, t.MemberKeyDuration)
	t.Prompts = p.prompts(t.Prompts)
	t.Guardrails = p.list(tenancy.FieldGuardrails, t.Guardrails)
	t.Limits = p.limits(t.Limits)
	return t, p.err
}

// teamRecord returns a team in the form of the API.
func (c caller) teamRecord(t *tenancy.Team) *gatewayv1.TeamRecord {
	out := bareTeam(t)
	for m := range c.set.TeamMembers(t.ID) {
		appendTeamMember(out, len(out.GetMembers()), m, emailOf(c.set, m.User))
	}
	for _, m := range out.GetMembersWithRoles() {
		if m.GetRole() == tenancy.TeamAdmin {
			out.Admins = append(out.GetAdmins(), m.GetUserId())
		}
	}
	return out
}

// bareTeam returns a team in the form of the API without its members.
func bareTeam(t *tenancy.Team) *gatewayv1.TeamRecord {
	out := &gatewayv1.TeamRecord{
		TeamId: string(t.ID), TeamAlias: textOrNull(t.Alias), OrganizationId: textOrNull(string(t.Organization)),
		TeamMemberPermissions: t.Permissions(), Metadata: showMetadata(t.Metadata), Models: t.Models, ModelAliases: t.ModelAliases,
		Tags: t.Tags, Blocked: t.Blocked,
		TeamMemberBudget: dollarsOrNull(t.MemberBudget), TeamMemberBudgetDuration: textOrNull(t.MemberBudgetDuration),
		TeamMemberRpmLimit: countOrNull(t.MemberRPM), TeamMemberTpmLimit: countOrNull(t.MemberTPM), TeamMemberKeyDuration: textOrNull(t.MemberKeyDuration),
	}
	showPromptRules(out, t.Prompts)
	showGuardrails(out, t.Guardrails)
	showLimits(out, t.Limits)
	showMeta(out, t.Meta)
	return out
}

// emailOf returns the address of a user; empty if there is no such user.
func emailOf(set *tenancy.Set, of id.User) string {
	u, ok := set.User(nil, of)
	if !ok {
		return ""
	}
	return u.Email
}

// addTeamMember adds a member to a team's record, in the order of their ids.
func addTeamMember(to *gatewayv1.TeamRecord, m *tenancy.TeamMember, email string) {
	i, _ := slices.BinarySearch(to.GetMembers(), string(m.User))
	appendTeamMember(to, i, m, email)
	if m.Role == tenancy.TeamAdmin {
		to.Admins = sortedInsert(to.GetAdmins(), string(m.User))
	}
}

// appendTeamMember adds a member at index i. It does not add it to the admins.
func appendTeamMember(to *gatewayv1.TeamRecord, i int, m *tenancy.TeamMember, email string) {
	to.Members = slices.Insert(to.GetMembers(), i, string(m.User))
	to.MembersWithRoles = slices.Insert(to.GetMembersWithRoles(), i, &gatewayv1.TeamMember{UserId: string(m.User), UserEmail: textOrNull(email), Role: m.Role})
}

// removeTeamMember removes a member from a team's record.
func removeTeamMember(from *gatewayv1.TeamRecord, of id.User) {
	is := func(s string) bool { return s == string(of) }
	from.Members, from.Admins = slices.DeleteFunc(from.GetMembers(), is), slices.DeleteFunc(from.GetAdmins(), is)
	from.MembersWithRoles = slices.DeleteFunc(from.GetMembersWithRoles(), func(m *gatewayv1.TeamMember) bool { return is(m.GetUserId()) })
}

// teamMembership returns the membership of a user in a team in the form of the API.
func teamMembership(m *tenancy.TeamMember, email string) *gatewayv1.TeamMembership {
	out := &gatewayv1.TeamMembership{
		UserId: string(m.User), TeamId: string(m.Team), Role: m.Role, UserEmail: textOrNull(email),
		MaxBudgetInTeam: dollarsOrNull(m.MaxBudget), BudgetDuration: textOrNull(m.BudgetDuration),
		TpmLimit: countOrNull(m.TPM), RpmLimit: countOrNull(m.RPM), AllowedModels: m.AllowedModels,
	}
	showMeta(out, m.Meta)
	return out
}
