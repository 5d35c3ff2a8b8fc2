package mgmt

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// looks sends requests in order and compares the status, the error and the parts of each
// response that are named, as JSON.
func looks(t *testing.T, s *Server, all []look) {
	t.Helper()
	for _, one := range all {
		a := asking(t, s, one.who, one.target, one.body)
		got := fmt.Sprint(a.status)
		if a.status >= 400 {
			got += " " + a.refusal(t)
		} else if one.show != "" {
			got += " " + shownMembers(t, a.body, one.show)
		}
		if got != one.want {
			t.Errorf("%s %s:\n%s, want\n%s\n%s", one.target, one.body, got, one.want, a.body)
		}
	}
}

// look is one request. show names members of the response that want has after the status.
type look struct{ who, target, body, show, want string }

// shownMembers returns members of an object as the response has them, with the order of what is
// in them.
func shownMembers(t *testing.T, body, names string) string {
	t.Helper()
	var members map[string]jsontext.Value
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var out []string
	for name := range strings.SplitSeq(names, " ") {
		v := members[name]
		if err := v.Compact(); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		out = append(out, string(v))
	}
	return strings.Join(out, " ")
}

// TestPromptContent: what a version has comes back as it was sent, with the order of its members,
// and what is not sent again stays.
func TestPromptContent(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	messages := `[{"role":"system","content":"Be {{ mood }}."},{"role":"user","content":[{"type":"text","text":"{{ b }}"},{"image_url":{"url":"https://x/{{ a }}"},"type":"image_url"}]},{"role":"placeholder","name":"history"},{"role":"placeholder","name":"messages"}]`
	shown := `[{"role":"system","content":"Be {{ mood }}."},{"role":"user","content":[{"type":"text","text":"{{ b }}"},{"image_url":{"url":"https://x/{{ a }}"},"type":"image_url"}]},{"role":"placeholder","content":null,"name":"history"},{"role":"placeholder","content":null,"name":"messages"}]`
	config := `{"response_format":{"type":"json_schema","json_schema":{"z":1,"a":{"y":1.50,"b":2}}},"model":"fast","temperature":0.2,"max_tokens":50,"stop":["x"],"tools":[{"type":"function","name":"f"}],"metadata":{"team":"x"},"enforce":["model","temperature"]}`
	shownConfig := `{"stop":["x"],"response_format":{"type":"json_schema","json_schema":{"z":1,"a":{"y":1.50,"b":2}}},"tools":[{"type":"function","name":"f"}],"tool_choice":null,"metadata":{"team":"x"},"enforce":["model","temperature"],"model":"fast","temperature":0.2,"max_tokens":50}`
	schema := `{"type":"object","properties":{"z":{"type":"string"},"a":{"enum":[1.0]}},"required":["z"]}`
	looks(t, s, []look{
		{"", "POST /prompts", `{"prompt_name":"p","messages":` + messages + `,"variables":["b"],"config":` + config + `,"variable_schema":` + schema + `}`, "variables", `200 ["b","mood","a","history"]`},
		{"", "GET /prompts/p", "", "messages", "200 " + shown},
		{"", "GET /prompts/p", "", "variable_schema labels", "200 " + schema + ` ["latest"]`},
		{"", "PUT /prompts/p", `{"messages":[{"role":"user","content":"x"}]}`, "variable_schema version variables", "200 " + schema + " 2 []"},
		{"", "PUT /prompts/p", `{"messages":[{"role":"user","content":"x"}],"config":{},"variable_schema":{}}`, "variable_schema version config", "200 null 3 null"},
		{"", "POST /prompts/p/rollback", `{"version":1}`, "variable_schema messages version variables", "200 " + schema + " " + shown + ` 4 ["b","mood","a","history"]`},
		{"", "POST /prompts/p/rollback", `{"version":9}`, "", "404 prompt_version_not_found version"},
		{"", "POST /prompts/p/rollback", `{"version":0}`, "", "422 missing_required_parameter version"},
	})
	got := jsontext.Value(shownMembers(t, ask(t, s, "GET /prompts/p?version=1", "", nil).body, "config"))
	want := jsontext.Value(shownConfig)
	inner := shownMembers(t, string(got), "response_format")
	if inner != `{"type":"json_schema","json_schema":{"z":1,"a":{"y":1.50,"b":2}}}` {
		t.Errorf("the order or the digits are lost: %s", inner)
	}
	_, _ = got.Canonicalize(), want.Canonicalize()
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestRejectedPrompts: errors name the field as the request has it.
func TestRejectedPrompts(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	create := func(more string) string {
		return `{"prompt_name":"p","messages":[{"role":"user","content":"x"}],` + more + `}`
	}
	looks(t, s, []look{
		{"", "POST /prompts", create(`"config":{"temprature":1}`), "", "422 unknown_field config.temprature"},
		{"", "POST /prompts", create(`"config":{"temperature":3}`), "", "422 invalid_value config.temperature"},
		{"", "POST /prompts", create(`"config":{"temperature":"1"}`), "", "422 invalid_type config.temperature"},
		{"", "POST /prompts", create(`"config":{"tools":{}}`), "", "422 invalid_value config.tools"},
		{"", "POST /prompts", create(`"config":{"top_p":1,"enforce":["temperature"]}`), "", "422 invalid_value config.enforce[0]"},
		{"", "POST /prompts", create(`"variable_schema":{"$ref":"#/x"}`), "", "422 invalid_value variable_schema"},
		{"", "POST /prompts", create(`"variable_schema":` + strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat(`}`, 40)), "", "422 too_deep variable_schema"},
		{"", "POST /prompts", `{"prompt_name":"p","messages":[{"role":"user","content":7}]}`, "", "422 invalid_type messages[0].content"},
		{"", "POST /prompts", `{"prompt_name":"p","messages":[{"role":"user","content":[{"type":"text","text":"{{"}]}]}`, "", "422 invalid_template messages[0].content[0].text"},
		{"", "POST /prompts", `{"prompt_name":"p","messages":[{"role":"placeholder"}]}`, "", "422 invalid_value messages[0].name"},
		{"", "POST /prompts", `{"prompt_name":"p","messages":[{"role":"tool","content":"x"}]}`, "", "422 invalid_value messages[0].role"},
		{"", "GET /prompts/p", "", "", "404 prompt_not_found prompt_id"},
	})
}

// TestPromptLabels: what labels name, and what is no label.
func TestPromptLabels(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	looks(t, s, []look{
		{"", "POST /prompts", `{"prompt_name":"p","messages":[{"role":"user","content":"one"}]}`, "labels default_label", `200 ["latest"] null`},
		{"", "PUT /prompts/p", `{"messages":[{"role":"user","content":"two"}]}`, "", "200"},
		{"", "PUT /prompts/p/labels/production", `{"version":1}`, "label is_default version split is_protected", `200 "production" false 1 [] false`},
		{"", "PUT /prompts/p/labels/canary", `{"split":[{"version":2,"weight":10},{"version":1,"weight":90}]}`, "version split", `200 null [{"version":1,"weight":90},{"version":2,"weight":10}]`},
		{"", "PATCH /prompts/p", `{"default_label":"production","protected_labels":["production"]}`, "default_label protected_labels version", `200 "production" ["production"] 2`},
		{"", "GET /prompts/p?version=1", "", "labels", `200 ["canary","production"]`},
		{"", "GET /prompts/p", "", "labels version", `200 ["latest","canary"] 2`},
		{"", "POST /prompts/p/render", `{}`, "version label messages", `200 1 "production" [{"role":"user","content":"one"},{"role":"placeholder","content":null,"name":"messages"}]`},
		{"", "POST /prompts/p/render", `{"label":"latest"}`, "version label", `200 2 "latest"`},
		{"", "POST /prompts/p/render", `{"version":2}`, "version label", `200 2 null`},
		{"", "POST /prompts/p/render", `{"version":2,"label":"canary"}`, "", "422 invalid_value label"},
		{"", "POST /prompts/p/render", `{"label":"none"}`, "", "404 prompt_label_not_found label"},
		{"", "DELETE /prompts/p/labels/production", "", "", "409 label_in_use"},
		{"", "PATCH /prompts/p", `{"default_label":"none"}`, "", "422 prompt_label_not_found default_label"},
		{"", "PATCH /prompts/p", `{"default_label":null,"protected_labels":[]}`, "default_label protected_labels", `200 null []`},
		{"", "DELETE /prompts/p/labels/production", "", "label deleted", `200 "production" true`},
		{"", "DELETE /prompts/p/labels/production", "", "", "404 prompt_label_not_found label"},
		{"", "PUT /prompts/p/labels/latest", `{"version":1}`, "", "422 invalid_value label"},
		{"", "PUT /prompts/p/labels/Upper", `{"version":1}`, "", "422 invalid_value label"},
		{"", "PUT /prompts/p/labels/a", `{}`, "", "422 missing_required_parameter version"},
		{"", "PUT /prompts/p/labels/a", `{"version":1,"split":[{"version":1,"weight":1}]}`, "", "422 invalid_value split"},
		{"", "PUT /prompts/p/labels/a", `{"split":[]}`, "", "422 missing_required_parameter version"},
		{"", "PUT /prompts/p/labels/a", `{"version":9}`, "", "422 prompt_version_not_found version"},
		{"", "PUT /prompts/p/labels/a", `{"version":0}`, "", "422 invalid_value version"},
		{"", "PUT /prompts/p/labels/a", `{"version":"1"}`, "", "422 invalid_type version"},
		{"", "PUT /prompts/p/labels/a", `{"split":[{"version":1,"weight":-1}]}`, "", "422 invalid_value split[0].weight"},
		{"", "PUT /prompts/p/labels/a", `{"split":[{"version":1,"weight":1},{"version":3,"weight":1}]}`, "", "422 prompt_version_not_found version"},
		{"", "PUT /prompts/p/labels/a", `{"split":[` + strings.TrimSuffix(strings.Repeat(`{"version":1,"weight":1},`, 11), ",") + `]}`, "", "422 too_long split"},
		{"", "PUT /prompts/none/labels/a", `{"version":1}`, "", "404 prompt_not_found name"},
	})
	var list struct {
		Labels []struct {
			Label     string
			Version   *int
			IsDefault bool `json:"is_default"`
		}
	}
	if err := json.Unmarshal([]byte(ask(t, s, "GET /prompts/p/labels", "", nil).body), &list, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	if l := list.Labels; len(l) != 2 || l[0].Label != "canary" || l[0].Version != nil || l[1].Label != "latest" || *l[1].Version != 2 || !l[1].IsDefault {
		t.Errorf("the labels are %+v", l)
	}
	got, _ := recorded(t, n, 0)
	want := []string{"prompt.version_published created", "prompt.version_published updated", "prompt.label_moved updated", "prompt.label_moved updated", "management.changed updated", "management.changed updated", "prompt.label_moved deleted"}
	for i := range got {
		got[i] = strings.Join(strings.Split(got[i], " ")[:2], " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	found := false
	for _, r := range (auditOf{n}).records(t, 1) {
		found = found || strings.Contains(string(r.Full()), `"amounts":[{"field":"version","new":"1:90 2:10","old":null,"resource_id":"canary","resource_type":"prompt_label"}]`)
	}
	if !found {
		t.Error("no record says what the label canary names")
	}
}

// TestLabelPreconditions: a label is moved by who has read the prompt as it is.
func TestLabelPreconditions(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	made := ask(t, s, "POST /prompts", `{"prompt_name":"p","messages":[{"role":"user","content":"one"}]}`, nil)
	tag := made.header.Get("ETag")
	moved := ask(t, s, "PUT /prompts/p/labels/a", `{"version":1}`, with("If-Match", tag))
	if tag == "" || moved.status != 200 || moved.header.Get("ETag") == tag || moved.header.Get("ETag") == "" {
		t.Fatalf("%q: %d %v %s", tag, moved.status, moved.header, moved.body)
	}
	for _, target := range []string{"PUT /prompts/p/labels/a", "PUT /prompts/p/labels/b"} {
		if a := ask(t, s, target, `{"version":1}`, with("If-Match", tag)); a.status != 409 {
			t.Errorf("%s with an old tag: %d %s", target, a.status, a.body)
		}
	}
}

// TestWhoMovesLabels: members of the organization move labels, its admins also those that are
// protected, and nobody else knows the prompt.
func TestWhoMovesLabels(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	looks(t, o.Server, []look{
		{o.keys["boss"], "POST /prompts", `{"prompt_name":"p","organization_id":"acme","messages":[{"role":"user","content":"one"}],"protected_labels":["production"]}`, "protected_labels", `200 ["production"]`},
		{o.keys["mate"], "PUT /prompts/p/labels/staging", `{"version":1}`, "label", `200 "staging"`},
		{o.keys["mate"], "PUT /prompts/p/labels/production", `{"version":1}`, "", "403 insufficient_permissions label"},
		{o.keys["mate"], "DELETE /prompts/p/labels/staging", "", "label", `200 "staging"`},
		{o.keys["mate"], "PATCH /prompts/p", `{"protected_labels":[]}`, "", "403 insufficient_permissions organization_id"},
		{o.keys["mate"], "PUT /prompts/p", `{"messages":[{"role":"user","content":"two"}]}`, "", "403 insufficient_permissions organization_id"},
		{o.keys["boss"], "PUT /prompts/p/labels/production", `{"version":1}`, "is_protected", "200 true"},
		{o.keys["alone"], "PUT /prompts/p/labels/staging", `{"version":1}`, "", "404 prompt_not_found name"},
		{o.keys["alone"], "GET /prompts/p/labels", "", "", "404 prompt_not_found prompt_id"},
	})
}

// TestPromptDiff: each field that differs has both its values, and the text shows the lines.
func TestPromptDiff(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	looks(t, s, []look{
		{"", "POST /prompts", `{"prompt_name":"p","messages":[{"role":"system","content":"one\ntwo {{ a }}"}],"config":{"temperature":0.5}}`, "", "200"},
		{"", "GET /prompts/p/diff", "", "from to changes text", `200 1 1 [] ""`},
		{"", "PUT /prompts/p", `{"messages":[{"role":"system","content":"one\nTWO {{ a }}"},{"role":"placeholder","name":"h"}],"config":{"temperature":0.5,"stop":["x"],"enforce":["temperature"]}}`, "", "200"},
		{
			"", "GET /prompts/p/diff", "", "from to changes",
			`200 1 2 [{"field":"messages[0]","from":{"role":"system","content":"one\ntwo {{ a }}"},"to":{"role":"system","content":"one\nTWO {{ a }}"}},{"field":"messages[1]","from":null,"to":{"role":"placeholder","name":"h"}},` +
				`{"field":"variables","from":["a"],"to":["a","h"]},{"field":"config.stop","from":null,"to":["x"]},{"field":"config.enforce","from":null,"to":["temperature"]}]`,
		},
		{
			"", "GET /prompts/p/diff?from=2&to=1", "", "from to text",
			`200 2 1 "--- p@2\n+++ p@1\n@@ -1,7 +1,5 @@\n-temperature: 0.5 (enforced)\n-stop: [\"x\"]\n-variables: a, h\n+temperature: 0.5\n+variables: a\n [system]\n one\n-TWO {{ a }}\n-[placeholder h]\n+two {{ a }}\n"`,
		},
		{"", "GET /prompts/p/diff?from=3", "", "", "404 prompt_version_not_found from"},
		{"", "GET /prompts/p/diff?from=0", "", "", "422 invalid_value from"},
	})
}

// TestIncludedPromptIsNotDeleted: the response names the prompts that include it.
func TestIncludedPromptIsNotDeleted(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	looks(t, s, []look{
		{"", "POST /prompts", `{"prompt_name":"tone","messages":[{"role":"system","content":"Be {{ mood }}."}]}`, "", "200"},
		{"", "POST /prompts", `{"prompt_name":"p","messages":[{"role":"system","content":"{% include 'prompt:tone' %} Help."}]}`, "", "200"},
		{"", "POST /prompts/p/render", `{"variables":{"mood":"kind","x":1}}`, "messages unused_variables missing_variables estimated_tokens", `200 [{"role":"system","content":"Be kind. Help."},{"role":"placeholder","content":null,"name":"messages"}] ["x"] [] 1`},
		{"", "DELETE /prompts/tone", "", "", "409 prompt_in_use name"},
		{"", "POST /prompts", `{"prompt_name":"q","messages":[{"role":"system","content":"{% include 'prompt:none' %}"}]}`, "", "422 invalid_template messages"},
		{"", "DELETE /prompts/p", "", "deleted", "200 true"},
		{"", "DELETE /prompts/tone", "", "deleted", "200 true"},
	})
	if a := ask(t, s, "GET /prompts/tone", "", nil); a.status != 404 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
