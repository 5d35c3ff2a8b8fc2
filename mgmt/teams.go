package mgmt

import (
	"context"

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
	t, ok := set.Team(tx, id.Team(of))
	if ok && r.MaySeeTeam(t) {
		return t, nil
	}
	return nil, unseen(r, ok, codeNoTeam, "team_id", "team")
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
