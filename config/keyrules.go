package config

import "github.com/modelgateway/modelgateway/cluster/tenancy"

// keyRules reads key_generation_settings.
func (d *decoder) keyRules(o *object, to *tenancy.KeyRules) {
	n, ok := o.take("key_generation_settings")
	if !ok {
		return
	}
	rules := d.open(n)
	d.keyRule(rules, "team_key_generation", "allowed_team_member_roles", &to.Team, tenancy.TeamAdmin, tenancy.TeamUser)
	d.keyRule(rules, "personal_key_generation", "allowed_user_roles", &to.Personal,
		string(tenancy.RoleProxyAdmin), string(tenancy.RoleProxyAdminViewer), string(tenancy.RoleInternalUser), string(tenancy.RoleInternalUserViewer))
	rules.close()
	d.at.note(n, 2)
}

// keyRule reads the rule for keys of one sort.
func (d *decoder) keyRule(o *object, name, roles string, to *tenancy.KeyRule, known ...string) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	rule := d.open(n)
	rule.namesOf(roles, &to.Roles, "role here", known)
	rule.strings("required_params", &to.Required)
	rule.close()
}

// keyRules writes key_generation_settings.
func (w *writer) keyRules(rules *tenancy.KeyRules) {
	w.optional("key_generation_settings", func() {
		w.optional("team_key_generation", func() { w.keyRule("allowed_team_member_roles", &rules.Team) })
		w.optional("personal_key_generation", func() { w.keyRule("allowed_user_roles", &rules.Personal) })
	})
}

func (w *writer) keyRule(roles string, rule *tenancy.KeyRule) {
	if rule.Roles != nil { // an empty list lets nobody
		w.strings(roles, rule.Roles)
	}
	w.some("required_params", rule.Required)
}
