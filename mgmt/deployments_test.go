package mgmt

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

func TestModelLife(t *testing.T) {
	s, _ := newFake(t)
	a := ask(t, s, "POST /model/new", `{"model_name":"fast","litellm_params":{"model":"gpt-4o","custom_llm_provider":"openai","api_base":"https://x.example/v1",
		"api_key":"`+vendorMark+`","rpm":100,"tpm":3000000000,"timeout":2.5,"extra_headers":{"x-account":"`+vendorMark+`"},"input_cost_per_token":0.00000000012345678901},
		"model_info":{"id":"added","base_model":"gpt-4o-mini","max_input_tokens":null}}`, nil)
	v := a.json(t)
	params, _ := v["gateway_params"].(map[string]any)
	info, _ := v["model_info"].(map[string]any)
	if a.status != http.StatusOK || v["model_id"] != "added" || params["model"] != "openai/gpt-4o" || params["api_key"] != hidden ||
		params["tpm"] != 3e9 || params["timeout"] != 2.5 || fmt.Sprint(params["prices"]) != "map[input_cost_per_token:0.00000000012345678901]" ||
		info["db_model"] != true || info["created_by"] != "master" || info["input_cost_per_token"] != 1.2345678901e-10 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a.header.Get(operation.HeaderRevision) != "42" {
		t.Errorf("revision %s", a.header.Get(operation.HeaderRevision))
	}
	all := ask(t, s, "GET /model/info", "", nil)
	data, _ := all.json(t)["data"].([]any)
	var ids []string
	for _, d := range data {
		record, _ := d.(map[string]any)
		info, _ := record["model_info"].(map[string]any)
		ids = append(ids, fmt.Sprint(record["model_name"], " ", info["id"], " ", info["db_model"]))
	}
	if strings.Join(ids, ",") != "fast added true,fast from-the-file false,slow other false" {
		t.Errorf("%v", ids)
	}
	for _, answer := range []string{a.body, all.body} {
		if strings.Contains(answer, vendorMark) {
			t.Error("a credential is shown")
		}
	}
	if one := ask(t, s, "GET /v1/model/info?litellm_model_id=added", "", nil); strings.Count(one.body, `"db_model"`) != 1 {
		t.Errorf("%s", one.body)
	}
	if a := ask(t, s, "GET /model/info?model_id=nope", "", nil); a.status != http.StatusNotFound || a.refusal(t) != "model_not_found model_id" {
		t.Errorf("%d %s", a.status, a.body)
	}
	gone := ask(t, s, "DELETE /model/delete", `{"id":"added"}`, nil)
	if gone.status != http.StatusOK || gone.json(t)["model_id"] != "added" || gone.json(t)["deleted"] != true {
		t.Errorf("%d %s", gone.status, gone.body)
	}
	for id, want := range map[string]string{"added": "404 model_not_found id", "from-the-file": "409 defined_in_file id", "": "422 missing_required_parameter id"} {
		if a := ask(t, s, "POST /model/delete", `{"id":"`+id+`"}`, nil); fmt.Sprint(a.status, " ", a.refusal(t)) != want {
			t.Errorf("deleting %q: %d %s", id, a.status, a.body)
		}
	}
}

