package mgmt

import (
	"fmt"
	"net/http"
	"testing"
)

// The estimated cost of a request is exact, by the deployment's own prices or by those of the
// list.
func TestCosts(t *testing.T) {
	s, _ := newFake(t)
	for _, body := range []string{
		`{"model_name":"fast","gateway_params":{"model":"openai/own","api_key":"k","prices":{"input_cost_per_token":"0.00000000000001","output_cost_per_token":"3"}},"model_info":{"id":"own"}}`,
		`{"model_name":"free","gateway_params":{"model":"openai/unheard-of","api_key":"k"},"model_info":{"id":"free"}}`,
		`{"model_name":"any/*","gateway_params":{"model":"openai/*","api_key":"k"},"model_info":{"id":"any"}}`,
	} {
		if a := ask(t, s, "POST /model/new", body, nil); a.status != http.StatusOK {
			t.Fatal(a.body)
		}
	}
	list, _ := ask(t, s, "GET /model/cost", "", nil).json(t)["data"].([]any)
	var sources []string
	for _, one := range list {
		c, _ := one.(map[string]any)
		prices, _ := c["prices"].(map[string]any)
		sources = append(sources, fmt.Sprint(c["model_id"], " ", c["source"], " ", prices["input_cost_per_token"]))
	}
	if got := fmt.Sprint(sources); got != "[any none <nil> from-the-file price_table 0.0000025 own deployment 0.00000000000001 free none <nil> other price_table 0.00000015]" {
		t.Error(got)
	}
	estimate := func(body string) string {
		a := ask(t, s, "POST /cost/estimate", body, nil)
		list, _ := a.json(t)["estimates"].([]any)
		out := fmt.Sprint(a.status, " ", a.json(t)["cost"])
		for _, one := range list {
			e, _ := one.(map[string]any)
			out += fmt.Sprint(" ", e["model_id"], "=", e["cost_per_request"], "=", e["cost"])
		}
		return out
	}
	for body, want := range map[string]string{
		`{"model":"fast","prompt_tokens":100,"completion_tokens":1}`:                   "200 3.000000000001 own=3.000000000001=3.000000000001 from-the-file=0.00026=0.00026",
		`{"model":"fast","prompt_tokens":1000,"completion_tokens":0,"num_requests":3}`: "200 0.0075 from-the-file=0.0025=0.0075 own=0.00000000001=0.00000000003",
		`{"model":"slow","prompt_tokens":1000,"cache_read_input_tokens":1000}`:         "200 7.5e-05 other=0.000075=0.000075",
		`{"model":"any/gpt-4o","completion_tokens":1000,"reasoning_tokens":1000}`:      "200 0.01 any=0.01=0.01",
		`{"model":"slow"}`: "200 0 other=0=0",
	} {
		if got := estimate(body); got != want {
			t.Errorf("%s: %s\nwant %s", body, got, want)
		}
	}
	play(t, s, []step{
		{"", "POST /cost/estimate", `{"model":"free","prompt_tokens":1}`, "404 price_not_found model"},
		{"", "POST /cost/estimate", `{"model":"nobody","prompt_tokens":1}`, "404 model_not_found model"},
		{plainKey, "POST /cost/estimate", `{"model":"slow","prompt_tokens":1}`, "404 model_not_found model"},
		{plainKey, "POST /cost/estimate", `{"model":"fast","prompt_tokens":1}`, "200"},
		{plainKey, "GET /model/cost?model=slow", "", "404 model_not_found model"},
		{"", "POST /cost/estimate", `{"model":"fast","prompt_tokens":1,"cache_read_input_tokens":2}`, "422 invalid_value prompt_tokens"},
		{"", "POST /cost/estimate", `{"model":"fast","reasoning_tokens":2}`, "422 invalid_value completion_tokens"},
		{"", "POST /cost/estimate", `{"model":"fast","completion_tokens":4294967295,"num_requests":4294967295}`, "422 invalid_value num_requests"},
		{"", "POST /cost/estimate", `{"prompt_tokens":1}`, "422 missing_required_parameter model"},
		{"", "POST /cost/estimate", `{"model":"fast","prompt_tokens":-1}`, "422 invalid_value prompt_tokens"},
	})
}
