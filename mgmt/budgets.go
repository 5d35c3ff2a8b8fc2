package mgmt

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type budgetService struct {
	gatewayv1.UnimplementedBudgetServiceServer
	service
}

// CreateBudget makes a budget.
func (s budgetService) CreateBudget(ctx context.Context, in *gatewayv1.CreateBudgetRequest) (*gatewayv1.BudgetRecord, error) {
	b, err := patchBudget(tenancy.Budget{ID: id.Budget(chosen(in.BudgetId))}, in, nil)
	if err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.BudgetRecord, error) {
		made, err := v.Keys.CreateBudget(tx, b)
		if err != nil {
			return nil, err
		}
		return budgetRecord(made), nil
	})
}

// patchBudget returns the budget as a request wants it.
func patchBudget(b tenancy.Budget, m proto.Message, clears []string) (tenancy.Budget, error) {
	p := patchOf(m, clears, termFields()...)
	b.Limits = p.limits(b.Limits)
	return b, p.err
}

// termFields are the fields that budgets have of those that limits are made of.
func termFields() []string {
	return []string{fieldMaxBudget, fieldSoftBudget, fieldBudgetDuration, fieldMaxParallel, fieldTPM, fieldRPM, fieldTPD, fieldModelBudget}
}

// budgetRecord is a budget as the API shows it.
func budgetRecord(b *tenancy.Budget) *gatewayv1.BudgetRecord {
	out := &gatewayv1.BudgetRecord{BudgetId: string(b.ID)}
	showLimits(out, b.Limits)
	showMeta(out, b.Meta)
	return out
}

// GetBudgets shows several budgets, all that are asked for or none.
func (s budgetService) GetBudgets(ctx context.Context, in *gatewayv1.GetBudgetsRequest) (*gatewayv1.GetBudgetsResponse, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.GetBudgetsResponse{}
	for i, of := range in.GetBudgets() {
		b, err := v.Keys.NeedBudget(nil, field.At("budgets", i), id.Budget(of))
		if err != nil {
			return nil, err
		}
		out.Budgets = append(out.GetBudgets(), budgetRecord(b))
	}
	return out, nil
}

// ListBudgets shows all budgets.
func (budgetService) ListBudgets(ctx context.Context, _ *gatewayv1.ListBudgetsRequest) (*gatewayv1.ListBudgetsResponse, error) {
	out := &gatewayv1.ListBudgetsResponse{}
	for b := range operation.View(ctx).Keys.Budgets() {
		out.Budgets = append(out.GetBudgets(), budgetRecord(b))
	}
	return out, nil
}

// UpdateBudget changes what the request gives, for everybody who has the budget.
func (s budgetService) UpdateBudget(ctx context.Context, in *gatewayv1.UpdateBudgetRequest) (*gatewayv1.BudgetRecord, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.BudgetRecord, error) {
		before, err := v.Keys.NeedBudget(tx, fieldBudgetID, id.Budget(in.GetBudgetId()))
		if err != nil {
			return nil, err
		}
		after, err := patchBudget(*before, in, in.GetClear())
		if err != nil {
			return nil, err
		}
		made, err := v.Keys.UpdateBudget(tx, after, operation.IfRevision(ctx))
		if err != nil {
			return nil, err
		}
		return budgetRecord(made), nil
	})
}

// DeleteBudget deletes a budget that nothing has the terms of.
func (s budgetService) DeleteBudget(ctx context.Context, in *gatewayv1.DeleteBudgetRequest) (*gatewayv1.BudgetRecord, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.BudgetRecord, error) {
		old, err := v.Keys.DeleteBudget(tx, "id", id.Budget(in.GetId()))
		if err != nil {
			return nil, err
		}
		return budgetRecord(old), nil
	})
}

// term is a field of a budget, for people.
type term struct{ name, kind, text string }

// terms are the fields of a budget in the order in which they are shown.
func terms() []term {
	return []term{
		{fieldMaxBudget, "Float", "The most that may be spent in one budget_duration, or ever if there is none, in USD."},
		{fieldSoftBudget, "Float", "From this spend on people are warned, in USD. Less than max_budget; nothing is refused for it."},
		{fieldBudgetDuration, "String", "After this the spend counts anew: a number and s, m, h, d, w or mo, or hourly, daily, weekly, monthly."},
		{fieldMaxParallel, "Integer", "Requests that may be under way at once."},
		{fieldTPM, "Integer", "Tokens a minute."},
		{fieldRPM, "Integer", "Requests a minute."},
		{fieldTPD, "Integer", "Tokens a day."},
		{fieldModelBudget, "Dictionary", "Budgets and limits of single models, by model."},
	}
}

// GetBudgetSettings shows a budget field by field.
func (s budgetService) GetBudgetSettings(ctx context.Context, in *gatewayv1.GetBudgetSettingsRequest) (*gatewayv1.GetBudgetSettingsResponse, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	b, err := v.Keys.NeedBudget(nil, fieldBudgetID, id.Budget(in.GetBudgetId()))
	if err != nil {
		return nil, err
	}
	values := rest.Free(budgetRecord(b)).GetStructValue()
	out := &gatewayv1.GetBudgetSettingsResponse{}
	for _, t := range terms() {
		value := values.GetFields()[t.name]
		if object := value.GetStructValue(); object != nil && len(object.GetFields()) == 0 {
			value = structpb.NewNullValue()
		}
		_, null := value.GetKind().(*structpb.Value_NullValue)
		out.Fields = append(out.GetFields(), &gatewayv1.SettingField{
			FieldName: t.name, FieldType: t.kind, FieldValue: value, FieldDescription: t.text, StoredInDb: !null,
			FieldDefaultValue: structpb.NewNullValue(),
		})
	}
	return out, nil
}
