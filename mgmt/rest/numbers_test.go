package rest

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// requests yields the request of every operation.
func requests() iter.Seq[protoreflect.MessageDescriptor] {
	return func(yield func(protoreflect.MessageDescriptor) bool) {
		protoregistry.GlobalFiles.RangeFilesByPackage("gateway.v1", func(f protoreflect.FileDescriptor) bool {
			for i := range f.Services().Len() {
				methods := f.Services().Get(i).Methods()
				for n := range methods.Len() {
					if !yield(methods.Get(n).Input()) {
						return false
					}
				}
			}
			return true
		})
	}
}

// A number is accepted wherever the budget of a model is, also in lists.
func TestNumbersAreBudgetsOfModels(t *testing.T) {
	t.Parallel()
	var found []string
	for m := range requests() {
		body := `{"model_max_budget":{"b":{"rpm_limit":1},"a":2.50,"c":{}}}`
		want := `{"model_max_budget":{"a":{"max_budget":2.50},"b":{"rpm_limit":1},"c":{}}}`
		if m.Fields().ByName("model_max_budget") == nil {
			list := ""
			for i := range m.Fields().Len() {
				if f := m.Fields().Get(i); f.IsList() && f.Message() != nil && f.Message().Fields().ByName("model_max_budget") != nil {
					list = string(f.Name())
				}
			}
			if list == "" {
				continue
			}
			body, want = `{"`+list+`":[{},`+body+`]}`, `{"`+list+`":[{},`+want+`]}`
		}
		found = append(found, string(m.Name()))
		members, err := parseObject([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := conform("", members, m); err != nil {
			t.Errorf("%s: %v", m.Name(), err)
			continue
		}
		if err := widen(members, m); err != nil {
			t.Errorf("%s: %v", m.Name(), err)
		}
		got, err := json.Marshal(members, json.Deterministic(true))
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("%s: %v %s", m.Name(), err, diff)
		}
	}
	slices.Sort(found)
	if diff := cmp.Diff([]string{
		"BulkUpdateKeysRequest", "BulkUpdateUsersRequest", "CreateBudgetRequest", "CreateCustomerRequest", "CreateOrganizationRequest",
		"CreateTeamRequest", "CreateUserRequest", "GenerateKeyRequest", "GenerateKeyRequest", "RegenerateKeyRequest",
		"UpdateBudgetRequest", "UpdateCustomerRequest", "UpdateKeyRequest", "UpdateOrganizationRequest", "UpdateTeamRequest", "UpdateTeamRequest", "UpdateUserRequest",
	}, found); diff != "" {
		t.Errorf("requests with budgets of models (- want):\n%s", diff)
	}
}

// An amount does not become a float on its way to its whole form.
func TestShortFormKeepsDigits(t *testing.T) {
	t.Parallel()
	v, err := widenOne("", jsontext.Value("0.100000000001"), modelBudget())
	if err != nil || !strings.Contains(string(v), "0.100000000001") {
		t.Errorf("%s, %v", v, err)
	}
}
