package mgmt

import (
	"fmt"
	"net/http"
	"testing"
)

func settings(t *testing.T, a answer) map[string]any {
	t.Helper()
	v, _ := a.json(t)["router_settings"].(map[string]any)
	return v
}

func TestSettingsAreMergedAndShown(t *testing.T) {
	s, _ := newFake(t)
	before := settings(t, ask(t, s, "GET /config", "", nil))
	if before["routing_strategy"] != "simple_shuffle" || before["timeout"] != 600.0 || fmt.Sprint(before["retry_on"]) != "[5xx 429 timeout connection]" || fmt.Sprint(before["fallbacks"]) != "[]" {
		t.Errorf("%v", before)
	}
	a := ask(t, s, "POST /config/update", `{"router_settings":{"num_retries":0,"retry_after":0.25,"fallbacks":[{"fast":["slow"]}],"model_group_alias":{"quick":"fast"},"retry_on":[]}}`, nil)
	if a.status != http.StatusOK || a.header.Get(HeaderRevision) != "42" || a.json(t)["message"] != "Config updated successfully" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a = ask(t, s, "POST /config/update", `{"router_settings":{"routing_strategy":"least-busy","disable_cooldowns":true,"timeout":null}}`, nil)
	after := settings(t, ask(t, s, "GET /router/settings", "", nil))
	if fmt.Sprint(after) != fmt.Sprint(settings(t, a)) {
		t.Errorf("%v\n%s", after, a.body)
	}
	want := map[string]string{
		"num_retries": "0", "retry_after": "0.25", "fallbacks": "[map[fast:[slow]]]", "model_group_alias": "map[quick:fast]",
		"routing_strategy": "least_busy", "disable_cooldowns": "true", "timeout": "600", "retry_on": "[429 connection]",
	}
	for name, v := range want {
		if fmt.Sprint(after[name]) != v {
			t.Errorf("%s: %v, want %s", name, after[name], v)
		}
	}
	if a = ask(t, s, "POST /config/update", `{"router_settings":{"fallbacks":[]}}`, nil); fmt.Sprint(settings(t, a)["fallbacks"]) != "[]" {
		t.Errorf("an empty list is a list: %s", a.body)
	}
	if a = ask(t, s, "POST /config/update", `{"router_settings":{"num_retries":1},"if_revision":12345}`, nil); a.status != http.StatusConflict {
		t.Errorf("another revision: %d %s", a.status, a.body)
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	s, n := newFake(t)
	for body, want := range map[string]string{
		`{}`:                                                                  "missing_required_parameter router_settings",
		`{"router_settings":null}`:                                            "missing_required_parameter router_settings",
		`{"general_settings":{}}`:                                             "unknown_field general_settings",
		`{"router_settings":{"redis_host":"x"}}`:                              "unknown_field router_settings.redis_host",
		`{"router_settings":{"num_retries":"2"}}`:                             "invalid_type router_settings.num_retries",
		`{"router_settings":{"num_retries":1.5}}`:                             "invalid_value router_settings.num_retries",
		`{"router_settings":{"num_retries":21}}`:                              "invalid_value router_settings.num_retries",
		`{"router_settings":{"num_retries":-1}}`:                              "invalid_value router_settings.num_retries",
		`{"router_settings":{"timeout":0}}`:                                   "invalid_value router_settings.timeout",
		`{"router_settings":{"timeout":-1}}`:                                  "invalid_value router_settings.timeout",
		`{"router_settings":{"timeout":1e30}}`:                                "invalid_value router_settings.timeout",
		`{"router_settings":{"timeout":"30s"}}`:                               "invalid_type router_settings.timeout",
		`{"router_settings":{"routing_strategy":"fastest"}}`:                  "unknown_strategy router_settings.routing_strategy",
		`{"router_settings":{"retry_on":["6xx"]}}`:                            "invalid_value router_settings.retry_on",
		`{"router_settings":{"retry_on":[5]}}`:                                "invalid_type router_settings.retry_on[0]",
		`{"router_settings":{"retry_on":"5xx"}}`:                              "invalid_type router_settings.retry_on",
		`{"router_settings":{"fallbacks":{"a":["b"]}}}`:                       "invalid_type router_settings.fallbacks",
		`{"router_settings":{"fallbacks":["a"]}}`:                             "invalid_type router_settings.fallbacks[0]",
		`{"router_settings":{"fallbacks":[{"fast":"slow"}]}}`:                 "invalid_type router_settings.fallbacks[0].fast",
		`{"router_settings":{"fallbacks":[{"fast":[1]}]}}`:                    "invalid_type router_settings.fallbacks[0].fast[0]",
		`{"router_settings":{"model_group_alias":{"a":1}}}`:                   "invalid_type router_settings.model_group_alias.a",
		`{"router_settings":{"model_group_alias":{"a":"nope"}}}`:              "unknown_model router_settings.model_group_alias.a",
		`{"router_settings":{},"if_revision":-1}`:                             "invalid_value if_revision",
		`{"router_settings":{"disable_cooldowns":"true"},"if_revision":null}`: "invalid_type router_settings.disable_cooldowns",
	} {
		if a := ask(t, s, "POST /config/update", body, nil); a.status != http.StatusBadRequest || a.refusal(t) != want {
			t.Errorf("%s: %d %s, want %s", body, a.status, a.body, want)
		}
	}
	if n.View().Revision != 41 {
		t.Error("something was changed")
	}
}
