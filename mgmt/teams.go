package mgmt

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type teamService struct {
	gatewayv1.UnimplementedTeamServiceServer
	service
}

// What lists of teams show where the request does not say how much.
const (
	teamKeys = 100
	teamPage = 10
)

// CreateTeam makes a team with its members.
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
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.TeamRecord, error) {
		r := v.Keys.Rights(tx, operation.Principal(ctx))
		if err := r.MayGrantTeam(nil, &t); err != nil {
			return nil, err
		}
		if in.TeamId != nil && !r.Admin() {
			return nil, chosenID("team_id")
		}
		made, err := v.Keys.CreateTeam(tx, t)
		if err != nil {
			return nil, err
		}
		out := bareTeam(made)
		g := gathering{set: v.Keys, tx: tx, rights: r, batch: v.Keys.UserBatch(tx), team: made, defaults: s.defaults.User}
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
	t, err := s.team(ctx, in.GetTeamId())
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.GetTeamResponse{TeamId: string(t.ID), TeamInfo: teamRecord(t.set, t.Team)}
	limit := teamKeys
	if in.KeyLimit != nil {
		limit = int(in.GetKeyLimit())
	}
	out.Keys = newestKeys(t.set.TeamKeys(t.ID), t.rights, limit)
	for m := range t.set.TeamMembers(t.ID) {
		out.TeamMemberships = append(out.GetTeamMemberships(), teamMembership(m, emailOf(t.set, m.User)))
	}
	return out, nil
}

// seenTeam is a team in front of who asks and may see it.
type seenTeam struct {
	*tenancy.Team
	set    *tenancy.Set
	rights *tenancy.Rights
}

// team returns a team as it is now.
func (s teamService) team(ctx context.Context, of string) (seenTeam, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return seenTeam{}, err
	}
	out := seenTeam{set: v.Keys, rights: v.Keys.Rights(nil, operation.Principal(ctx))}
	out.Team, err = visibleTeam(out.set, nil, out.rights, of)
	return out, err
}

// visibleTeam returns a team that the caller may see; tx is nil for a request that
// changes nothing.
func visibleTeam(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, of string) (*tenancy.Team, error) {
	t, _ := set.Team(tx, id.Team(of))
	return visible(r, t, r.MaySeeTeam, missing{codeNoTeam, "team_id", "team"})
}

// managedTeam returns a team that who asks may manage.
func managedTeam(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, of string) (*tenancy.Team, error) {
	t, err := visibleTeam(set, tx, r, of)
	if err != nil {
		return nil, err
	}
	return t, r.MayManageTeam(t)
}

// ListTeams shows the teams that who asks may see, ordered by name.
func (teamService) ListTeams(ctx context.Context, in *gatewayv1.ListTeamsRequest) (*gatewayv1.ListTeamsResponse, error) {
	v := operation.View(ctx)
	teams, _ := v.Keys.Teams(visibleTeams(ctx, tenancy.TeamQuery{
		User: id.User(in.GetUserId()), Organization: id.Organization(in.GetOrganizationId()), Sort: tenancy.TeamsByAlias,
	}))
	return &gatewayv1.ListTeamsResponse{Teams: teamRecords(v.Keys, teams)}, nil
}

// ListTeamsPage shows a page of them.
func (teamService) ListTeamsPage(ctx context.Context, in *gatewayv1.ListTeamsPageRequest) (*gatewayv1.ListTeamsPageResponse, error) {
	v := operation.View(ctx)
	page, size := span(in.Page, in.PageSize, teamPage)
	teams, total := v.Keys.Teams(visibleTeams(ctx, tenancy.TeamQuery{
		ID: id.Team(in.GetTeamId()), User: id.User(in.GetUserId()), Organization: id.Organization(in.GetOrganizationId()), Alias: in.GetTeamAlias(),
		Sort: in.GetSortBy(), Descending: in.GetSortOrder() != "asc", Offset: int(page-1) * int(size), Limit: int(size),
	}))
	return &gatewayv1.ListTeamsPageResponse{
		Teams: teamRecords(v.Keys, teams),
		Total: uint32(total), Page: page, PageSize: size, TotalPages: pages(total, size),
	}, nil
}

// visibleTeams narrows a query to what who asks may see.
func visibleTeams(ctx context.Context, q tenancy.TeamQuery) tenancy.TeamQuery {
	if r := operation.View(ctx).Keys.Rights(nil, operation.Principal(ctx)); !r.SeesAll() {
		q.May, q.Near = r.MaySeeTeam, r.User()
	}
	return q
}

// UpdateTeam changes what the request gives.
func (s teamService) UpdateTeam(ctx context.Context, in *gatewayv1.UpdateTeamRequest) (*gatewayv1.UpdateTeamResponse, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.UpdateTeamResponse, error) {
		t, err := updateTeam(ctx, v.Keys, tx, teamPatch(in))
		if err != nil {
			return nil, err
		}
		return &gatewayv1.UpdateTeamResponse{TeamId: in.GetTeamId(), Data: t}, nil
	})
}

