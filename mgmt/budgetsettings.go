package mgmt

import (
	"context"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

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
