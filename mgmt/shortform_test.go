package mgmt

import (
	"fmt"
	"testing"
)

// Free JSON stays as it is. A value that is neither a budget nor an amount is rejected with its
// name.
func TestShortFormRejects(t *testing.T) {
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