// PatchTeam is UpdateTeam with another response.
func (s teamService) PatchTeam(ctx context.Context, in *gatewayv1.UpdateTeamRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, teamPatch(in))
}

// teamUpdate is a change of one team.
type teamUpdate struct {
	team  string
	patch func(*tenancy.Team) error
}

func teamPatch(in *gatewayv1.UpdateTeamRequest) teamUpdate {
	return teamUpdate{in.GetTeamId(), func(t *tenancy.Team) (err error) {
		*t, err = patchTeam(*t, in, in.GetClear())
		return err
	}}
}

// updateTeam changes a team. The caller must be allowed to manage the team, and to
// grant it what it has then.
func updateTeam(ctx context.Context, set *tenancy.Set, tx *record.Txn, u teamUpdate) (*gatewayv1.TeamRecord, error) {
	r := set.Rights(tx, operation.Principal(ctx))
	before, err := managedTeam(set, tx, r, u.team)
	if err != nil {
		return nil, err
	}
	after := *before
	if err := u.patch(&after); err != nil {
		return nil, err
	}
	if err := r.MayGrantTeam(before, &after); err != nil {
		return nil, err
	}
	made, err := set.UpdateTeam(tx, after, operation.IfRevision(ctx))
	if err != nil {
		return nil, err
	}
	return teamRecord(set, made), nil
}

// update changes one team and shows it.
func (s teamService) update(ctx context.Context, u teamUpdate) (*gatewayv1.TeamRecord, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.TeamRecord, error) {
		return updateTeam(ctx, v.Keys, tx, u)
	})
}

// DeleteTeams deletes teams with their keys and memberships, all of them or none.
func (s teamService) DeleteTeams(ctx context.Context, in *gatewayv1.DeleteTeamsRequest) (*gatewayv1.DeleteTeamsResponse, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeleteTeamsResponse, error) {
		r, out := v.Keys.Rights(tx, operation.Principal(ctx)), &gatewayv1.DeleteTeamsResponse{}
		for i, of := range distinct(in.GetTeamIds()) {
			t, err := visibleTeam(v.Keys, tx, r, of)
			if err == nil {
				err = aboveTeam(r, t)
			}
			if err != nil {
				return nil, field.Named(field.At("team_ids", i), err)
			}
			shown := teamRecord(v.Keys, t)
			_, deleted, err := v.Keys.DeleteTeam(tx, t.ID)
			if err != nil {
				return nil, field.Named(field.At("team_ids", i), err)
			}
			out.DeletedTeams = append(out.GetDeletedTeams(), shown)
			out.DeletedKeys += uint32(deleted)
		}
		return out, nil
	})
}

// aboveTeam refuses who may not decide whether a team is in use at all.
func aboveTeam(r *tenancy.Rights, t *tenancy.Team) error {
	other := *t
	other.Blocked = !t.Blocked
	return r.MayGrantTeam(t, &other)
}

// BlockTeam rejects requests with a team's keys.
func (s teamService) BlockTeam(ctx context.Context, in *gatewayv1.BlockTeamRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, teamUpdate{in.GetTeamId(), func(t *tenancy.Team) error {
		t.Blocked = true
		return nil
	}})
}

// UnblockTeam accepts them again.
func (s teamService) UnblockTeam(ctx context.Context, in *gatewayv1.UnblockTeamRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, teamUpdate{in.GetTeamId(), func(t *tenancy.Team) error {
		t.Blocked = false
		return nil
	}})
}

// AddTeamModels lets a team use further models.
func (s teamService) AddTeamModels(ctx context.Context, in *gatewayv1.AddTeamModelsRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, teamUpdate{in.GetTeamId(), func(t *tenancy.Team) error {
		*t = t.WithModels(in.GetModels())
		return nil
	}})
}

// DeleteTeamModels removes models from a team.
func (s teamService) DeleteTeamModels(ctx context.Context, in *gatewayv1.DeleteTeamModelsRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, teamUpdate{in.GetTeamId(), func(t *tenancy.Team) (err error) {
		*t, err = t.WithoutModels(in.GetModels())
		return err
	}})
}

// ListTeamPermissions shows what members may do with a team's keys.
func (s teamService) ListTeamPermissions(ctx context.Context, in *gatewayv1.ListTeamPermissionsRequest) (*gatewayv1.ListTeamPermissionsResponse, error) {
	t, err := s.team(ctx, in.GetTeamId())
	if err != nil {
		return nil, err
	}
	return &gatewayv1.ListTeamPermissionsResponse{
		TeamId: string(t.ID), TeamMemberPermissions: t.Permissions(), AllAvailablePermissions: tenancy.TeamPermissions(),
	}, nil
}

// UpdateTeamPermissions sets what members may do with a team's keys.
func (s teamService) UpdateTeamPermissions(ctx context.Context, in *gatewayv1.UpdateTeamPermissionsRequest) (*gatewayv1.TeamRecord, error) {
	return s.update(ctx, teamUpdate{in.GetTeamId(), func(t *tenancy.Team) error {
		t.MemberPermissions = in.GetTeamMemberPermissions()
		return nil
	}})
}

