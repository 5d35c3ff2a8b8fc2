package mgmt

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/event"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// amountsRecorded returns the amounts in the records after a number, as "resource field old
// new", and the number of the last record.
func amountsRecorded(t *testing.T, n *fakeNode, after uint64) (lines []string, last uint64) {
	t.Helper()
	last = after
	for _, r := range (auditOf{n}).records(t, after+1) {
		last = r.Number
		var full struct {
			Details struct {
				Amounts []map[string]any `json:"amounts"`
				More    int              `json:"more_amounts"`
			} `json:"details"`
		}
		if err := json.Unmarshal(r.Full(), &full); err != nil {
			t.Fatalf("%s: %v", r.Full(), err)
		}
		for _, a := range full.Details.Amounts {
			name := fmt.Sprint(a["resource_id"])
			lines = append(lines, fmt.Sprint(a["resource_type"], " ", name[:min(len(name), 9)], " ", a["field"], " ", a["old"], " ", a["new"]))
		}
		if full.Details.More > 0 {
			lines = append(lines, fmt.Sprint(full.Details.More, " more"))
		}
	}
	return lines, last
}

// The audit log has the old and the new value of every limit, and no other values of fields.
func TestAmountsAreRecorded(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	const secret = "sk-a-key-that-is-secret-01"
	key := "sha256:" + hexOf(secret)[:2]
	last := uint64(0)
	for _, c := range []struct {
		target, body string
		want         []string
	}{
		{"POST /organization/new", `{"organization_id":"acme","organization_alias":"canary","max_budget":100}`, []string{"organization acme max_budget <nil> 100"}},
		{"POST /team/new", `{"team_id":"red","organization_id":"acme","team_alias":"canary","metadata":{"canary":"canary"},"team_member_budget":2}`, []string{"team red team_member_budget <nil> 2"}},
		{"POST /team/update", `{"team_id":"red","rpm_limit":7,"team_member_budget":null}`, []string{"team red rpm_limit <nil> 7", "team red team_member_budget 2 <nil>"}},
		{"POST /user/new", `{"user_id":"ada","user_alias":"canary","max_budget":3,"auto_create_key":false}`, []string{"user ada max_budget <nil> 3"}},
		{"POST /user/update", `{"user_id":"ada","max_budget":4,"blocked":true}`, []string{"user ada max_budget 3 4"}},
		{"POST /organization/member_add", `{"organization_id":"acme","member":{"role":"internal_user","user_id":"ada"},"max_budget_in_organization":1.5}`, []string{"organization_member acme/ada max_budget_in_organization <nil> 1.5"}},
		{"POST /team/member_add", `{"team_id":"red","member":[{"user_id":"bob","role":"user"}],"max_budget_in_team":1}`, []string{"team_member red/bob max_budget_in_team <nil> 1"}},
		{"POST /team/member_update", `{"team_id":"red","user_id":"bob","max_budget_in_team":9}`, []string{"team_member red/bob max_budget_in_team 1 9"}},
		{"POST /key/generate", `{"key":"` + secret + `","metadata":{"canary":"canary"},"max_budget":5,"budget_duration":"1d"}`, []string{"key " + key + " budget_duration <nil> 1d", "key " + key + " max_budget <nil> 5"}},
		{"POST /key/update", `{"key":"` + secret + `","max_budget":6,"model_max_budget":{"fast":{"max_budget":0.000000000001}}}`, []string{"key " + key + " max_budget 5 6", "key " + key + " model_max_budget.fast.max_budget <nil> 1e-12"}},
		{"POST /key/update", `{"key":"` + secret + `","max_budget":6,"metadata":{"canary":"canary2"}}`, nil},
		{"POST /key/" + secret + "/reset_spend", `{"reset_to":0}`, []string{"key " + key + " spend 0 0"}},
		{"POST /key/delete", `{"keys":["` + secret + `"]}`, nil},
		{"POST /customer/new", `{"user_id":"c1","max_budget":8}`, []string{"customer c1 max_budget <nil> 8"}},
		{"POST /budget/new", `{"budget_id":"gold","max_budget":5,"soft_budget":4}`, []string{"budget gold max_budget <nil> 5", "budget gold soft_budget <nil> 4"}},
		{"POST /budget/update", `{"budget_id":"gold","max_budget":50}`, []string{"budget gold max_budget 5 50"}},
	} {
		if a := ask(t, s, c.target, c.body, nil); a.status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", c.target, c.body, a.status, a.body)
		}
		var got []string
		got, last = amountsRecorded(t, n, last)
		for i := range got {
			got[i] = strings.Replace(got[i], "key sha256:"+hexOf(secret)[:2], "key "+key, 1)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s (- want):\n%s", c.target, c.body, diff)
		}
	}
	for _, r := range (auditOf{n}).records(t, 1) {
		if strings.Contains(string(r.Full()), "canary") || strings.Contains(string(r.Full()), secret) {
			t.Errorf("a record has what nobody may see: %s", r.Full())
		}
	}
}

// The size of a record is bounded, however many limits a change has.
func TestAmountsAreBounded(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	var models []string
	for i := range event.MaxListed + 7 {
		models = append(models, fmt.Sprintf(`"m%d":%d`, i, i+1))
	}
	if a := ask(t, s, "POST /key/generate", `{"model_rpm_limit":{`+strings.Join(models, ",")+`}}`, nil); a.status != http.StatusOK {
		t.Fatal(a.body)
	}
	if got, _ := amountsRecorded(t, n, 0); len(got) != event.MaxListed+1 || got[event.MaxListed] != "7 more" {
		t.Errorf("%d lines: %v", len(got), got)
	}
}

