package mgmt

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// userForms reads teams of which the request gives only the ids.
func userForms(members map[string]jsontext.Value) error {
	v, ok := members["teams"]
	if !ok || v.Kind() != '[' {
		return nil
	}
	var teams []jsontext.Value
	if err := json.Unmarshal(v, &teams); err != nil {
		return fault.Field("teams", "invalid_type", "teams must be a list.")
	}
	for i, t := range teams {
		if t.Kind() == '"' {
			teams[i] = jsontext.Value(`{"team_id":` + string(t) + `}`)
		}
	}
	text, err := json.Marshal(teams)
	members["teams"] = text
	return err
}

// newUser is a user that a request creates, with its memberships.
type newUser struct {
	user          tenancy.User
	chosen        bool // the request chooses the id
	teams         []tenancy.TeamMember
	organizations []string
	key           *tenancy.Key // nil: the request creates none
	secret        string       // the key itself
}

// CreateUser creates a user, with the defaults of the configuration file, and a key for it
// unless the request says otherwise.
func (s userService) CreateUser(ctx context.Context, in *gatewayv1.CreateUserRequest) (*gatewayv1.CreateUserResponse, error) {
	n, err := readNewUser(in, time.Now())
	if err != nil {
		return nil, err
	}
	if in.UserRole == nil && s.defaults.User.Role != "" {
		n.user.Role = s.defaults.User.Role
	}
	n.user = s.defaults.User.Complete(n.user)
	if err := n.user.Limits.Check(""); err != nil { // as a whole: a default may be lower than a value of the request
		return nil, err
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.CreateUserResponse, error) {
		if n.key != nil {
			if err := c.rights.MayMakeKey(s.rules, n.key); err != nil {
				return nil, field.Named("auto_create_key", err)
			}
		}
		return n.create(c)
	})
}

// readNewUser reads a request, and makes the checks that need no state.
func readNewUser(in *gatewayv1.CreateUserRequest, now time.Time) (*newUser, error) {
	p := patchOf(in, nil)
	n := &newUser{
		organizations: in.GetOrganizations(), chosen: in.UserId != nil,
		user: p.user(tenancy.User{ID: id.User(chosen(in.UserId)), Email: in.GetUserEmail(), Role: tenancy.RoleInternalUser}),
	}
	if p.err != nil {
		return nil, p.err
	}
	var err error
	for i, t := range in.GetTeams() {
		m := tenancy.TeamMember{Team: id.Team(t.GetTeamId()), Role: tenancy.TeamUser}
		if t.GetUserRole() != "" {
			m.Role = t.GetUserRole()
		}
		if m.MaxBudget, err = optionalDollars(field.At("teams", i)+".max_budget_in_team", t.MaxBudgetInTeam); err != nil {
			return nil, err
		}
		n.teams = append(n.teams, m)
	}
	return n, n.makeKey(in, now)
}

// makeKey generates the user's key.
func (n *newUser) makeKey(in *gatewayv1.CreateUserRequest, now time.Time) error {
	if in.AutoCreateKey != nil && !in.GetAutoCreateKey() {
		switch {
		case in.KeyAlias != nil:
			return fault.Field("key_alias", "invalid_value", "No key is made where auto_create_key is false. Leave key_alias out.")
		case in.Duration != nil:
			return fault.Field("duration", "invalid_value", "No key is made where auto_create_key is false. Leave duration out.")
		}
		return nil
	}
	secret, name, err := credential.Generate(rand.Reader)
	if err != nil {
		return err
	}
	n.secret = secret.Reveal()
	n.key = &tenancy.Key{Hash: id.HashKey(n.secret), Name: name, Alias: in.GetKeyAlias(), User: n.user.ID}
	if in.Duration != nil {
		d, err := period.Parse("duration", in.GetDuration())
		if err != nil {
			return err
		}
		n.key.Expires = d.After(now)
	}
	return nil
}

