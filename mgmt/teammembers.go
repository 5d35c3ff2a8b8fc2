package mgmt

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// fieldTeamBudget bounds the spend of a member in a team.
const fieldTeamBudget = "max_budget_in_team"

// newcomer is a user that a request adds to a team.
type newcomer struct {
	param string // the field of the request that names it
	user  id.User
	email string
	role  string
	fresh id.User // its id if it is created and the request gives none
}

// newTeamMembers reads the members of a new team. A user that the request names several times
// is one member, and an admin if one of the names is.
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

// newcomers reads a list of users that a request adds to a team.
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

// gathering adds users to a team in one transaction.
type gathering struct {
	caller
	batch *tenancy.UserBatch
	team  *tenancy.Team
	// defaults are those of users that are created
	defaults tenancy.UserDefaults
}

// add adds a user to the team. Invite says which users the caller may add. A user that does
// not exist is created: by a proxy_admin as an internal user, by others as a guest.
func (g gathering) add(n newcomer, m tenancy.TeamMember) (*tenancy.User, *tenancy.TeamMember, error) {
	fresh := tenancy.Guest(n.user, n.email)
	if g.rights.Admin() {
		fresh.Models = nil
	}
	if g.defaults.Role != "" {
		fresh.Role = g.defaults.Role
	}
	u, _, err := g.rights.Invite(g.batch, rights.Invitation{
		User: g.defaults.Complete(fresh), Fresh: n.fresh, To: tenancy.Place{Organization: g.team.Organization, Team: g.team.ID},
	})
	if err != nil {
		return nil, nil, err
	}
	return g.put(u, m)
}

// put adds a user that exists to the team.
func (g gathering) put(u *tenancy.User, m tenancy.TeamMember) (*tenancy.User, *tenancy.TeamMember, error) {
	m.Team, m.User = g.team.ID, u.ID
	if err := g.rights.MayGrantTeamMember(g.team, &m); err != nil {
		return nil, nil, err
	}
	made, err := g.set.JoinTeam(g.tx, g.team, u, m)
	return u, made, err
}

// memberTerms reads the terms that are the same for all members in a request.
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
	return s.addMembers(ctx, addition{team: in.GetTeamId(), newcomers: list, terms: terms})
}

// BulkAddTeamMembers adds many users, or all users that exist.
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
	return s.addMembers(ctx, addition{team: in.GetTeamId(), newcomers: list, terms: terms, everybody: in.GetAllUsers()})
}

// addition describes the users that a request adds to a team, on the same terms.
type addition struct {
	team      string
	newcomers []newcomer
	everybody bool // all users instead of newcomers
	terms     tenancy.TeamMember
}

func (s teamService) addMembers(ctx context.Context, a addition) (*gatewayv1.AddTeamMembersResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.AddTeamMembersResponse, error) {
		t, err := c.managedTeam(a.team)
		if err != nil {
			return nil, err
		}
		team, out := c.teamRecord(t), &gatewayv1.AddTeamMembersResponse{}
		g := gathering{caller: c, batch: c.set.UserBatch(c.tx), team: t, defaults: s.defaults.User}
		joined := func(u *tenancy.User, m *tenancy.TeamMember) { g.showAdded(out, team, u, m) }
		if a.everybody {
			err = g.addEverybody(a.terms, joined)
		} else {
			err = g.addAll(a.newcomers, a.terms, joined)
		}
		copyFields(out, team)
		return out, err
	})
}

// addAll adds newcomers, and calls joined for each of them.
func (g gathering) addAll(list []newcomer, terms tenancy.TeamMember, joined func(*tenancy.User, *tenancy.TeamMember)) error {
	for _, n := range list {
		terms.Role = n.role
		u, made, err := g.add(n, terms)
		if err != nil {
			return field.Within(n.param, err)
		}
		joined(u, made)
	}
	return nil
}

// addEverybody adds all users that are not in the team yet, and calls joined for each of them.
func (g gathering) addEverybody(terms tenancy.TeamMember, joined func(*tenancy.User, *tenancy.TeamMember)) error {
	if !g.rights.Admin() {
		return notYours("all_users", "Only a proxy_admin adds all users. Name those that are to be added in members.")
	}
	terms.Role = tenancy.TeamUser
	for listed := range g.set.AllUsers() {
		if _, is := g.set.TeamMember(nil, g.team.ID, listed.ID); is {
			continue
		}
		u, ok := g.set.User(g.tx, listed.ID)
		if !ok {
			continue
		}
		_, made, err := g.put(u, terms)
		if err != nil {
			return field.Within("all_users", err)
		}
		joined(u, made)
	}
	return nil
}

// showAdded adds a new member to the response. Of a user that the caller may not see, it shows
// only the membership.
func (g gathering) showAdded(out *gatewayv1.AddTeamMembersResponse, team *gatewayv1.TeamRecord, u *tenancy.User, m *tenancy.TeamMember) {
	addTeamMember(team, m, u.Email)
	out.UpdatedTeamMemberships = append(out.GetUpdatedTeamMemberships(), teamMembership(m, u.Email))
	if u.Revision != 0 && !g.rights.MaySeeUser(u) {
		return
	}
	user := g.userRecord(u)
	user.Teams = sortedInsert(user.GetTeams(), string(m.Team))
	out.UpdatedUsers = append(out.GetUpdatedUsers(), user)
}

// UpdateTeamMember changes a member's role or limits.
func (s teamService) UpdateTeamMember(ctx context.Context, in *gatewayv1.UpdateTeamMemberRequest) (*gatewayv1.TeamMembership, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.TeamMembership, error) {
		t, err := c.managedTeam(in.GetTeamId())
		if err != nil {
			return nil, err
		}
		u, before, err := c.teamMember(t, in)
		if err != nil {
			return nil, err
		}
		after, err := memberTerms(*before, in, in.GetClear())
		if err != nil {
			return nil, err
		}
		if err := c.rights.MayGrantTeamMember(t, &after); err != nil {
			return nil, err
		}
		made, err := c.set.UpdateTeamMember(c.tx, after, operation.IfRevision(ctx))
		if err != nil {
			return nil, err
		}
		return teamMembership(made, u.Email), nil
	})
}

// DeleteTeamMember removes a user from a team.
func (s teamService) DeleteTeamMember(ctx context.Context, in *gatewayv1.DeleteTeamMemberRequest) (*gatewayv1.TeamRecord, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.TeamRecord, error) {
		t, err := c.managedTeam(in.GetTeamId())
		if err != nil {
			return nil, err
		}
		u, _, err := c.teamMember(t, in)
		if err != nil {
			return nil, err
		}
		if _, err := c.set.DeleteTeamMember(c.tx, t.ID, u.ID); err != nil {
			return nil, err
		}
		out := c.teamRecord(t)
		removeTeamMember(out, u.ID)
		return out, nil
	})
}

// teamMember returns the member of a team that a request names.
func (c caller) teamMember(t *tenancy.Team, in userName) (*tenancy.User, *tenancy.TeamMember, error) {
	var m *tenancy.TeamMember
	u, ok, err := c.userOf(in, func(u id.User) (is bool) {
		m, is = c.set.TeamMember(c.tx, t.ID, u)
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
