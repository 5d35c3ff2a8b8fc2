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

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// userForms reads teams that are their ids alone.
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

// newUser is a user that is to be made, with the places that it is put into.
type newUser struct {
	user          tenancy.User
	chosen        bool // the request chooses the id
	teams         []tenancy.TeamMember
	organizations []string
	key           *tenancy.Key // nil: none is made
	secret        string       // the key itself
}

// CreateUser makes a user, with the defaults of the configuration file, and unless
// told otherwise a key for it.
func (s userService) CreateUser(ctx context.Context, in *gatewayv1.CreateUserRequest) (*gatewayv1.CreateUserResponse, error) {
	n, err := readNewUser(in, time.Now())
	if err != nil {
		return nil, err
	}
	if in.UserRole == nil && s.defaults.User.Role != "" {
		n.user.Role = s.defaults.User.Role
	}
	n.user = s.defaults.User.Complete(n.user)
	if err := n.user.Limits.Check(""); err != nil { // as a whole: a default may be below what the request gives
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.CreateUserResponse, error) {
		r := v.Keys.Rights(tx, operation.Principal(ctx))
		if n.key != nil {
			if err := r.MayMakeKey(s.rules, n.key); err != nil {
				return nil, field.Named("auto_create_key", err)
			}
		}
		return n.create(v.Keys, tx, r)
	})
}

// readNewUser checks what a request says by itself.
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

// makeKey makes the user's key.
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
	secret, name, err := tenancy.Generate(rand.Reader)
	if err != nil {
		return err
	}
	n.secret = secret.Reveal()
	n.key = &tenancy.Key{Hash: id.HashKey(n.secret), Name: name, Alias: in.GetKeyAlias(), User: n.user.ID}
	if in.Duration != nil {
		d, err := tenancy.ParsePeriod("duration", in.GetDuration())
		if err != nil {
			return err
		}
		n.key.Expires = d.After(now)
	}
	return nil
}

// create is the operation.
func (n *newUser) create(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights) (*gatewayv1.CreateUserResponse, error) {
	u := n.user
	if err := r.MayGrantUser(nil, &u); err != nil {
		return nil, err
	}
	switch {
	case r.Admin():
	case n.chosen:
		return nil, chosenID("user_id")
	case len(n.organizations) == 0:
		return nil, &fault.Error{Kind: fault.Denied, Code: codeNoRight, Param: "organizations", Detail: "Only a proxy_admin makes users that are in no organization. Name one that you administer in organizations."}
	}
	// Before anything else of the user is looked at: a conflict in an organization is for
	// those to see that manage it.
	organizations, err := n.managed(set, tx, r)
	if err != nil {
		return nil, err
	}
	batch := set.UserBatch(tx)
	if !r.Admin() {
		u.Directory.Organization = organizations[0]
		if err := batch.AddressIn(&u, organizations...); err != nil {
			return nil, err
		}
	}
	made, err := batch.Create(u)
	if err != nil {
		return nil, err
	}
	shown := userRecord(set, r, made)
	if err := joinOrganizations(set, tx, organizations, made, shown); err != nil {
		return nil, err
	}
	if err := n.joinTeams(set, tx, r, made, shown); err != nil {
		return nil, err
	}
	out := &gatewayv1.CreateUserResponse{}
	if n.key != nil {
		k := *n.key
		if !r.Admin() {
			// An org_admin's budget is that of the organization: a key outside it would
			// spend what nobody has granted.
			k.Organization = organizations[0]
		}
		if err := r.MayGrantNewUserKey(made, &k); err != nil {
			return nil, err
		}
		if err := r.SetParent(&k); err != nil {
			return nil, err
		}
		created, err := set.CreateUserKey(tx, made, k, organizations)
		if err != nil {
			return nil, err
		}
		shown.KeyCount = 1
		out.Key, out.Token, out.Expires = wrapperspb.String(n.secret), wrapperspb.String(tokenOf(created.Hash)), moment(created.Expires)
	}
	copyFields(out, shown)
	return out, nil
}

// managed returns the organizations that the request names, which the caller has to
// manage.
func (n *newUser) managed(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights) ([]id.Organization, error) {
	var out []id.Organization
	for i, of := range n.organizations {
		param := field.At("organizations", i)
		if slices.Contains(out, id.Organization(of)) {
			return nil, fault.Field(param, "duplicate_value", "The request names the organization twice.")
		}
		o, err := visibleOrganization(set, tx, r, of)
		if err == nil {
			err = r.MayManageOrganization(o)
		}
		if err != nil {
			return nil, field.Named(param, err)
		}
		out = append(out, o.ID)
	}
	return out, nil
}

// joinOrganizations puts the user into its organizations.
func joinOrganizations(set *tenancy.Set, tx *record.Txn, organizations []id.Organization, u *tenancy.User, shown *gatewayv1.UserRecord) error {
	role := tenancy.RoleInternalUser
	if u.Role == tenancy.RoleInternalUserViewer {
		role = tenancy.RoleInternalUserViewer
	}
	for i, of := range organizations {
		m, err := set.AddOrganizationMember(tx, u, tenancy.OrganizationMember{Organization: of, Role: role})
		if err != nil {
			return field.Named(field.At("organizations", i), err)
		}
		addPlace(shown, m)
	}
	return nil
}

// chosenID denies an id that a caller chooses for a new record. Ids are unique in the
// whole gateway, so a conflict would reveal records of others.
func chosenID(param string) error {
	return &fault.Error{Kind: fault.Denied, Code: codeNoRight, Param: param, Detail: fmt.Sprintf("Only a proxy_admin may choose %s. Leave it out: the gateway gives one.", param)}
}

// joinTeams puts the user into its teams.
func (n *newUser) joinTeams(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, u *tenancy.User, shown *gatewayv1.UserRecord) error {
	seen := map[id.Team]bool{}
	for i, m := range n.teams {
		param := field.At("teams", i) + ".team_id"
		if seen[m.Team] {
			return fault.Field(param, "duplicate_value", "The request names the team twice.")
		}
		seen[m.Team] = true
		t, err := managedTeam(set, tx, r, string(m.Team))
		m.User = u.ID
		if err == nil {
			err = r.MayGrantTeamMember(t, &m)
		}
		if err != nil {
			return field.Named(param, err)
		}
		if _, err := set.JoinTeam(tx, t, u, m); err != nil {
			return field.Within(field.At("teams", i), err)
		}
		shown.Teams = sortedInsert(shown.GetTeams(), string(m.Team))
	}
	return nil
}