// create creates the user, its memberships and its key.
func (n *newUser) create(c caller) (*gatewayv1.CreateUserResponse, error) {
	u := n.user
	if err := c.rights.MayGrantUser(nil, &u); err != nil {
		return nil, err
	}
	switch {
	case c.rights.Admin():
	case n.chosen:
		return nil, chosenID("user_id")
	case len(n.organizations) == 0:
		return nil, notYours("organizations", "Only a proxy_admin makes users that are in no organization. Name one that you administer in organizations.")
	}
	// This comes before any other check of the user: only callers that manage an organization
	// may learn of a conflict in it.
	organizations, err := n.managed(c)
	if err != nil {
		return nil, err
	}
	batch := c.set.UserBatch(c.tx)
	if !c.rights.Admin() {
		u.Directory.Organization = organizations[0]
		if err := batch.AddressIn(&u, organizations...); err != nil {
			return nil, err
		}
	}
	made, err := batch.Create(u)
	if err != nil {
		return nil, err
	}
	user := c.userRecord(made)
	if err := c.joinOrganizations(organizations, made, user); err != nil {
		return nil, err
	}
	if err := n.joinTeams(c, made, user); err != nil {
		return nil, err
	}
	out := &gatewayv1.CreateUserResponse{}
	if n.key != nil {
		created, err := n.createKey(c, made, organizations)
		if err != nil {
			return nil, err
		}
		user.KeyCount = 1
		out.Key, out.Token, out.Expires = wrapperspb.String(n.secret), wrapperspb.String(tokenOf(created.Hash)), moment(created.Expires)
	}
	copyFields(out, user)
	return out, nil
}

// createKey creates the key of the new user.
func (n *newUser) createKey(c caller, of *tenancy.User, organizations []id.Organization) (*tenancy.Key, error) {
	k := *n.key
	if !c.rights.Admin() {
		// The budget of an org_admin is that of the organization. A key outside it would spend
		// money that nobody granted.
		k.Organization = organizations[0]
	}
	if err := c.rights.MayGrantNewUserKey(of, &k); err != nil {
		return nil, err
	}
	if err := c.rights.SetParent(&k); err != nil {
		return nil, err
	}
	return c.set.CreateUserKey(c.tx, of, k, organizations)
}

// managed returns the organizations that the request names. The caller must be allowed to
// manage all of them.
func (n *newUser) managed(c caller) ([]id.Organization, error) {
	var out []id.Organization
	for i, of := range n.organizations {
		param := field.At("organizations", i)
		if slices.Contains(out, id.Organization(of)) {
			return nil, fault.Field(param, "duplicate_value", "The request names the organization twice.")
		}
		o, err := c.managedOrganization(of)
		if err != nil {
			return nil, field.Named(param, err)
		}
		out = append(out, o.ID)
	}
	return out, nil
}

// joinOrganizations adds a new user to its organizations.
func (c caller) joinOrganizations(organizations []id.Organization, u *tenancy.User, user *gatewayv1.UserRecord) error {
	role := tenancy.RoleInternalUser
	if u.Role == tenancy.RoleInternalUserViewer {
		role = tenancy.RoleInternalUserViewer
	}
	for i, of := range organizations {
		m, err := c.set.AddOrganizationMember(c.tx, u, tenancy.OrganizationMember{Organization: of, Role: role})
		if err != nil {
			return field.Named(field.At("organizations", i), err)
		}
		addPlace(user, m)
	}
	return nil
}

// chosenID denies an id that a caller chooses for a new record. Ids are unique in the
// whole gateway, so a conflict would reveal records of others.
func chosenID(param string) error {
	return notYours(param, fmt.Sprintf("Only a proxy_admin may choose %s. Leave it out: the gateway gives one.", param))
}

// joinTeams adds the user to its teams.
func (n *newUser) joinTeams(c caller, u *tenancy.User, user *gatewayv1.UserRecord) error {
	seen := map[id.Team]bool{}
	for i, m := range n.teams {
		param := field.At("teams", i) + ".team_id"
		if seen[m.Team] {
			return fault.Field(param, "duplicate_value", "The request names the team twice.")
		}
		seen[m.Team] = true
		t, err := c.managedTeam(string(m.Team))
		m.User = u.ID
		if err == nil {
			err = c.rights.MayGrantTeamMember(t, &m)
		}
		if err != nil {
			return field.Named(param, err)
		}
		if _, err := c.set.JoinTeam(c.tx, t, u, m); err != nil {
			return field.Within(field.At("teams", i), err)
		}
		user.Teams = sortedInsert(user.GetTeams(), string(m.Team))
	}
	return nil
}