// A key sees the models that it may use, and not their addresses.
func TestModelInfoOfAKey(t *testing.T) {
	s, _ := newFake(t)
	if a := ask(t, s, "POST /model/new", `{"model_name":"fast","gateway_params":{"model":"openai/x","api_key":"k","api_base":"https://internal.example","weight":7}}`, nil); a.status != http.StatusOK {
		t.Fatal(a.body)
	}
	a := ask(t, s, "GET /model/info", "", as(plainKey))
	if data, _ := a.json(t)["data"].([]any); len(data) != 2 || strings.Contains(a.body, "slow") || strings.Contains(a.body, "internal.example") || strings.Contains(a.body, hidden) {
		t.Errorf("%s", a.body)
	}
	if a := ask(t, s, "GET /model/info?model_id=other", "", as(plainKey)); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestModelsThatAreRefused(t *testing.T) {
	s, n := newFake(t)
	params := func(more string) string {
		return `{"model_name":"m","gateway_params":{"model":"openai/x","api_key":"k"` + more + `}}`
	}
	for body, want := range map[string]string{
		`{}`:                 "missing_required_parameter model_name",
		`{"model_name":"m"}`: "missing_required_parameter gateway_params",
		`{"model_name":"m","gateway_params":{"rpm":1}}`:                                     "missing_required_parameter gateway_params.model",
		`{"model_name":"m","gateway_params":{"model":"acme/x","api_key":"k"}}`:              "unknown_provider gateway_params.model",
		`{"model_name":"m","gateway_params":{"model":"openai/x"}}`:                          "missing_required_parameter gateway_params.api_key",
		`{"model_name":"m","gateway_params":{},"litellm_params":{}}`:                        "invalid_value litellm_params",
		`{"model_name":"m","gateway_params":[]}`:                                            "invalid_type gateway_params",
		`{"model_name":"m","model_info":{"team_id":"x"}}`:                                   "unknown_field model_info.team_id",
		params(`,"api_base":"ftp://x"`):                                                     "invalid_api_base gateway_params.api_base",
		params(`,"rpm":-1`):                                                                 "invalid_value gateway_params.rpm",
		params(`,"rpm":1.5`):                                                                "invalid_value gateway_params.rpm",
		params(`,"rpm":"100"`):                                                              "invalid_type gateway_params.rpm",
		params(`,"rpm":1e999`):                                                              "invalid_value gateway_params.rpm",
		params(`,"tpm":1e300`):                                                              "invalid_value gateway_params.tpm",
		params(`,"order":1.5`):                                                              "invalid_value gateway_params.order",
		params(`,"order":-1`):                                                               "invalid_value gateway_params.order",
		params(`,"timeout":-0.1`):                                                           "invalid_value gateway_params.timeout",
		params(`,"timeout":1e10`):                                                           "invalid_value gateway_params.timeout",
		params(`,"drop_params":1`):                                                          "invalid_type gateway_params.drop_params",
		params(`,"api_version":"2024"`):                                                     "invalid_value gateway_params.api_version",
		params(`,"aws_access_key_id":"AKIA"`):                                               "invalid_value gateway_params.aws_access_key_id",
		params(`,"aws_region_name":"x.evil.com#"`):                                          "invalid_value gateway_params.aws_region_name",
		params(`,"vertex_project":"p"`):                                                     "invalid_value gateway_params.vertex_project",
		params(`,"extra_headers":{"Host":"x"}`):                                             "invalid_value gateway_params.extra_headers.Host",
		params(`,"extra_headers":{"x-a":1}`):                                                "invalid_type gateway_params.extra_headers.x-a",
		params(`,"extra_headers":{"x-a":"v\r\nx-b: w"}`):                                    "invalid_value gateway_params.extra_headers.x-a",
		params(`,"input_cost_per_token":"free"`):                                            "invalid_value gateway_params.prices.input_cost_per_token",
		params(`,"input_cost_per_token":-1`):                                                "invalid_value gateway_params.input_cost_per_token",
		params(`,"input_cost_per_token":true`):                                              "invalid_type gateway_params.input_cost_per_token",
		params(`,"input_cost_per_token":null`):                                              "invalid_value gateway_params.input_cost_per_token",
		params(`,"api":"converse"`):                                                         "invalid_value gateway_params.api",
		params(`,"api":"a b"`):                                                              "invalid_value gateway_params.api",
		params(`,"api":1`):                                                                  "invalid_type gateway_params.api",
		params(`,"organization":"a b"`):                                                     "invalid_value gateway_params.organization",
		params(`,"credential_name":"a b"`):                                                  "invalid_value gateway_params.credential_name",
		params(`,"input_cost_per_tokne":1`):                                                 "invalid_value gateway_params.input_cost_per_tokne",
		params(`,"input_cost_per_token":1,"prices":{"input_cost_per_token":2}`):             "invalid_value gateway_params.input_cost_per_token",
		params(`,"prices":[]`):                                                              "invalid_type gateway_params.prices",
		strings.Replace(params(""), `"k"`, `"`+vendorMark+`\r\nx-admin: yes"`, 1):           "invalid_value gateway_params.api_key",
		strings.Replace(params(""), `"k"`, `"os.environ/HOME"`, 1):                          "invalid_value gateway_params.api_key",
		strings.Replace(params(""), `"k"`, `"${HOME}"`, 1):                                  "invalid_value gateway_params.api_key",
		strings.Replace(params(""), `"k"`, `"[redacted]"`, 1):                               "invalid_value gateway_params.api_key",
		strings.Replace(params(""), `"k"`, `"`+strings.Repeat("k", maxSecret+1)+`"`, 1):     "too_long gateway_params.api_key",
		strings.Replace(params(""), `"m"`, `"`+strings.Repeat("m", 300)+`"`, 1):             "too_long model_name",
		strings.TrimSuffix(params(""), "}") + `,"model_info":{"id":"a b"}}`:                 "invalid_value model_info.id",
		strings.TrimSuffix(params(""), "}") + `,"model_info":{"max_tokens":-5}}`:            "invalid_value model_info.max_tokens",
		strings.TrimSuffix(params(""), "}") + `,"model_info":{"base_model":"a b"}}`:         "invalid_value model_info.base_model",
		strings.TrimSuffix(params(""), "}") + `,"blocked":true}`:                            "unknown_field blocked",
		strings.TrimSuffix(params(""), "}") + `,"model_info":{"mode":"chat","id":7}}`:       "invalid_type model_info.id",
		strings.TrimSuffix(params(""), "}") + `,"model_info":{"cooldown_time":1}}`:          "unknown_field model_info.cooldown_time",
		strings.TrimSuffix(params(`,"mock_response":"x"`), "}") + `,"model_info":{"id":1}}`: "unknown_field gateway_params.mock_response",
	} {
		a := ask(t, s, "POST /model/new", body, nil)
		if a.status != http.StatusUnprocessableEntity || a.refusal(t) != want {
			t.Errorf("%.120s: %d %s, want %s", body, a.status, a.body, want)
		}
		if strings.Contains(a.body, vendorMark) || strings.Contains(a.body, "AKIA") {
			t.Errorf("a credential is shown: %s", a.body)
		}
	}
	if a := ask(t, s, "POST /model/new", strings.TrimSuffix(params(""), "}")+`,"model_info":{"id":"from-the-file"}}`, nil); a.status != http.StatusConflict {
		t.Errorf("an id that is taken: %d %s", a.status, a.body)
	}
	if n.View().Revision != 41 {
		t.Error("something was added")
	}
}

// Fields that an update does not set stay, secrets included, and fields that it clears are
// removed.
func TestModelUpdate(t *testing.T) {
	s, n := newFake(t)
	play(t, s, []step{
		{"", "POST /model/new", `{"model_name":"new","gateway_params":{"model":"openai/gpt-4o","api_key":"` + vendorMark + `","rpm":5,"timeout":2,"organization":"org-1","api":"chat",
			"extra_headers":{"x-a":"` + vendorMark + `","x-b":"b"},"input_cost_per_token":1e-6},"model_info":{"id":"d","max_input_tokens":10}}`, "200"},
		{"", "POST /model/update", `{"model_info":{"id":"d"},"litellm_params":{"output_cost_per_token":2e-6,"weight":3,"api":"responses"}}`, "200"},
		{"", "PATCH /model/d/update", `{"model_name":"renamed","gateway_params":{"rpm":null,"timeout":null,"api_key":"[redacted]","extra_headers":{"x-a":"[redacted]"}},"if_revision":43}`, "200"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"rpm":1},"if_revision":43}`, "409 revision_conflict"},
		{"", "PATCH /model/d/update", `{"model_id":"e"}`, "422 invalid_value model_id"},
		{"", "PATCH /model/d/update", `{"model_info":{"id":"e"}}`, "422 invalid_value model_info.id"},
		{"", "PATCH /model/update", `{"gateway_params":{"rpm":1}}`, "422 missing_required_parameter model_id"},
		{"", "PATCH /model/nobody/update", `{"gateway_params":{"rpm":1}}`, "404 model_not_found model_id"},
		{"", "PATCH /model/from-the-file/update", `{"gateway_params":{"rpm":1}}`, "409 defined_in_file model_id"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"api":"converse"}}`, "422 invalid_value gateway_params.api"},
		{"", "PATCH /model/d/update", `{"model_name":null}`, "422 invalid_value model_name"},
		{"", "PATCH /model/d/update", `{"gateway_params":null}`, "422 invalid_value gateway_params"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"api_key":null}}`, "422 missing_required_parameter gateway_params.api_key"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"api_key":"` + vendorMark + `\r\nx: y"}}`, "422 invalid_value gateway_params.api_key"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"extra_headers":{"x-c":"[redacted]"}}}`, "422 invalid_value gateway_params.extra_headers.x-c"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"custom_llm_provider":"acme"}}`, "422 invalid_value gateway_params.custom_llm_provider"},
		{"", "PATCH /model/d/update", `{"gateway_params":{"aws_region_name":"x"}}`, "422 invalid_value gateway_params.aws_region_name"},
		{plainKey, "PATCH /model/d/update", `{"gateway_params":{"rpm":1}}`, "403 insufficient_permissions"},
	})
	d, ok := n.View().Catalog.Deployment("d")
	if !ok || d.Name != "renamed" || d.RPM != 0 || d.Weight != 3 || d.Stored().Spec.Timeout != 0 || d.MaxInputTokens != 10 || !d.APIKey.Equal(vendorMark) {
		t.Fatalf("%+v", d)
	}
	if _, still := n.View().Catalog.Group("new"); still {
		t.Error("the old name is served")
	}
	headers := map[string]string{}
	for _, h := range d.ExtraHeaders {
		headers[h.Name] = h.Value.Reveal()
	}
	if fmt.Sprint(headers) != "map[openai-organization:org-1 x-a:"+vendorMark+"]" {
		t.Errorf("%v", headers)
	}
	if got := fmt.Sprint(d.Stored().Spec.Prices); got != "map[input_cost_per_token:1e-6 output_cost_per_token:2e-6]" {
		t.Error(got)
	}
	a := ask(t, s, "GET /model/info?model_id=d", "", nil)
	if strings.Contains(a.body, vendorMark) || !strings.Contains(a.body, `"revision":44`) || !strings.Contains(a.body, `"api":"responses"`) {
		t.Error(a.body)
	}
	if a := ask(t, s, "PATCH /model/d/update", `{"gateway_params":{"prices":{},"api":null}}`, with("If-Match", `"44"`)); a.status != http.StatusOK || a.header.Get(field.HeaderETag) != `"45"` {
		t.Errorf("%d %s", a.status, a.body)
	}
	if d, _ := n.View().Catalog.Deployment("d"); len(d.Stored().Spec.Prices) != 0 || d.API != "" {
		t.Error("the prices or the interface are not cleared")
	}
}

