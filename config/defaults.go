package config

import (
	"math"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/config/litellm"
)

// defaults reads what litellm_settings say of users and teams that are created
// without it.
func (d *decoder) defaults(o *object, to *tenancy.Defaults) {
	if n, ok := o.take("default_internal_user_params"); ok {
		d.userDefaults(n, &to.User)
	}
	// These two are older names of the same: where both are there, the newer one wins.
	for _, name := range []string{"default_max_internal_user_budget", "max_internal_user_budget"} {
		var amount *money.Pico
		if single(o, name, &amount, parseAmount); amount != nil && to.User.Limits.MaxBudget == nil {
			to.User.Limits.MaxBudget = amount
		}
	}
	var period string
	if single(o, "internal_user_budget_duration", &period, parsePeriod); to.User.Limits.BudgetDuration == "" {
		to.User.Limits.BudgetDuration = period
	}
	if n, ok := o.take("default_team_params"); ok {
		d.teamDefaults(n, &to.Team)
	}
}

// userDefaults reads default_internal_user_params.
func (d *decoder) userDefaults(n *node, to *tenancy.UserDefaults) {
	o := d.open(n)
	oneOf(o, "user_role", &to.Role, tenancy.RoleInternalUser, tenancy.RoleInternalUserViewer)
	o.strings("models", &to.Models)
	d.defaultLimits(o, &to.Limits)
	o.rest(func(f field) bool {
		switch f.name {
		case "teams":
			r, _ := d.tables.Find(litellm.Settings, "default_internal_user_params.teams")
			d.apply(f.value, litellm.Settings, "default_internal_user_params.teams", r)
		case "available_teams":
			d.apply(f.value, litellm.Settings, f.name, litellm.Entry{Why: "users do not add themselves to teams"})
		default:
			return false
		}
		return true
	})
}

// teamDefaults reads default_team_params.
func (d *decoder) teamDefaults(n *node, to *tenancy.TeamDefaults) {
	o := d.open(n)
	o.strings("models", &to.Models)
	o.namesOf("team_member_permissions", &to.Permissions, "permission", tenancy.TeamPermissions())
	var organization string
	o.str("organization_id", &organization)
	to.Organization = id.Organization(organization)
	d.defaultLimits(o, &to.Limits)
	o.close()
}

// defaultLimits reads the limits among defaults.
func (d *decoder) defaultLimits(o *object, to *tenancy.Limits) {
	single(o, "max_budget", &to.MaxBudget, parseAmount)
	single(o, "soft_budget", &to.SoftBudget, parseAmount)
	single(o, "budget_duration", &to.BudgetDuration, parsePeriod)
	d.count(o, "tpm_limit", &to.TPM)
	d.count(o, "rpm_limit", &to.RPM)
	d.count(o, "max_parallel_requests", &to.MaxParallel)
	if err := to.Check(""); err != nil {
		d.fail(o.n, "%s", fault.From(err).Message())
	}
}

// mostAmount is the largest budget, as the management API has it.
const mostAmount = 9_000_000 * money.USD

// parseAmount reads an amount of USD, exactly.
func parseAmount(s string) (amount *money.Pico, problem string) {
	v, err := money.Parse(s)
	if err != nil || v < 0 || v > mostAmount {
		return nil, "is not an amount of USD: write a number from 0 to 9000000 with at most 12 decimal places"
	}
	return &v, ""
}

// parsePeriod reads the length of time after which spend counts again from zero.
func parsePeriod(s string) (period, problem string) {
	if _, err := tenancy.ParsePeriod("budget_duration", s); err != nil {
		return "", "is not a budget_duration: write a whole number and a unit, such as 12h, 30d or 1mo"
	}
	return s, ""
}

// count reads a number of requests or tokens.
func (d *decoder) count(o *object, name string, to **uint32) {
	var v int64 = -1
	o.integer(name, &v, 0, math.MaxUint32)
	if v >= 0 {
		*to = new(uint32(v))
	}
}

// defaults writes litellm_settings, of which only the defaults and the rules for keys
// remain.
func (w *writer) defaults(of *tenancy.Defaults, rules *tenancy.KeyRules) {
	w.optional("litellm_settings", func() {
		w.keyRules(rules)
		w.optional("default_internal_user_params", func() {
			w.given("user_role", string(of.User.Role))
			w.some("models", of.User.Models)
			w.limits(&of.User.Limits)
		})
		w.optional("default_team_params", func() {
			w.given("organization_id", string(of.Team.Organization))
			w.some("models", of.Team.Models)
			w.some("team_member_permissions", of.Team.Permissions)
			w.limits(&of.Team.Limits)
		})
	})
}

// limits writes limits that are set.
func (w *writer) limits(l *tenancy.Limits) {
	for _, a := range []struct {
		name   string
		amount *money.Pico
	}{{"max_budget", l.MaxBudget}, {"soft_budget", l.SoftBudget}} {
		if a.amount != nil {
			w.raw(a.name, a.amount.String())
		}
	}
	w.given("budget_duration", l.BudgetDuration)
	for _, c := range []struct {
		name  string
		count *uint32
	}{{"tpm_limit", l.TPM}, {"rpm_limit", l.RPM}, {"max_parallel_requests", l.MaxParallel}} {
		if c.count != nil {
			w.raw(c.name, strconv.FormatUint(uint64(*c.count), 10))
		}
	}
}

// some writes a list unless it is empty.
func (w *writer) some(name string, values []string) {
	if len(values) > 0 {
		w.strings(name, values)
	}
}
