package rights

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// KeyRules are the operator's restrictions on new keys, from the configuration file.
// They come on top of the rights that the caller needs.
type KeyRules struct {
	Team     KeyRule // for keys of a team; a proxy_admin is exempt
	Personal KeyRule // for all other keys; a proxy_admin is exempt from the roles
}

// KeyRule restricts the keys of one sort.
type KeyRule struct {
	// Roles may make such keys: in a team admin or user, else roles of users. nil:
	// every role may, and an empty list none.
	Roles []string
	// Required are fields that a request for such a key must give.
	Required []string
}

// MayMakeKey denies a key that the rules do not let the caller's role make, or move to
// its place.
func (r *Rights) MayMakeKey(rules *KeyRules, k *tenancy.Key) error {
	roles, role, sort := rules.Personal.Roles, string(r.role), "keys outside of teams"
	if k.Team != "" {
		roles, role, sort = rules.Team.Roles, r.teamRole(k), "keys of teams"
	}
	if roles == nil || r.Admin() || slices.Contains(roles, role) {
		return nil
	}
	if len(roles) == 0 {
		roles = []string{string(tenancy.RoleProxyAdmin)}
	}
	return denied("team_id", "The operator of this gateway lets only these roles make %s: %s.", sort, strings.Join(roles, ", "))
}

// teamRole is the caller's role in the team of a key. An admin of the
// organization of the team counts as an admin of the team.
func (r *Rights) teamRole(k *tenancy.Key) string {
	if r.runs(r.organizationOf(k)) {
		return tenancy.TeamAdmin
	}
	if m, ok := r.place(k.Team); ok {
		return m.Role
	}
	return ""
}

// RequiredFor returns the fields that a request of the caller for a key must give.
func (r *Rights) RequiredFor(rules *KeyRules, k *tenancy.Key) []string {
	switch {
	case k.Team == "":
		return rules.Personal.Required
	case r.Admin():
		return nil
	}
	return rules.Team.Required
}