// Pages together have the whole list, and groups have the sums of their deployments.
func TestModelsInPagesAndGroups(t *testing.T) {
	s, _ := newFake(t)
	for i := range 5 {
		body := fmt.Sprintf(`{"model_name":"fast","gateway_params":{"model":"openai/m%d","api_key":"k","rpm":10,"input_cost_per_token":%de-6},"model_info":{"id":"d%d"}}`, i, i+1, i)
		if a := ask(t, s, "POST /model/new", body, nil); a.status != http.StatusOK {
			t.Fatal(a.body)
		}
	}
	var ids []string
	for page := 1; page <= 4; page++ {
		v := ask(t, s, fmt.Sprintf("GET /v2/model/info?size=2&page=%d", page), "", nil).json(t)
		if v["total_count"] != 7.0 || v["total_pages"] != 4.0 || v["current_page"] != float64(page) || v["size"] != 2.0 {
			t.Fatalf("%v", v)
		}
		data, _ := v["data"].([]any)
		for _, d := range data {
			info, _ := d.(map[string]any)["model_info"].(map[string]any)
			ids = append(ids, fmt.Sprint(info["id"]))
		}
	}
	if got := strings.Join(ids, " "); got != "d0 d1 d2 d3 d4 from-the-file other" {
		t.Error(got)
	}
	for query, want := range map[string]int{"model=slow": 1, "search=OPENAI/M3": 1, "search=fas": 6, "model_id=d1": 1, "page=9": 0, "sort_by=created_at&sort_order=desc": 7} {
		if data, _ := ask(t, s, "GET /v2/model/info?"+query, "", nil).json(t)["data"].([]any); len(data) != want {
			t.Errorf("%s: %d, want %d", query, len(data), want)
		}
	}
	a := ask(t, s, "GET /model_group/info", "", as(plainKey))
	data, _ := a.json(t)["data"].([]any)
	if len(data) != 1 {
		t.Fatal(a.body)
	}
	g, _ := data[0].(map[string]any)
	if g["model_group"] != "fast" || g["deployments"] != 6.0 || g["rpm"] != 50.0 || g["input_cost_per_token"] != 5e-6 || fmt.Sprint(g["providers"]) != "[openai]" {
		t.Errorf("%v", g)
	}
	play(t, s, []step{
		{plainKey, "GET /model_group/info?model_group=slow", "", "404 model_not_found model_group"},
		{"", "GET /v2/model/info?size=101", "", "422 invalid_value size"},
		{"", "GET /v2/model/info?page=0", "", "422 invalid_value page"},
		{"", "GET /model/info?model_id=d1&litellm_model_id=d2", "", "422 invalid_value litellm_model_id"},
	})
}

// One response lists all problems.
func TestAllProblemsAreListed(t *testing.T) {
	s, _ := newFake(t)
	a := ask(t, s, "POST /model/new", `{"model_name":"m*n*","gateway_params":{"model":"acme/x"}}`, nil)
	e, _ := a.json(t)["error"].(map[string]any)
	details, _ := e["details"].(map[string]any)
	if list, _ := details["problems"].([]any); len(list) != 2 || !strings.Contains(a.body, "gateway_params.model") {
		t.Errorf("%s", a.body)
	}
}
