package mgmt

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
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
	if a.header.Get(HeaderRevision) != "42" {
		t.Errorf("revision %s", a.header.Get(HeaderRevision))
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
	for id, want := range map[string]string{"added": "404 model_not_found", "from-the-file": "409 defined_in_file id", "": "400 missing_required_parameter id"} {
		if a := ask(t, s, "POST /model/delete", `{"id":"`+id+`"}`, nil); fmt.Sprint(a.status, " ", a.refusal(t)) != want {
			t.Errorf("deleting %q: %d %s", id, a.status, a.body)
		}
	}
}

// A key sees the models it may use, and not where they run.
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
		`{"model_name":"m"}`: "missing_required_parameter gateway_params.model",
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
		params(`,"api_version":"2024"`):                                                     "unknown_field gateway_params.api_version",
		params(`,"aws_access_key_id":"AKIA"`):                                               "unsupported_parameter gateway_params.aws_access_key_id",
		params(`,"aws_region_name":"x.evil.com#"`):                                          "unsupported_parameter gateway_params.aws_region_name",
		params(`,"vertex_project":"p"`):                                                     "unsupported_parameter gateway_params.vertex_project",
		params(`,"extra_headers":{"Host":"x"}`):                                             "invalid_value gateway_params.extra_headers.Host",
		params(`,"extra_headers":{"x-a":1}`):                                                "invalid_type gateway_params.extra_headers.x-a",
		params(`,"extra_headers":{"x-a":"v\r\nx-b: w"}`):                                    "invalid_value gateway_params.extra_headers.x-a",
		params(`,"input_cost_per_token":"free"`):                                            "invalid_value gateway_params.input_cost_per_token",
		params(`,"input_cost_per_token":-1`):                                                "invalid_value gateway_params.input_cost_per_token",
		params(`,"input_cost_per_token":true`):                                              "invalid_type gateway_params.input_cost_per_token",
		params(`,"input_cost_per_tokne":1`):                                                 "invalid_value gateway_params.input_cost_per_tokne",
		params(`,"input_cost_per_token":1,"prices":{"input_cost_per_token":2}`):             "invalid_value gateway_params.input_cost_per_token",
		params(`,"prices":[]`):                                                              "invalid_type gateway_params.prices",
		strings.Replace(params(""), `"k"`, `"`+vendorMark+`\r\nx-admin: yes"`, 1):           "invalid_value gateway_params.api_key",
		strings.Replace(params(""), `"k"`, `"os.environ/HOME"`, 1):                          "invalid_value gateway_params.api_key",
		strings.Replace(params(""), `"k"`, `"${HOME}"`, 1):                                  "invalid_value gateway_params.api_key",
		strings.Replace(params(""), `"k"`, `"[redacted]"`, 1):                               "invalid_value gateway_params.api_key",
		strings.Replace(params(""), `"k"`, `"`+strings.Repeat("k", maxSecret+1)+`"`, 1):     "too_long gateway_params.api_key",
		strings.Replace(params(""), `"m"`, `"`+strings.Repeat("m", 300)+`"`, 1):             "invalid_value model_name",
		strings.TrimSuffix(params(""), "}") + `,"model_info":{"id":"a b"}}`:                 "invalid_value model_info.id",
		strings.TrimSuffix(params(""), "}") + `,"model_info":{"max_tokens":-5}}`:            "invalid_value model_info.max_tokens",
		strings.TrimSuffix(params(""), "}") + `,"model_info":{"base_model":"a b"}}`:         "invalid_value model_info.base_model",
		strings.TrimSuffix(params(""), "}") + `,"blocked":true}`:                            "unknown_field blocked",
		strings.TrimSuffix(params(""), "}") + `,"model_info":{"mode":"chat","id":7}}`:       "invalid_type model_info.id",
		strings.TrimSuffix(params(""), "}") + `,"model_info":{"cooldown_time":1}}`:          "unknown_field model_info.cooldown_time",
		strings.TrimSuffix(params(`,"mock_response":"x"`), "}") + `,"model_info":{"id":1}}`: "unknown_field gateway_params.mock_response",
	} {
		a := ask(t, s, "POST /model/new", body, nil)
		if a.status != http.StatusBadRequest || a.refusal(t) != want {
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

// All that is wrong is told at once.
func TestAllProblemsAreTold(t *testing.T) {
	s, _ := newFake(t)
	a := ask(t, s, "POST /model/new", `{"model_name":"","gateway_params":{"model":"acme/x"}}`, nil)
	e, _ := a.json(t)["error"].(map[string]any)
	details, _ := e["details"].(map[string]any)
	if list, _ := details["problems"].([]any); len(list) != 2 || !strings.Contains(a.body, "gateway_params.model") {
		t.Errorf("%s", a.body)
	}
}
