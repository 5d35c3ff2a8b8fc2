package config

import (
	"math"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/config/litellm"
)

// created returns what litellm_settings say of keys, users and teams that are created.
func (c *Config) created() []setting {
	user, team := &c.Defaults.User, &c.Defaults.Team
	// The names of a user's budget are older ones: default_internal_user_params wins.
	budget := custom{reader: func(o *object, name string) {
		var given *money.Pico
		if single(o, name, &given, parseAmount); given != nil && user.Limits.MaxBudget == nil {
			user.Limits.MaxBudget = given
		}
	}, without: unset}
	period := custom{reader: func(o *object, name string) {
		var given string
		if single(o, name, &given, parsePeriod); user.Limits.BudgetDuration == "" {
			user.Limits.BudgetDuration = given
		}
	}, without: unset}
	return []setting{
		{"key_generation_settings", group{of: keyRules(&c.KeyRules)}, "which callers may make keys, beyond rights. A `proxy_admin` may always make keys, and owes `required_params` only for keys outside of teams"},
		{"default_internal_user_params", group{of: slices.Concat([]setting{
			{"user_role", custom{
				func(o *object, name string) {
					oneOf(o, name, &user.Role, tenancy.RoleInternalUser, tenancy.RoleInternalUserViewer)
				},
				func(w *writer, name string) { w.given(name, string(user.Role)) }, "`internal_user`",
			}, "or `internal_user_viewer`"},
			{"models", names{to: &user.Models, without: unset}, "models that the user may call"},
		}, defaultLimits(&user.Limits)), check: checkLimits(&user.Limits), known: (*decoder).userDefault}, "what new users get that are created without it (not `proxy_admin` and its viewer)"},
		{"default_max_internal_user_budget", budget, "as `max_internal_user_budget`"},
		{"max_internal_user_budget", budget, "as `default_internal_user_params.max_budget`, which takes precedence"},
		{"internal_user_budget_duration", period, "as `default_internal_user_params.budget_duration`, which takes precedence"},
		{"default_team_params", group{of: slices.Concat([]setting{
			{"organization_id", custom{
				func(o *object, name string) { o.str(name, (*string)(&team.Organization)) },
				func(w *writer, name string) { w.given(name, string(team.Organization)) }, unset,
			}, "organization of the team"},
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
	amount := func(to **money.Pico) custom {
		return custom{
			func(o *object, name string) { single(o, name, to, parseAmount) },
			func(w *writer, name string) {
				if *to != nil {
					w.raw(name, (*to).String())
				}
			}, unset,
		}
	}
	count := func(to **uint32) custom {
		return custom{
			func(o *object, name string) { o.d.count(o, name, to) },
			func(w *writer, name string) {
				if *to != nil {
					w.integer(name, int64(**to))
				}
			}, unset,
		}
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

// some writes a list unless it is empty.
func (w *writer) some(name string, values []string) {
	if len(values) > 0 {
		w.strings(name, values)
	}
}
