package mgmt

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// fieldTeamBudget is what bounds a member's spend in a team.
const fieldTeamBudget = "max_budget_in_team"

// newcomer is a user that is to be in a team.
type newcomer struct {
	param string // the field of the request that names it
	user  id.User
	email string
	role  string
	fresh id.User // its id if it is made and has none
}

// newTeamMembers reads the members that a new team is to have. Who is named in more
// than one way is one member, and an admin if one of them says so.
func newTeamMembers(in *gatewayv1.CreateTeamRequest) ([]newcomer, error) {
	out, err := newcomers("members_with_roles", in.GetMembersWithRoles())
	if err != nil {
		return nil, err
	}
	by := map[id.User]int{}
	for i, n := range out {
		if n.user != "" {
			by[n.user] = i
		}
	}
	add := func(param, role string, of id.User) {
		i, ok := by[of]
		if !ok {
			i = len(out)
			by[of] = i
			out = append(out, newcomer{param: param, user: of, role: role})
		}
		if role == tenancy.TeamAdmin {
			out[i].role = role
		}
	}
	for i, of := range in.GetAdmins() {
		add(field.At("admins", i), tenancy.TeamAdmin, id.User(of))
	}
	for i, of := range in.GetMembers() {
		add(field.At("members", i), tenancy.TeamUser, id.User(of))
	}
	return out, nil
}

// newcomers reads a list of users that are to be in a team.
func newcomers(list string, in []*gatewayv1.NewTeamMember) ([]newcomer, error) {
	out := make([]newcomer, 0, len(in))
	for i, m := range in {
		if m.GetUserId() == "" && m.GetUserEmail() == "" {
			return nil, field.Within(field.At(list, i), nobody())
		}
		out = append(out, newcomer{param: field.At(list, i), user: id.User(m.GetUserId()), email: m.GetUserEmail(), role: m.GetRole(), fresh: id.User(id.NewUUID())})
	}
	return out, nil
}

// gathering is users that are put into a team in one transaction.
type gathering struct {
	set    *tenancy.Set
	tx     *record.Txn
	rights *tenancy.Rights
	batch  *tenancy.UserBatch
	team   *tenancy.Team
	// defaults are those of users who are made
	defaults tenancy.UserDefaults
}

// add puts a user into the team. Invite says who that may be. A user that is not there
// yet is made: by a proxy_admin as an internal user, by others as a guest.
func (g gathering) add(n newcomer, m tenancy.TeamMember) (*tenancy.User, *tenancy.TeamMember, error) {
	fresh := tenancy.Guest(n.user, n.email)
	if g.rights.Admin() {
		fresh.Models = nil
	}
	if g.defaults.Role != "" {
		fresh.Role = g.defaults.Role
	}
	u, _, err := g.batch.Invite(tenancy.Invitation{
		User: g.defaults.Complete(fresh), Fresh: n.fresh, To: tenancy.Place{Organization: g.team.Organization, Team: g.team.ID}, Rights: g.rights,
	})
	if err != nil {
		return nil, nil, err
	}
	return g.put(u, m)
}

// put puts a user into the team that is there.
func (g gathering) put(u *tenancy.User, m tenancy.TeamMember) (*tenancy.User, *tenancy.TeamMember, error) {
	m.Team, m.User = g.team.ID, u.ID
	if err := g.rights.MayGrantTeamMember(g.team, &m); err != nil {
		return nil, nil, err
	}
	made, err := g.set.JoinTeam(g.tx, g.team, u, m)
	return u, made, err
}

// memberTerms reads what is the same for all members that a request adds.
func memberTerms(m tenancy.TeamMember, in proto.Message, clears []string) (tenancy.TeamMember, error) {
	p := patchOf(in, clears, fieldTeamBudget, fieldBudgetDuration, "allowed_models", fieldTPM, fieldRPM)
	m.Role = p.text("role", m.Role)
	m.MaxBudget = p.amount(fieldTeamBudget, m.MaxBudget)
	m.BudgetDuration = p.text(fieldBudgetDuration, m.BudgetDuration)
	m.AllowedModels = p.list("allowed_models", m.AllowedModels)
	m.TPM, m.RPM = p.count(fieldTPM, m.TPM), p.count(fieldRPM, m.RPM)
	return m, p.err
}

// AddTeamMembers adds users, all of them or none.
func (s teamService) AddTeamMembers(ctx context.Context, in *gatewayv1.AddTeamMembersRequest) (*gatewayv1.AddTeamMembersResponse, error) {
	list, err := newcomers("member", in.GetMember())
	if err != nil {
		return nil, err
	}
	terms, err := memberTerms(tenancy.TeamMember{}, in, nil)
	if err != nil {
		return nil, err
	}
	a := addition{team: in.GetTeamId(), newcomers: list, terms: terms, defaults: s.defaults.User}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.AddTeamMembersResponse, error) {
		return a.run(ctx, v.Keys, tx)
	})
}

// BulkAddTeamMembers adds many users, or all that there are.
func (s teamService) BulkAddTeamMembers(ctx context.Context, in *gatewayv1.BulkAddTeamMembersRequest) (*gatewayv1.AddTeamMembersResponse, error) {
	list, err := newcomers("members", in.GetMembers())
	if err != nil {
		return nil, err
	}
	if in.GetAllUsers() == (len(list) > 0) {
		return nil, fault.Field("members", "invalid_value", "Give members, or all_users, and not both.")
	}
	terms, err := memberTerms(tenancy.TeamMember{}, in, nil)
	if err != nil {
		return nil, err
	}
	a := addition{team: in.GetTeamId(), newcomers: list, terms: terms, defaults: s.defaults.User}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.AddTeamMembersResponse, error) {
		if in.GetAllUsers() {
			return a.runAll(ctx, v.Keys, tx)
		}
		return a.run(ctx, v.Keys, tx)
	})
}

