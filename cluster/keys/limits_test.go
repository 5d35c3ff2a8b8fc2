package keys_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/keys"
	"github.com/modelgateway/modelgateway/cluster/money"
)

func TestLimitsCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		limits keys.Limits
		want   string
	}{
		{"none", keys.Limits{}, ""},
		{"all", keys.Limits{MaxBudget: pico(10), SoftBudget: pico(9), BudgetDuration: "1mo", Models: []keys.ModelLimits{{Model: "m", MaxBudget: pico(1), BudgetDuration: "weekly"}}}, ""},
		{"soft alone", keys.Limits{SoftBudget: pico(9)}, ""},
		{"soft the same", keys.Limits{MaxBudget: pico(9), SoftBudget: pico(9)}, "x.soft_budget invalid_value"},
		{"both zero", keys.Limits{MaxBudget: pico(0), SoftBudget: pico(0)}, "x.soft_budget invalid_value"},
		{"negative", keys.Limits{MaxBudget: pico(-1)}, "x.max_budget invalid_value"},
		{"soft negative", keys.Limits{SoftBudget: pico(-1)}, "x.soft_budget invalid_value"},
		{"duration", keys.Limits{BudgetDuration: "yearly"}, "x.budget_duration invalid_value"},
		{"zero duration", keys.Limits{BudgetDuration: "0d"}, "x.budget_duration invalid_value"},
		{"model duration", keys.Limits{Models: []keys.ModelLimits{{Model: "a"}, {Model: "m", BudgetDuration: "-1d"}}}, "x.model_max_budget.m.budget_duration invalid_value"},
		{"model budget", keys.Limits{Models: []keys.ModelLimits{{Model: "m", MaxBudget: pico(-1)}}}, "x.model_max_budget.m.max_budget invalid_value"},
		{"budget of a pattern", keys.Limits{Models: []keys.ModelLimits{{Model: "openai/*", MaxBudget: pico(1)}}}, "x.model_max_budget.openai/* invalid_value"},
		{"rate of a pattern", keys.Limits{Models: []keys.ModelLimits{{Model: "*", ModelRPM: new(uint32(1))}}}, "x.model_rpm_limit.* invalid_value"},
		{"tokens of a pattern", keys.Limits{Models: []keys.ModelLimits{{Model: "*", ModelTPM: new(uint32(1))}}}, "x.model_tpm_limit.* invalid_value"},
	} {
		if got := refusal(test.limits.Check("x.")); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestParsePeriodKnowsWords(t *testing.T) {
	t.Parallel()
	for word, same := range map[string]string{"hourly": "1h", "daily": "1d", "weekly": "1w", "monthly": "1mo", "90s": "90s"} {
		a, err := keys.ParsePeriod("p", word)
		if err != nil {
			t.Fatal(err)
		}
		b, err := keys.ParseDuration("p", same)
		if err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Errorf("%s is %v, want %v", word, a, b)
		}
	}
}

// TestSoftBudgetIsLess holds Check to its rule for all pairs of amounts.
func TestSoftBudgetIsLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most, soft := money.Pico(rapid.Int64Range(0, 5).Draw(t, "max")), money.Pico(rapid.Int64Range(0, 5).Draw(t, "soft"))
		err := keys.Limits{MaxBudget: &most, SoftBudget: &soft}.Check("")
		if (err == nil) != (soft < most) {
			t.Fatalf("max %v, soft %v: %v", most, soft, err)
		}
	})
}
