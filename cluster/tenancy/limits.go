package tenancy

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/period"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// Limits bound what is spent and how fast. A nil field has no bound of its own.
type Limits struct {
	MaxBudget      *money.Pico // the most that may be spent in one BudgetDuration
	SoftBudget     *money.Pico // from this spend on people are warned; less than MaxBudget
	BudgetDuration string      // after this the spend is reset, as it was written; empty: never
	MaxParallel    *uint32     // requests under way at once
	TPM, RPM, TPD  *uint32     // tokens and requests a minute, tokens a day
	Models         []ModelLimits
	Budget         id.Budget // whose limits hold where none is set here; empty for none
}

// ModelLimits bound one model. Lists of them are sorted by it.
type ModelLimits struct {
	Model              string
	Resolved           bool // Model is what the name that was given resolved to
	MaxBudget          *money.Pico
	BudgetDuration     string
	TPM, RPM           *uint32 // that go with the budget
	ModelTPM, ModelRPM *uint32 // that were given by themselves
}

// Check refuses limits that make no sense. Its errors name the field, with at
// before it; at is empty or ends with a dot.
func (l Limits) Check(at string) error {
	for _, b := range []struct {
		name   string
		amount *money.Pico
	}{{"max_budget", l.MaxBudget}, {"soft_budget", l.SoftBudget}} {
		if err := checkAmount(at+b.name, b.amount); err != nil {
			return err
		}
	}
	if l.SoftBudget != nil && l.MaxBudget != nil && *l.SoftBudget >= *l.MaxBudget {
		return fault.Field(at+"soft_budget", "invalid_value", "soft_budget must be less than max_budget: it warns before the budget is used up.")
	}
	if err := checkPeriod(at+"budget_duration", l.BudgetDuration); err != nil {
		return err
	}
	for _, m := range l.Models {
		if strings.Contains(m.Model, "*") {
			return fault.Field(at+m.field()+"."+m.Model, "invalid_value", "A limit is of one model, and a pattern would bound none. Name the model.")
		}
		of := at + "model_max_budget." + m.Model
		if err := checkAmount(of+".max_budget", m.MaxBudget); err != nil {
			return err
		}
		if err := checkPeriod(of+".budget_duration", m.BudgetDuration); err != nil {
			return err
		}
	}
	return nil
}

// field is the field that gives the limits of a model, or the first of those that do.
func (m ModelLimits) field() string {
	switch {
	case m.MaxBudget != nil || m.BudgetDuration != "" || m.TPM != nil || m.RPM != nil:
		return "model_max_budget"
	case m.ModelRPM != nil:
		return "model_rpm_limit"
	}
	return "model_tpm_limit"
}

// checkAmount refuses an amount below zero; nil is none.
func checkAmount(param string, amount *money.Pico) error {
	if amount != nil && *amount < 0 {
		return fault.Field(param, "invalid_value", "An amount of money cannot be less than zero.")
	}
	return nil
}

// checkPeriod refuses what period.Parse does; empty is none.
func checkPeriod(param, s string) error {
	if s == "" {
		return nil
	}
	_, err := period.Parse(param, s)
	return err
}

// Same reports whether two limits are the same.
func (l Limits) Same(o Limits) bool { return proto.Equal(l.record(), o.record()) }

func (l Limits) record() *clusterv1.Limits {
	r := &clusterv1.Limits{
		MaxBudgetPico: (*int64)(l.MaxBudget), SoftBudgetPico: (*int64)(l.SoftBudget), BudgetDuration: l.BudgetDuration,
		MaxParallelRequests: l.MaxParallel, TpmLimit: l.TPM, RpmLimit: l.RPM, TpdLimit: l.TPD, BudgetId: string(l.Budget),
	}
	for _, m := range l.Models {
		r.Models = append(r.GetModels(), &clusterv1.ModelLimits{
			Model: m.Model, Resolved: m.Resolved, MaxBudgetPico: (*int64)(m.MaxBudget), BudgetDuration: m.BudgetDuration,
			TpmLimit: m.TPM, RpmLimit: m.RPM, ModelTpmLimit: m.ModelTPM, ModelRpmLimit: m.ModelRPM,
		})
	}
	return r
}

func limitsFrom(r *clusterv1.Limits) Limits {
	if r == nil {
		return Limits{}
	}
	l := Limits{
		MaxBudget: (*money.Pico)(r.MaxBudgetPico), SoftBudget: (*money.Pico)(r.SoftBudgetPico), BudgetDuration: r.GetBudgetDuration(),
		MaxParallel: r.MaxParallelRequests, TPM: r.TpmLimit, RPM: r.RpmLimit, TPD: r.TpdLimit, Budget: id.Budget(r.GetBudgetId()),
	}
	for _, m := range r.GetModels() {
		l.Models = append(l.Models, ModelLimits{
			Model: m.GetModel(), Resolved: m.GetResolved(), MaxBudget: (*money.Pico)(m.MaxBudgetPico), BudgetDuration: m.GetBudgetDuration(),
			TPM: m.TpmLimit, RPM: m.RpmLimit, ModelTPM: m.ModelTpmLimit, ModelRPM: m.ModelRpmLimit,
		})
	}
	return l
}
