package mgmt

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

func settingsIn(t *testing.T, a answer) map[string]any {
	t.Helper()
	v, _ := a.json(t)["router_settings"].(map[string]any)
	return v
}

func TestSettingsAreMergedAndShown(t *testing.T) {
	s, _ := newFake(t)
	before := settingsIn(t, ask(t, s, "GET /config", "", nil))
	if before["routing_strategy"] != "simple_shuffle" || before["timeout"] != 600.0 || fmt.Sprint(before["retry_on"]) != "[5xx 429 timeout connection]" || fmt.Sprint(before["fallbacks"]) != "[]" {
		t.Errorf("%v", before)
	}
	a := ask(t, s, "POST /config/update", `{"router_settings":{"num_retries":0,"retry_after":0.25,"fallbacks":[{"fast":["slow"]}],"model_group_alias":{"quick":"fast"},"retry_on":[]}}`, nil)
	if a.status != http.StatusOK || a.header.Get(operation.HeaderRevision) != "42" || a.json(t)["message"] != "Config updated successfully" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a = ask(t, s, "POST /config/update", `{"router_settings":{"routing_strategy":"least-busy","disable_cooldowns":true,"timeout":null}}`, nil)
	after := settingsIn(t, ask(t, s, "GET /router/settings", "", nil))
	if fmt.Sprint(after) != fmt.Sprint(settingsIn(t, a)) {
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
	if a = ask(t, s, "POST /config/update", `{"router_settings":{"fallbacks":[]}}`, nil); fmt.Sprint(settingsIn(t, a)["fallbacks"]) != "[]" {
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
		`{"general_settings":{}}`:                                             "missing_required_parameter router_settings",
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
		if a := ask(t, s, "POST /config/update", body, nil); a.status != http.StatusUnprocessableEntity || a.refusal(t) != want {
			t.Errorf("%s: %d %s, want %s", body, a.status, a.body, want)
		}
	}
	if n.View().Revision != 41 {
		t.Error("something was changed")
	}
}

// Settings can be changed one by one; a deleted one has the value of the file.
func TestSettingsFieldByField(t *testing.T) {
	s, n := newFake(t)
	a := ask(t, s, "GET /config/list", "", nil)
	var list []map[string]any
	if err := json.Unmarshal([]byte(a.body), &list); err != nil || len(list) != len(catalog.RouterFields()) {
		t.Fatalf("%d fields, %v: %s", len(list), err, a.body)
	}
	for _, f := range list {
		if f["field_description"] == "" || f["stored_in_db"] != false || fmt.Sprint(f["field_value"]) != fmt.Sprint(f["field_default_value"]) {
			t.Errorf("%v", f)
		}
	}
	for name, value := range map[string]string{
		"routing_strategy": `"least_busy"`, "num_retries": "7", "retry_after": "0.25", "timeout": "2.5", "stream_timeout": "9", "cooldown_time": "0",
		"allowed_fails": "3", "max_fallbacks": "1", "retry_on": `["429","connection"]`, "disable_cooldowns": "true", "enable_pre_call_checks": "true",
		"model_group_alias": `{"quick":"fast"}`, "fallbacks": `[{"fast":["slow"]}]`, "default_fallbacks": `["slow"]`,
		"context_window_fallbacks": `[{"slow":["fast"]}]`, "content_policy_fallbacks": `[{"fast":["slow"]}]`,
	} {
		before := ask(t, s, "GET /config/field/info?field_name="+name, "", nil).json(t)
		set := ask(t, s, "POST /config/field/update", `{"field_name":"`+name+`","field_value":`+value+`}`, nil)
		now := ask(t, s, "GET /config/field/info?field_name="+name+"&config_type=router_settings", "", nil)
		if set.status != http.StatusOK || set.body != now.body || now.json(t)["stored_in_db"] != true || fmt.Sprint(now.json(t)["field_value"]) == fmt.Sprint(before["field_value"]) {
			t.Errorf("%s: %s, then %s", name, set.body, now.body)
		}
		gone := ask(t, s, "POST /config/field/delete", `{"field_name":"`+name+`"}`, nil)
		if gone.status != http.StatusOK || fmt.Sprint(gone.json(t)) != fmt.Sprint(before) {
			t.Errorf("%s: %s, want %v", name, gone.body, before)
		}
	}
	if patch, revision := n.View().Catalog.Patch(); revision == 0 || patch.NumRetries != nil || patch.Fallbacks != nil {
		t.Errorf("%d %+v", revision, patch)
	}
	play(t, s, []step{
		{"", "GET /config/field/info?field_name=nope", "", "404 setting_not_found field_name"},
		{"", "POST /config/field/delete", `{"field_name":"nope"}`, "404 setting_not_found field_name"},
		{"", "POST /config/field/delete", `{"field_name":"stamp"}`, "404 setting_not_found field_name"},
		{"", "POST /config/field/update", `{"field_name":"num_retries"}`, "422 missing_required_parameter field_value"},
		{"", "POST /config/field/update", `{"field_name":"num_retries","field_value":null}`, "422 invalid_value field_value"},
		{"", "POST /config/field/update", `{"field_name":"num_retries","field_value":"2"}`, "422 invalid_type field_value"},
		{"", "POST /config/field/update", `{"field_name":"num_retries","field_value":1.5}`, "422 invalid_value field_value"},
		{"", "POST /config/field/update", `{"field_name":"num_retries","field_value":99}`, "422 invalid_value router_settings.num_retries"},
		{"", "POST /config/field/update", `{"field_name":"fallbacks","field_value":{}}`, "422 invalid_type field_value"},
		{"", "POST /config/field/update", `{"field_name":"disable_cooldowns","field_value":1}`, "422 invalid_type field_value"},
		{"", "POST /config/field/update", `{"field_name":"num_retries","field_value":1,"if_revision":41}`, "409 revision_conflict"},
		{"", "POST /config/field/update", `{"field_name":"num_retries","field_value":1,"config_type":"general_settings"}`, "404 setting_not_found field_name"},
		{"", "POST /config/field/update", `{"field_name":"num_retries","field_value":1,"config_type":"other_settings"}`, "422 invalid_value config_type"},
		{plainKey, "GET /config", "", "403 insufficient_permissions"},
		{plainKey, "POST /config/field/update", `{"field_name":"num_retries","field_value":1}`, "403 insufficient_permissions"},
	})
}

// TestFieldsOfTheAPI: the API has each router setting, with its text, and no other. The
// flag -update writes the texts; make proto then takes them to openapi.json.
func TestFieldsOfTheAPI(t *testing.T) {
	const file = "../proto/gateway/v1/config.proto"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(src), "message RouterSettings {\n")
	message, after, _ := strings.Cut(rest, "}\n")
	texts, want := map[string]string{}, message
	for _, f := range catalog.RouterFields() {
		texts[f.Name] = f.Text
	}
	for _, field := range regexp.MustCompile(`  // (.*)\n(  .* (\w+) = \d+;\n)`).FindAllStringSubmatch(message, -1) {
		want = strings.Replace(want, field[0], "  // "+texts[field[3]]+"\n"+field[2], 1)
		delete(texts, field[3])
	}
	if len(texts) > 0 {
		t.Errorf("%s lacks %v", file, texts)
	}
	if fields := (*gatewayv1.RouterSettings)(nil).ProtoReflect().Descriptor().Fields().Len(); fields != len(catalog.RouterFields()) {
		t.Errorf("%d fields, %d settings", fields, len(catalog.RouterFields()))
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+"message RouterSettings {\n"+want+"}\n"+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, message); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
