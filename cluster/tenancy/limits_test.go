package tenancy_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

func TestLimitsCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		limits tenancy.Limits
		want   string
	}{
		{"none", tenancy.Limits{}, ""},
		{"all", tenancy.Limits{MaxBudget: pico(10), SoftBudget: pico(9), BudgetDuration: "1mo", Models: []tenancy.ModelLimits{{Model: "m", MaxBudget: pico(1), BudgetDuration: "weekly"}}}, ""},
		{"soft alone", tenancy.Limits{SoftBudget: pico(9)}, ""},
		{"soft the same", tenancy.Limits{MaxBudget: pico(9), SoftBudget: pico(9)}, "x.soft_budget invalid_value"},
		{"both zero", tenancy.Limits{MaxBudget: pico(0), SoftBudget: pico(0)}, "x.soft_budget invalid_value"},
		{"negative", tenancy.Limits{MaxBudget: pico(-1)}, "x.max_budget invalid_value"},
		{"soft negative", tenancy.Limits{SoftBudget: pico(-1)}, "x.soft_budget invalid_value"},
		{"duration", tenancy.Limits{BudgetDuration: "yearly"}, "x.budget_duration invalid_value"},
		{"zero duration", tenancy.Limits{BudgetDuration: "0d"}, "x.budget_duration invalid_value"},
		{"model duration", tenancy.Limits{Models: []tenancy.ModelLimits{{Model: "a"}, {Model: "m", BudgetDuration: "-1d"}}}, "x.model_max_budget.m.budget_duration invalid_value"},
		{"model budget", tenancy.Limits{Models: []tenancy.ModelLimits{{Model: "m", MaxBudget: pico(-1)}}}, "x.model_max_budget.m.max_budget invalid_value"},
		{"budget of a pattern", tenancy.Limits{Models: []tenancy.ModelLimits{{Model: "openai/*", MaxBudget: pico(1)}}}, "x.model_max_budget.openai/* invalid_value"},
		{"rate of a pattern", tenancy.Limits{Models: []tenancy.ModelLimits{{Model: "*", ModelRPM: new(uint32(1))}}}, "x.model_rpm_limit.* invalid_value"},
		{"tokens of a pattern", tenancy.Limits{Models: []tenancy.ModelLimits{{Model: "*", ModelTPM: new(uint32(1))}}}, "x.model_tpm_limit.* invalid_value"},
	} {
		if got := tenancytest.Refusal(test.limits.Check("x.")); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestSoftBudgetIsLess holds Check to its rule for all pairs of amounts.
func TestSoftBudgetIsLess(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most, soft := money.Pico(rapid.Int64Range(0, 5).Draw(t, "max")), money.Pico(rapid.Int64Range(0, 5).Draw(t, "soft"))
		err := tenancy.Limits{MaxBudget: &most, SoftBudget: &soft}.Check("")
		if (err == nil) != (soft < most) {
			t.Fatalf("max %v, soft %v: %v", most, soft, err)
		}
	})
}
