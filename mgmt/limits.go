package mgmt

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Fields of limits, which many messages have.
const (
	fieldMaxBudget      = "max_budget"
	fieldSoftBudget     = "soft_budget"
	fieldBudgetDuration = "budget_duration"
	fieldMaxParallel    = "max_parallel_requests"
	fieldTPM            = "tpm_limit"
	fieldRPM            = "rpm_limit"
	fieldTPD            = "tpd_limit"
	fieldModelBudget    = "model_max_budget"
	fieldModelRPM       = "model_rpm_limit"
	fieldModelTPM       = "model_tpm_limit"
	fieldBudgetID       = "budget_id"
)

// limitFields returns the names of the fields of limits, and of others that a request may clear.
func limitFields(others ...string) []string {
	return append(others, fieldMaxBudget, fieldSoftBudget, fieldBudgetDuration, fieldMaxParallel, fieldTPM, fieldRPM, fieldTPD,
		fieldModelBudget, fieldModelRPM, fieldModelTPM, fieldBudgetID)
}

// limits changes limits by the fields that a request sets and clears, and checks the result.
func (p *patch) limits(l tenancy.Limits) tenancy.Limits {
	l.MaxBudget = p.amount(fieldMaxBudget, l.MaxBudget)
	l.SoftBudget = p.amount(fieldSoftBudget, l.SoftBudget)
	l.BudgetDuration = p.text(fieldBudgetDuration, l.BudgetDuration)
	l.MaxParallel = p.count(fieldMaxParallel, l.MaxParallel)
	l.TPM = p.count(fieldTPM, l.TPM)
	l.RPM = p.count(fieldRPM, l.RPM)
	l.TPD = p.count(fieldTPD, l.TPD)
	l.Budget = p.budget(l.Budget)
	l.Models = p.models(l.Models)
	if p.err == nil {
		p.err = l.Check("")
	}
	return l
}

// budget reads the id of a budget. In messages of budgets, the field is the budget's own id.
func (p *patch) budget(old id.Budget) id.Budget {
	if f := p.m.Descriptor().Fields().ByName(fieldBudgetID); f == nil || f.Number() != budgetNumber {
		return old
	}
	return id.Budget(p.text(fieldBudgetID, string(old)))
}

// budgetNumber is the number of budget_id in every message that has limits and may name a
// budget.
const budgetNumber protoreflect.FieldNumber = 38

// models changes the limits of single models, which are in three fields. A field that is set or
// cleared replaces all of its previous entries.
func (p *patch) models(old []tenancy.ModelLimits) []tenancy.ModelLimits {
	by := make(map[string]tenancy.ModelLimits, len(old))
	for _, m := range old {
		by[m.Model] = m
	}
	p.each(fieldModelBudget, by,
		func(m *tenancy.ModelLimits) { m.MaxBudget, m.BudgetDuration, m.TPM, m.RPM = nil, "", nil, nil },
		func(m *tenancy.ModelLimits, v protoreflect.Value) {
			in, _ := v.Message().Interface().(*gatewayv1.ModelBudget)
			if proto.Size(in) == 0 {
				p.fail(fault.Field(fieldModelBudget+"."+field.ShortName(m.Model), "invalid_value", "The budget of the model says nothing. Give max_budget, tpm_limit or rpm_limit, or leave the model out."))
			}
			if in.MaxBudget != nil {
				amount, err := dollars(fieldModelBudget+"."+field.ShortName(m.Model)+"."+fieldMaxBudget, in.GetMaxBudget())
				p.fail(err)
				m.MaxBudget = &amount
			}
			m.BudgetDuration, m.TPM, m.RPM = in.GetBudgetDuration(), in.TpmLimit, in.RpmLimit
		})
	p.each(fieldModelRPM, by,
		func(m *tenancy.ModelLimits) { m.ModelRPM = nil },
		func(m *tenancy.ModelLimits, v protoreflect.Value) { n := uint32(v.Uint()); m.ModelRPM = &n })
	p.each(fieldModelTPM, by,
		func(m *tenancy.ModelLimits) { m.ModelTPM = nil },
		func(m *tenancy.ModelLimits, v protoreflect.Value) { n := uint32(v.Uint()); m.ModelTPM = &n })
	var out []tenancy.ModelLimits
	for model, m := range by {
		if m != (tenancy.ModelLimits{Model: model, Resolved: m.Resolved}) {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b tenancy.ModelLimits) int { return cmp.Compare(a.Model, b.Model) })
	return out
}

