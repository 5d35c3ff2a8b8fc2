package config

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// keyRules returns key_generation_settings.
func keyRules(to *rights.KeyRules) []setting {
	return []setting{
		{"team_key_generation", keyRule("allowed_team_member_roles", &to.Team, tenancy.TeamAdmin, tenancy.TeamUser), "the rule for keys of a team"},
		{"personal_key_generation", keyRule("allowed_user_roles", &to.Personal,
			string(tenancy.RoleProxyAdmin), string(tenancy.RoleProxyAdminViewer), string(tenancy.RoleInternalUser), string(tenancy.RoleInternalUserViewer)), "the rule for all other keys"},
	}
}

// keyRule returns the rule for keys of one sort. An empty list of roles is written: it
// lets nobody make such keys.
func keyRule(roles string, to *rights.KeyRule, known ...string) group {
	return group{of: []setting{
		{roles, custom{
			func(o *object, name string) { o.namesOf(name, &to.Roles, "role here", known) },
			func(w *writer, name string) {
				if to.Roles != nil {
					w.strings(name, to.Roles)
				}
			}, "all",
		}, "roles that may make such keys: `" + strings.Join(known, "`, `") + "`; an empty list: nobody may"},
		{"required_params", names{to: &to.Required, without: unset}, "fields that the request for such a key must give"},
	}}
}