// addition is users that are to be added to a team, on the same terms.
type addition struct {
	team      string
	newcomers []newcomer
	terms     tenancy.TeamMember
	defaults  tenancy.UserDefaults // of users who are made
}

// run is the operation.
func (a addition) run(ctx context.Context, set *tenancy.Set, tx *record.Txn) (*gatewayv1.AddTeamMembersResponse, error) {
	r := set.Rights(tx, operation.Principal(ctx))
	t, err := managedTeam(set, tx, r, a.team)
	if err != nil {
		return nil, err
	}
	shown, out := teamRecord(set, t), &gatewayv1.AddTeamMembersResponse{}
	g := gathering{set: set, tx: tx, rights: r, batch: set.UserBatch(tx), team: t, defaults: a.defaults}
	for _, n := range a.newcomers {
		m := a.terms
		m.Role = n.role
		u, made, err := g.add(n, m)
		if err != nil {
			return nil, field.Within(n.param, err)
		}
		g.showAdded(out, shown, u, made)
	}
	copyFields(out, shown)
	return out, nil
}

// runAll is the operation that adds everybody who is not in the team yet.
func (a addition) runAll(ctx context.Context, set *tenancy.Set, tx *record.Txn) (*gatewayv1.AddTeamMembersResponse, error) {
	r := set.Rights(tx, operation.Principal(ctx))
	t, err := managedTeam(set, tx, r, a.team)
	if err != nil {
		return nil, err
	}
	if !r.Admin() {
		return nil, &fault.Error{Kind: fault.Denied, Code: codeNoRight, Param: "all_users", Detail: "Only a proxy_admin adds all users. Name those that are to be added in members."}
	}
	shown, out := teamRecord(set, t), &gatewayv1.AddTeamMembersResponse{}
	g := gathering{set: set, tx: tx, rights: r, team: t}
	terms := a.terms
	terms.Role = tenancy.TeamUser
	for listed := range set.AllUsers() {
		if _, is := set.TeamMember(nil, t.ID, listed.ID); is {
			continue
		}
		u, ok := set.User(tx, listed.ID)
		if !ok {
			continue
		}
		_, made, err := g.put(u, terms)
		if err != nil {
			return nil, field.Within("all_users", err)
		}
		g.showAdded(out, shown, u, made)
	}
	copyFields(out, shown)
	return out, nil
}

// showAdded adds a new member to the answer. Of a user who asks for it may not see,
// the membership is all that is shown.
func (g gathering) showAdded(out *gatewayv1.AddTeamMembersResponse, team *gatewayv1.TeamRecord, u *tenancy.User, m *tenancy.TeamMember) {
	addTeamMember(team, m, u.Email)
	out.UpdatedTeamMemberships = append(out.GetUpdatedTeamMemberships(), teamMembership(m, u.Email))
	if u.Revision != 0 && !g.rights.MaySeeUser(u) {
		return
	}
	shown := userRecord(g.set, g.rights, u)
	shown.Teams = sortedInsert(shown.GetTeams(), string(m.Team))
	out.UpdatedUsers = append(out.GetUpdatedUsers(), shown)
}

// UpdateTeamMember changes a member's role or limits.
func (s teamService) UpdateTeamMember(ctx context.Context, in *gatewayv1.UpdateTeamMemberRequest) (*gatewayv1.TeamMembership, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.TeamMembership, error) {
		r := v.Keys.Rights(tx, operation.Principal(ctx))
		t, err := managedTeam(v.Keys, tx, r, in.GetTeamId())
		if err != nil {
			return nil, err
		}
		u, before, err := teamMemberOf(v.Keys, tx, t, in)
		if err != nil {
			return nil, err
		}
		after, err := memberTerms(*before, in, in.GetClear())
		if err != nil {
			return nil, err
		}
		if err := r.MayGrantTeamMember(t, &after); err != nil {
			return nil, err
		}
		made, err := v.Keys.UpdateTeamMember(tx, after, operation.IfRevision(ctx))
		if err != nil {
			return nil, err
		}
		return teamMembership(made, u.Email), nil
	})
}

// DeleteTeamMember takes a user out of a team.
func (s teamService) DeleteTeamMember(ctx context.Context, in *gatewayv1.DeleteTeamMemberRequest) (*gatewayv1.TeamRecord, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.TeamRecord, error) {
		t, err := managedTeam(v.Keys, tx, v.Keys.Rights(tx, operation.Principal(ctx)), in.GetTeamId())
		if err != nil {
			return nil, err
		}
		u, _, err := teamMemberOf(v.Keys, tx, t, in)
		if err != nil {
			return nil, err
		}
		if _, err := v.Keys.DeleteTeamMember(tx, t.ID, u.ID); err != nil {
			return nil, err
		}
		out := teamRecord(v.Keys, t)
		removeTeamMember(out, u.ID)
		return out, nil
	})
}

// teamMemberOf returns the member of a team that a request names.
func teamMemberOf(set *tenancy.Set, tx *record.Txn, t *tenancy.Team, in userName) (*tenancy.User, *tenancy.TeamMember, error) {
	var m *tenancy.TeamMember
	u, ok, err := userOf(set, tx, in, func(u id.User) (is bool) {
		m, is = set.TeamMember(tx, t.ID, u)
		return is
	})
	if ok || err != nil {
		return u, m, err
	}
	param := "user_id"
	if in.GetUserId() == "" {
		param = "user_email"
	}
	return nil, nil, &fault.Error{Kind: fault.NotFound, Code: codeNoMember, Param: param, Detail: fmt.Sprintf("There is no such user in the team; %s names none of its members.", param)}
}
