package mgmt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// Wherever the budget of a model is taken, also within lists, a number is taken for one.
func TestNumbersAreBudgetsOfModels(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	var found []string
	for _, op := range s.operations.all {
		m := op.input.Descriptor()
		body := `{"model_max_budget":{"b":{"rpm_limit":1},"a":2.50,"c":{}}}`
		want := `{"model_max_budget":{"a":{"max_budget":2.50},"b":{"rpm_limit":1},"c":{}}}`
		if m.Fields().ByName(fieldModelBudget) == nil {
			list := ""
			for i := range m.Fields().Len() {
				if f := m.Fields().Get(i); f.IsList() && f.Message() != nil && f.Message().Fields().ByName(fieldModelBudget) != nil {
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

// What is free JSON stays as it is, and what is neither a budget nor an amount is refused
// by its name.
func TestShortFormRefuses(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /key/generate", `{"model_max_budget":{"m":"2.5"}}`, "422 invalid_type model_max_budget.m"},
		{"", "POST /key/generate", `{"model_max_budget":{"m":[2.5]}}`, "422 invalid_type model_max_budget.m"},
		{"", "POST /key/generate", `{"model_max_budget":{"m":null}}`, "422 invalid_type model_max_budget.m"},
		{"", "POST /key/generate", `{"model_max_budget":{"m":1e999}}`, "422 invalid_value model_max_budget.m"},
		{"", "POST /key/generate", `{"model_max_budget":7}`, "422 invalid_type model_max_budget"},
		{"", "POST /key/generate", `{"model_max_budget":{"m":-1}}`, "422 invalid_value model_max_budget.m.max_budget"},
		{"", "POST /key/generate", `{"model_max_budget":{"m":9000001}}`, "422 invalid_value model_max_budget.m.max_budget"},
	})
	a := ask(t, s, "POST /key/generate", `{"metadata":{"model_max_budget":{"m":1}},"model_max_budget":{"m":0.1,"n":{"max_budget":1,"budget_duration":"1d"},"z":0}}`, nil)
	v := a.json(t)
	if got := fmt.Sprint(down(t, v, "metadata")); a.status != 200 || got != "map[model_max_budget:map[m:1]]" {
		t.Errorf("%d, metadata %s", a.status, got)
	}
	token, _ := v["token"].(string)
	shown := func() string { return fmt.Sprint(keyInfo(t, s, token)["model_max_budget"]) }
	if got, want := shown(), "map[m:map[max_budget:0.1] n:map[budget_duration:1d max_budget:1] z:map[max_budget:0]]"; got != want {
		t.Errorf("made with %s, want %s", got, want)
	}
	play(t, s, []step{{"", "PATCH /key/update", `{"key":"` + token + `","model_max_budget":{"m":3}}`, "200"}})
	if got := shown(); got != "map[m:map[max_budget:3]]" {
		t.Errorf("changed to %s", got)
	}
}

// An amount is not read as a float on its way into its whole form.
func TestShortFormKeepsDigits(t *testing.T) {
	t.Parallel()
	v, err := widenOne("", jsontext.Value("0.100000000001"), modelBudget())
	if err != nil || !strings.Contains(string(v), "0.100000000001") {
		t.Errorf("%s, %v", v, err)
	}
}
