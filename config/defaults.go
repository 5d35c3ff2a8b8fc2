package config

import (
	"math"
	"slices"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/period"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/config/litellm"
)

// created returns what litellm_settings say of keys, users and teams that are created.
func (c *Config) created() []setting {
	user, team := &c.Defaults.User, &c.Defaults.Team
	return []setting{
		{"key_generation_settings", group{of: keyRules(&c.KeyRules)}, "which callers may make keys, beyond rights. A `proxy_admin` may always make keys, and owes `required_params` only for keys outside of teams"},
		{"default_internal_user_params", group{of: slices.Concat([]setting{
			{"user_role", choice[tenancy.Role]{to: &user.Role, allowed: []tenancy.Role{tenancy.RoleInternalUser, tenancy.RoleInternalUserViewer}}, "`internal_user`, which is also what users get without it, or `internal_user_viewer`"},
			{"models", names{to: &user.Models, without: unset}, "models that the user may call"},
		}, defaultLimits(&user.Limits)), check: checkLimits(&user.Limits), known: (*decoder).userDefault}, "what new users get that are created without it (not `proxy_admin` and its viewer)"},
		{"default_max_internal_user_budget", older(&user.Limits.MaxBudget, parseAmount), "as `max_internal_user_budget`"},
		{"max_internal_user_budget", older(&user.Limits.MaxBudget, parseAmount), "as `default_internal_user_params.max_budget`, which takes precedence"},
		{"internal_user_budget_duration", older(&user.Limits.BudgetDuration, parsePeriod), "as `default_internal_user_params.budget_duration`, which takes precedence"},
		{"default_team_params", group{of: slices.Concat([]setting{
			{"organization_id", word{to: (*string)(&team.Organization), without: unset}, "organization of the team"},
			{"models", names{to: &team.Models, without: unset}, "models that the team may call"},
			{"team_member_permissions", names{to: &team.Permissions, what: "permission", known: tenancy.TeamPermissions(), without: unset}, "what members may do who are no admins of the team"},
		}, defaultLimits(&team.Limits)), check: checkLimits(&team.Limits)}, "the same for teams"},
	}
}

// userDefault reads what default_internal_user_params have in LiteLLM and not here.
func (d *decoder) userDefault(f field) bool {
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
}

// defaultLimits returns the limits among defaults.
func defaultLimits(to *tenancy.Limits) []setting {
	amount := func(to **money.Pico) custom { return optional(to, parseAmount, money.Pico.String, unset) }
	count := func(to **uint32) custom {
		return optional(to, parseCount, func(n uint32) string { return strconv.FormatUint(uint64(n), 10) }, unset)
	}
	return []setting{
		{"max_budget", amount(&to.MaxBudget), "USD that may be spent in one `budget_duration`"},
		{"soft_budget", amount(&to.SoftBudget), "USD; less than `max_budget`"},
		{"budget_duration", word{to: &to.BudgetDuration, without: unset, parse: parsePeriod}, "after it, spend counts from zero again, such as `12h`, `30d` or `1mo`"},
		{"tpm_limit", count(&to.TPM), "tokens a minute"},
		{"rpm_limit", count(&to.RPM), "requests a minute"},
		{"max_parallel_requests", count(&to.MaxParallel), "requests in flight"},
	}
}

// checkLimits rejects limits that contradict each other.
func checkLimits(l *tenancy.Limits) func(o *object, _ int) {
	return func(o *object, _ int) {
		if err := l.Check(""); err != nil {
			o.d.fail(o.n, "%s", fault.From(err).Message())
		}
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
func parsePeriod(s string) (length, problem string) {
	if _, err := period.Parse("budget_duration", s); err != nil {
		return "", "is not a budget_duration: write a whole number and a unit, such as 12h, 30d or 1mo"
	}
	return s, ""
}

// parseCount reads a number of requests or tokens.
func parseCount(s string) (count *uint32, problem string) {
	v, problem := parseInteger(s, 0, math.MaxUint32)
	return new(uint32(v)), problem
}