// Fields of a team that its members have where they have none of their own.
const (
	fieldMemberBudget         = "team_member_budget"
	fieldMemberBudgetDuration = "team_member_budget_duration"
	fieldMemberRPM            = "team_member_rpm_limit"
	fieldMemberTPM            = "team_member_tpm_limit"
	fieldMemberKeyDuration    = "team_member_key_duration"
	fieldMemberPermissions    = "team_member_permissions"
)

// patchTeam returns a team as a request wants it.
func patchTeam(t tenancy.Team, m proto.Message, clears []string) (tenancy.Team, error) {
	p := patchOf(m, clears, limitFields("team_alias", "organization_id", "metadata", "models", "model_aliases", "tags",
		fieldMemberPermissions, fieldMemberBudget, fieldMemberBudgetDuration, fieldMemberRPM, fieldMemberTPM, fieldMemberKeyDuration)...)
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
	t.Limits = p.limits(t.Limits)
	return t, p.err
}

// teamRecord is a team as the API shows it.
func teamRecord(set *tenancy.Set, t *tenancy.Team) *gatewayv1.TeamRecord {
	out := bareTeam(t)
	for m := range set.TeamMembers(t.ID) {
		appendTeamMember(out, len(out.GetMembers()), m, emailOf(set, m.User))
	}
	for _, m := range out.GetMembersWithRoles() {
		if m.GetRole() == tenancy.TeamAdmin {
			out.Admins = append(out.GetAdmins(), m.GetUserId())
		}
	}
	return out
}

func teamRecords(set *tenancy.Set, teams []*tenancy.Team) []*gatewayv1.TeamRecord {
	out := make([]*gatewayv1.TeamRecord, len(teams))
	for i, t := range teams {
		out[i] = teamRecord(set, t)
	}
	return out
}

// bareTeam is a team without its members.
func bareTeam(t *tenancy.Team) *gatewayv1.TeamRecord {
	out := &gatewayv1.TeamRecord{
		TeamId: string(t.ID), TeamAlias: textOrNull(t.Alias), OrganizationId: textOrNull(string(t.Organization)),
		TeamMemberPermissions: t.Permissions(), Metadata: showMetadata(t.Metadata), Models: t.Models, ModelAliases: t.ModelAliases,
		Tags: t.Tags, Blocked: t.Blocked,
		TeamMemberBudget: dollarsOrNull(t.MemberBudget), TeamMemberBudgetDuration: textOrNull(t.MemberBudgetDuration),
		TeamMemberRpmLimit: countOrNull(t.MemberRPM), TeamMemberTpmLimit: countOrNull(t.MemberTPM), TeamMemberKeyDuration: textOrNull(t.MemberKeyDuration),
	}
	showLimits(out, t.Limits)
	showMeta(out, t.Meta)
	return out
}

// emailOf is the address of a user; empty for none.
func emailOf(set *tenancy.Set, of id.User) string {
	u, ok := set.User(nil, of)
	if !ok {
		return ""
	}
	return u.Email
}

// addTeamMember adds a member to a team's record, where it belongs by id.
func addTeamMember(to *gatewayv1.TeamRecord, m *tenancy.TeamMember, email string) {
	i, _ := slices.BinarySearch(to.GetMembers(), string(m.User))
	appendTeamMember(to, i, m, email)
	if m.Role == tenancy.TeamAdmin {
		to.Admins = sortedInsert(to.GetAdmins(), string(m.User))
	}
}

// appendTeamMember adds a member at a place, and leaves out whether it is an admin.
func appendTeamMember(to *gatewayv1.TeamRecord, i int, m *tenancy.TeamMember, email string) {
	to.Members = slices.Insert(to.GetMembers(), i, string(m.User))
	to.MembersWithRoles = slices.Insert(to.GetMembersWithRoles(), i, &gatewayv1.TeamMember{UserId: string(m.User), UserEmail: textOrNull(email), Role: m.Role})
}

// removeTeamMember takes a member from a team's record.
func removeTeamMember(from *gatewayv1.TeamRecord, of id.User) {
	is := func(s string) bool { return s == string(of) }
	from.Members, from.Admins = slices.DeleteFunc(from.GetMembers(), is), slices.DeleteFunc(from.GetAdmins(), is)
	from.MembersWithRoles = slices.DeleteFunc(from.GetMembersWithRoles(), func(m *gatewayv1.TeamMember) bool { return is(m.GetUserId()) })
}

// teamMembership is a user's place in a team as the API shows it.
func teamMembership(m *tenancy.TeamMember, email string) *gatewayv1.TeamMembership {
	out := &gatewayv1.TeamMembership{
		UserId: string(m.User), TeamId: string(m.Team), Role: m.Role, UserEmail: textOrNull(email),
		MaxBudgetInTeam: dollarsOrNull(m.MaxBudget), BudgetDuration: textOrNull(m.BudgetDuration),
		TpmLimit: countOrNull(m.TPM), RpmLimit: countOrNull(m.RPM), AllowedModels: m.AllowedModels,
	}
	showMeta(out, m.Meta)
	return out
}
