package mgmt

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// priceTable is a table of many models, of which gpt-4o costs a price for each token
// read.
func priceTable(price string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"gpt-4o":{"litellm_provider":"openai","input_cost_per_token":%s},"gpt-4o-mini":{"litellm_provider":"openai","input_cost_per_token":1e-6}`, price)
	for i := range 5000 {
		fmt.Fprintf(&b, `,"model-%d":{"litellm_provider":"openai","input_cost_per_token":1e-6}`, i)
	}
	return b.String() + "}"
}

// A loaded price table applies to the next requests, and an invalid one changes nothing.
func TestCostMapIsLoaded(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	cost := func() string {
		return fmt.Sprint(ask(t, s, "POST /cost/estimate", `{"model":"fast","prompt_tokens":1000}`, nil).json(t)["cost"])
	}
	load := func(table string) answer {
		n.mu.Lock()
		n.mu.prices = table
		n.mu.Unlock()
		return ask(t, s, "POST /model/cost_map/reload", "", nil)
	}
	before := cost()
	for _, table := range []string{"", "[]", "nonsense", `{"gpt-4o":{"input_cost_per_token":1}}`, priceTable("-1"), priceTable("true"), priceTable(`"free"`)} {
		if a := load(table); a.status != http.StatusUnprocessableEntity || cost() != before {
			t.Errorf("%.60s: %d %.300s", table, a.status, a.body)
		}
	}
	a := load(priceTable(`"5e-1"`))
	if v := a.json(t); a.status != http.StatusOK || v["models"] != 5002.0 || v["changed"] == 0.0 || cost() != "500" {
		t.Errorf("%d %.300s, and then it costs %s", a.status, a.body, cost())
	}
	if a := load(priceTable("0.25")); a.json(t)["changed"] != 1.0 || cost() != "250" {
		t.Errorf("%d %.300s, and then it costs %s", a.status, a.body, cost())
	}
	play(t, s, []step{{plainKey, "POST /model/cost_map/reload", "", "403 insufficient_permissions"}})
}

func TestCostMapWithoutAPlace(t *testing.T) {
	t.Parallel()
	_, err := modelService{}.ReloadCostMap(t.Context(), nil)
	if f := fault.From(err); f.Kind != fault.NotFound || f.Code != "cost_map_not_configured" {
		t.Errorf("%v", err)
	}
}
