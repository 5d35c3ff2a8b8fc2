package config

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
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
		if d.amount(o, name, &amount); amount != nil && to.User.Limits.MaxBudget == nil {
			to.User.Limits.MaxBudget = amount
		}
	}
	var period string
	if d.period(o, "internal_user_budget_duration", &period); to.User.Limits.BudgetDuration == "" {
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
			r, _ := d.find(foreign, "default_internal_user_params.teams")
			d.apply(f.value, foreign, "default_internal_user_params.teams", r)
		case "available_teams":
			d.apply(f.value, foreign, f.name, documented{why: "users do not add themselves to teams"})
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
	if list, ok := o.take("team_member_permissions"); ok {
		to.Permissions = d.strings(list)
		for _, p := range to.Permissions {
			if !slices.Contains(tenancy.TeamPermissions(), p) {
				d.fail(list, "%s is not a permission: use some of %s", quote(p), strings.Join(tenancy.TeamPermissions(), ", "))
			}
		}
	}
	var organization string
	o.str("organization_id", &organization)
	to.Organization = id.Organization(organization)
	d.defaultLimits(o, &to.Limits)
	o.close()
}

// defaultLimits reads the limits among defaults.
func (d *decoder) defaultLimits(o *object, to *tenancy.Limits) {
	d.amount(o, "max_budget", &to.MaxBudget)
	d.amount(o, "soft_budget", &to.SoftBudget)
	d.period(o, "budget_duration", &to.BudgetDuration)
	d.count(o, "tpm_limit", &to.TPM)
	d.count(o, "rpm_limit", &to.RPM)
	d.count(o, "max_parallel_requests", &to.MaxParallel)
	if err := to.Check(""); err != nil {
		d.fail(o.n, "%s", fault.From(err).Message())
	}
}

// mostAmount is the largest budget, as the management API has it.
const mostAmount = 9_000_000 * money.USD

// amount reads an amount of USD, exactly.
func (d *decoder) amount(o *object, name string, to **money.Pico) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	s, ok := d.text(n)
	if !ok {
		return
	}
	v, err := money.Parse(strings.TrimSpace(s))
	if err != nil || v < 0 || v > mostAmount {
		d.fail(n, "%s is not an amount of USD: write a number from 0 to 9000000 with at most 12 decimal places", quote(n.text))
		return
	}
	*to = &v
}

// period reads the length of time after which spend counts again from zero.
func (d *decoder) period(o *object, name string, to *string) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	s, ok := d.text(n)
	if !ok {
		return
	}
	s = strings.TrimSpace(s)
	if _, err := tenancy.ParsePeriod(name, s); err != nil {
		d.fail(n, "%s is not a budget_duration: write a whole number and a unit, such as 12h, 30d or 1mo", quote(n.text))
		return
	}
	*to = s
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