// each visits the entries of a field that is a map by model. If the request sets or clears the
// field, it calls reset for every previous entry first.
func (p *patch) each(name protoreflect.Name, by map[string]tenancy.ModelLimits, reset func(*tenancy.ModelLimits), set func(*tenancy.ModelLimits, protoreflect.Value)) {
	f, clears := p.given(name)
	if f == nil && !clears {
		return
	}
	for model, m := range by {
		reset(&m)
		by[model] = m
	}
	if f == nil {
		return
	}
	p.m.Get(f).Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		m := by[k.String()]
		m.Model = k.String()
		set(&m, v)
		by[m.Model] = m
		return true
	})
}

// mostDollars is the largest amount in a request. It leaves room for additions to a budget
// before a Pico overflows.
const mostDollars = 9_000_000 * money.USD

// dollars reads an amount exactly: as the shortest decimal of the number, which is what the
// caller wrote.
func dollars(param string, v float64) (money.Pico, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, fault.Field(param, "invalid_value", "%s must be an amount in USD, zero or more.", param)
	}
	amount, err := money.Parse(strconv.FormatFloat(v, 'g', -1, 64))
	if err != nil || amount > mostDollars {
		return 0, fault.Field(param, "invalid_value", "%s must be an amount in USD of at most 9,000,000 with at most 12 decimal places.", param)
	}
	return amount, nil
}

// optionalDollars is dollars for an optional field.
func optionalDollars(param string, v *float64) (*money.Pico, error) {
	if v == nil {
		return nil, nil //nolint:nilnil // no amount given
	}
	amount, err := dollars(param, *v)
	if err != nil {
		return nil, err
	}
	return &amount, nil
}

// inDollars returns the number whose shortest decimal is the amount, or else the nearest
// number. It takes a Pico or a Total.
func inDollars(amount fmt.Stringer) float64 {
	v, _ := strconv.ParseFloat(amount.String(), 64) // it is a decimal
	return v
}

// dollarsOrNull returns an amount in the form of the API; null for none.
func dollarsOrNull(amount *money.Pico) *wrapperspb.DoubleValue {
	if amount == nil {
		return nil
	}
	return wrapperspb.Double(inDollars(*amount))
}

// showLimits sets the fields of limits that a record has.
func showLimits(m proto.Message, l tenancy.Limits) {
	setWrapped(m, fieldMaxBudget, dollarsOrNull(l.MaxBudget))
	setWrapped(m, fieldSoftBudget, dollarsOrNull(l.SoftBudget))
	setWrapped(m, fieldBudgetDuration, textOrNull(l.BudgetDuration))
	setWrapped(m, fieldMaxParallel, countOrNull(l.MaxParallel))
	setWrapped(m, fieldTPM, countOrNull(l.TPM))
	setWrapped(m, fieldRPM, countOrNull(l.RPM))
	setWrapped(m, fieldTPD, countOrNull(l.TPD))
	if f := m.ProtoReflect().Descriptor().Fields().ByName(fieldBudgetID); f != nil && f.Number() == budgetNumber {
		setWrapped(m, fieldBudgetID, textOrNull(string(l.Budget)))
	}
	for _, one := range l.Models {
		showModelLimits(m, one)
	}
}

// setWrapped sets a field that may be null, if the message has it.
func setWrapped[W interface {
	*wrapperspb.DoubleValue | *wrapperspb.StringValue | *wrapperspb.UInt32Value
	proto.Message
}](m proto.Message, name protoreflect.Name, v W) {
	if v.ProtoReflect().IsValid() {
		setField(m, name, protoreflect.ValueOfMessage(v.ProtoReflect()))
	}
}

func showModelLimits(m proto.Message, of tenancy.ModelLimits) {
	if of.MaxBudget != nil || of.BudgetDuration != "" || of.TPM != nil || of.RPM != nil {
		b := &gatewayv1.ModelBudget{TpmLimit: of.TPM, RpmLimit: of.RPM, BudgetDuration: given(of.BudgetDuration)}
		if of.MaxBudget != nil {
			b.MaxBudget = new(inDollars(*of.MaxBudget))
		}
		setEntry(m, fieldModelBudget, of.Model, protoreflect.ValueOfMessage(b.ProtoReflect()))
	}
	if of.ModelRPM != nil {
		setEntry(m, fieldModelRPM, of.Model, protoreflect.ValueOfUint32(*of.ModelRPM))
	}
	if of.ModelTPM != nil {
		setEntry(m, fieldModelTPM, of.Model, protoreflect.ValueOfUint32(*of.ModelTPM))
	}
}

// setEntry sets an entry of a map by model, if the message has the map.
func setEntry(m proto.Message, name protoreflect.Name, model string, v protoreflect.Value) {
	r := m.ProtoReflect()
	if f := r.Descriptor().Fields().ByName(name); f != nil {
		r.Mutable(f).Map().Set(protoreflect.ValueOfString(model).MapKey(), v)
	}
}