// The record of a rotation names both hashes of the key, and the fields that changed with it.
func TestRotationNamesBoth(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	const first, second, third = "sk-a-key-that-is-secret-01", "sk-a-key-that-is-secret-02", "sk-a-key-that-is-secret-03"
	play(t, s, []step{
		{"", "POST /user/new", `{"user_id":"ada","auto_create_key":false}`, "200"},
		{"", "POST /key/generate", `{"key":"` + first + `","user_id":"ada","max_budget":5}`, "200"},
		{"", "POST /key/regenerate", `{"key":"` + first + `","new_key":"` + second + `","max_budget":6}`, "200"},
		{second, "POST /key/regenerate", `{"new_key":"` + third + `","grace_period":"1h"}`, "200"}, // its own
	})
	type rotation struct {
		Key     string `json:"user_key_hash"`
		Details struct {
			Replaced string         `json:"replaced_key_hash"`
			Amounts  []event.Amount `json:"amounts"`
		} `json:"details"`
	}
	var got []rotation
	for _, r := range (auditOf{n}).records(t, 1) {
		if r.Type == event.TypeKeyRotated {
			var one rotation
			if err := json.Unmarshal(r.Full(), &one); err != nil {
				t.Fatal(err)
			}
			got = append(got, one)
		}
	}
	want := make([]rotation, 2)
	for i, pair := range [][2]string{{first, second}, {second, third}} {
		want[i].Details.Replaced, want[i].Key = "sha256:"+hexOf(pair[0]), "sha256:"+hexOf(pair[1])
	}
	want[0].Details.Amounts = []event.Amount{{Resource: "key", ID: "sha256:" + hexOf(second), Field: "max_budget", Old: 5.0, New: 6.0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(- want):\n%s", diff)
	}
}

// Records show each model with spend, up to their limit, and each model with a budget.
func TestRecordsShowModels(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	play(t, o.Server, []step{{"", "POST /key/update", `{"key":"` + o.token("mate/red") + `","model_max_budget":{"zzz":{"max_budget":5}}}`, "200"}})
	o.use(t, "mate", "2026-06-28", 1e12, nil)
	o.use(t, "mate", "2026-06-29", 2e12, func(e *clusterv1.UsageEvent) { e.Group = "slow" })
	const both = "map[fast:1 slow:2]"
	if info := keyInfo(t, o.Server, o.token("mate/red")); fmt.Sprint(info["model_spend"]) != "map[fast:1 slow:2 zzz:0]" {
		t.Errorf("the key: %v", info["model_spend"])
	}
	for _, c := range []struct {
		target string
		names  []string
	}{
		{"/team/info?team_id=red", []string{"team_info"}},
		{"/user/info?user_id=mate", []string{"user_info"}},
		{"/organization/info?organization_id=acme", nil},
	} {
		a := ask(t, o.Server, "GET "+c.target, "", nil)
		if v := down(t, a.json(t), c.names...); fmt.Sprint(down(t, v, "model_spend")) != both {
			t.Errorf("%s: %v", c.target, down(t, v, "model_spend"))
		}
	}
	for i := range mostModels + 5 {
		o.use(t, "mate", "2026-06-29", 1, func(e *clusterv1.UsageEvent) { e.Group = fmt.Sprintf("made-up-%04d", i) })
	}
	if shown, _ := keyInfo(t, o.Server, o.token("mate/red"))["model_spend"].(map[string]any); len(shown) != mostModels+1 || shown["zzz"] != 0.0 {
		t.Errorf("%d models", len(shown))
	}
}

// A key without a user sees its own usage, under all of its hashes, and unknown fields of an
// attempt are null.
func TestSpendLogsOfAKeyWithoutUser(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	const first, second = "sk-a-key-that-is-secret-01", "sk-a-key-that-is-secret-02"
	play(t, o.Server, []step{{"", "POST /key/generate", `{"key":"` + first + `"}`, "200"}})
	of := func(text string) func(e *clusterv1.UsageEvent) {
		return func(e *clusterv1.UsageEvent) {
			e.Deployment = "from-the-file"
			h, _ := reference("key", text)
			e.KeyHash, e.Team, e.User, e.Organization, e.EndUser, e.KeyAlias = h[:], "", "", "", "", ""
			if origin, _ := reference("key", first); text != first {
				e.OriginHash = origin[:]
			}
		}
	}
	o.use(t, "mate", "2026-06-28", 1e12, nil)
	o.use(t, "mate", "2026-06-28", 2e12, of(first))
	play(t, o.Server, []step{{"", "POST /key/regenerate", `{"key":"` + first + `","new_key":"` + second + `"}`, "200"}})
	o.use(t, "mate", "2026-06-29", 3e12, of(second))
	for query, want := range map[string]string{"": "[3 2]", "?api_key=" + second: "[3 2]", "?api_key=" + hexOf(first): "[3 2]", "?team_id=red": "[]"} {
		var got []any
		for _, one := range listOf(t, asking(t, o.Server, second, "GET /spend/logs"+query, "")) {
			got = append(got, down(t, one, "spend"))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q: %v, want %s", query, got, want)
		}
	}
	row, _ := listOf(t, asking(t, o.Server, second, "GET /spend/logs?limit=1", ""))[0].(map[string]any)
	for name, v := range row {
		if v == "" {
			t.Errorf("%s is empty and not null", name)
		}
	}
	for _, name := range []string{"key_alias", "end_user", "error_code", "finish_reason", "completionStartTime", "service_tier", "team_id", "user", "session_id", "api_base"} {
		if v, there := row[name]; v != nil || !there {
			t.Errorf("%s is %v", name, v)
		}
	}
	if row["cache_hit"] != false || slices.Contains([]any{row["model"], row["spend"]}, nil) {
		t.Errorf("%v", row)
	}
}
