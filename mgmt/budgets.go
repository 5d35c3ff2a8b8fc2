package mgmt

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/id"
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

// CreateBudget creates a budget.
func (s budgetService) CreateBudget(ctx context.Context, in *gatewayv1.CreateBudgetRequest) (*gatewayv1.BudgetRecord, error) {
	b, err := patchBudget(tenancy.Budget{ID: id.Budget(chosen(in.BudgetId))}, in, nil)
	if err != nil {
		return nil, err
	}
	return changed(ctx, s.state, budgetRecord, func(c caller) (*tenancy.Budget, error) { return c.set.CreateBudget(c.tx, b) })
}

// patchBudget returns a budget with the changes of a request.
func patchBudget(b tenancy.Budget, m proto.Message, clears []string) (tenancy.Budget, error) {
	p := patchOf(m, clears, termFields()...)
	b.Limits = p.limits(b.Limits)
	return b, p.err
}

// termFields returns the fields of limits that budgets have.
func termFields() []string {
	return []string{fieldMaxBudget, fieldSoftBudget, fieldBudgetDuration, fieldMaxParallel, fieldTPM, fieldRPM, fieldTPD, fieldModelBudget}
}

// budgetRecord returns a budget in the form of the API.
func budgetRecord(b *tenancy.Budget) *gatewayv1.BudgetRecord {
	out := &gatewayv1.BudgetRecord{BudgetId: string(b.ID)}
	showLimits(out, b.Limits)
	showMeta(out, b.Meta)
	return out
}

// GetBudgets shows several budgets; if one does not exist, it shows none.
func (s budgetService) GetBudgets(ctx context.Context, in *gatewayv1.GetBudgetsRequest) (*gatewayv1.GetBudgetsResponse, error) {
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.GetBudgetsResponse{}
	for i, of := range in.GetBudgets() {
		b, err := c.set.NeedBudget(nil, field.At("budgets", i), id.Budget(of))
		if err != nil {
			return nil, err
		}
		out.Budgets = append(out.GetBudgets(), budgetRecord(b))
	}
	return out, nil
}

// ListBudgets shows all budgets.
func (budgetService) ListBudgets(ctx context.Context, _ *gatewayv1.ListBudgetsRequest) (*gatewayv1.ListBudgetsResponse, error) {
	return &gatewayv1.ListBudgetsResponse{Budgets: shownAll(operation.View(ctx).Keys.Budgets(), budgetRecord)}, nil
}

// UpdateBudget changes the fields in the request, for every record that has the budget.
func (s budgetService) UpdateBudget(ctx context.Context, in *gatewayv1.UpdateBudgetRequest) (*gatewayv1.BudgetRecord, error) {
	return changed(ctx, s.state, budgetRecord, func(c caller) (*tenancy.Budget, error) {
		before, err := c.set.NeedBudget(c.tx, fieldBudgetID, id.Budget(in.GetBudgetId()))
		if err != nil {
			return nil, err
		}
		after, err := patchBudget(*before, in, in.GetClear())
		if err != nil {
			return nil, err
		}
		return c.set.UpdateBudget(c.tx, after, operation.IfRevision(ctx))
	})
}

// DeleteBudget deletes a budget that no record has.
func (s budgetService) DeleteBudget(ctx context.Context, in *gatewayv1.DeleteBudgetRequest) (*gatewayv1.BudgetRecord, error) {
	return changed(ctx, s.state, budgetRecord, func(c caller) (*tenancy.Budget, error) {
		return c.set.DeleteBudget(c.tx, "id", id.Budget(in.GetId()))
	})
}

// term describes a field of a budget.
type term struct{ name, kind, text string }

// terms returns the fields of a budget in the order of the response.
func terms() []term {
	return []term{
		{fieldMaxBudget, "Float", "The most that may be spent in one budget_duration, or ever if there is none, in USD."},
		{fieldSoftBudget, "Float", "From this spend on people are warned, in USD. Less than max_budget; nothing is refused for it."},
		{fieldBudgetDuration, "String", "After this time the spend is reset: a number and s, m, h, d, w or mo, or hourly, daily, weekly, monthly."},
		{fieldMaxParallel, "Integer", "Requests that may be under way at once."},
		{fieldTPM, "Integer", "Tokens a minute."},
		{fieldRPM, "Integer", "Requests a minute."},
		{fieldTPD, "Integer", "Tokens a day."},
		{fieldModelBudget, "Dictionary", "Budgets and limits of single models, by model."},
	}
}

// GetBudgetSettings shows a budget field by field.
func (s budgetService) GetBudgetSettings(ctx context.Context, in *gatewayv1.GetBudgetSettingsRequest) (*gatewayv1.GetBudgetSettingsResponse, error) {
	return found(ctx, s.state, budgetSettings, func(c caller) (*tenancy.Budget, error) {
		return c.set.NeedBudget(nil, fieldBudgetID, id.Budget(in.GetBudgetId()))
	})
}

func budgetSettings(b *tenancy.Budget) *gatewayv1.GetBudgetSettingsResponse {
	values, out := rest.Free(budgetRecord(b)).GetStructValue(), &gatewayv1.GetBudgetSettingsResponse{}
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
	return out
}
