package mgmt

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// recorded returns the audit records after a number, as "type action resource ids", and the
// number of the last record.
func recorded(t *testing.T, n *fakeNode, after uint64) (lines []string, last uint64) {
	t.Helper()
	last = after
	for _, r := range (auditOf{n}).records(t, after+1) {
		last = r.Number
		var full struct {
			Details struct {
				Action, Resource_type, Resource_id string
				Resource_ids                       []string
			} `json:"details"`
		}
		if err := json.Unmarshal(r.Full(), &full, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%s: %v", r.Full(), err)
		}
		d := full.Details
		of := append(slices.Clone(d.Resource_ids), d.Resource_id)
		lines = append(lines, strings.TrimSpace(fmt.Sprint(r.Type, " ", d.Action, " ", d.Resource_type, " ", strings.Trim(strings.Join(of, ","), ","))))
	}
	return lines, last
}

// Each change has its records, with those of its cascade, and none has a secret.
func TestEveryChangeIsRecorded(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	const secret = "sk-a-key-that-is-secret-01"
	bare := hexOf(secret)
	token := "sha256:" + bare
	last := uint64(0)
	for _, c := range []struct{ target, body, want string }{
		{"POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "management.changed created organization acme"},
		{"POST /team/new", `{"team_id":"red","organization_id":"acme"}`, "management.changed created team red"},
		{"POST /user/new", `{"user_id":"ada","auto_create_key":false}`, "user.provisioned created user ada"},
		{"POST /team/member_add", `{"team_id":"red","member":[{"user_id":"bob","role":"user"}]}`, "user.provisioned updated user bob; management.changed updated team red"},
		{"POST /key/generate", `{"key":"` + secret + `","team_id":"red","key_alias":"ci"}`, "key.created created key " + token},
		{"POST /key/update", `{"key":"` + secret + `","metadata":{"canary":"canary"},"max_budget":5}`, "management.changed updated key " + token},
		{"POST /key/block", `{"key":"` + secret + `"}`, "management.changed blocked key " + token},
		{"POST /key/" + secret + "/reset_spend", `{"reset_to":0}`, "management.changed reset key " + token},
		{"POST /key/delete", `{"keys":["` + secret + `"]}`, "key.revoked deleted key " + token},
		{"POST /key/generate", `{"key":"` + secret + `","team_id":"red"}`, "key.created created key " + token},
		{"POST /team/delete", `{"team_ids":["red"]}`, "key.revoked deleted key " + token + "; management.changed deleted team red"},
		{"POST /customer/new", `{"user_id":"c1"}`, "management.changed created customer c1"},
		{"POST /customer/block", `{"user_ids":["c1"]}`, "management.changed blocked customer c1"},
		{"POST /budget/new", `{"budget_id":"gold","max_budget":5}`, "management.changed created budget gold"},
		{"POST /budget/delete", `{"id":"gold"}`, "management.changed deleted budget gold"},
		{"POST /credentials", `{"credential_name":"main","credential_values":{"api_key":"canary"}}`, "management.changed created credential main"},
		{"POST /model/new", `{"model_name":"m","gateway_params":{"model":"openai/m","api_key":"canary"},"model_info":{"id":"m1"}}`, "management.changed created model m1"},
		{"POST /model/delete", `{"id":"m1"}`, "management.changed deleted model m1"},
		{"POST /fallbacks", `{"model":"fast","fallback_models":["slow"]}`, "management.changed created fallback fast"},
		{"POST /config/update", `{"router_settings":{"num_retries":3}}`, "management.changed updated config"},
		{"POST /config/field/update", `{"field_name":"num_retries","field_value":4}`, "management.changed updated config num_retries"},
		{"POST /user/update", `{"user_id":"ada","blocked":true}`, "user.deprovisioned updated user ada; management.changed updated user ada"},
		{"POST /user/delete", `{"user_ids":["ada"]}`, "user.deprovisioned deleted user ada"},
		{"POST /user/update", `{"user_id":"bob","user_alias":"Bob"}`, "management.changed updated user bob"},
	} {
		if a := ask(t, s, c.target, c.body, nil); a.status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", c.target, c.body, a.status, a.body)
		}
		var got []string
		if got, last = recorded(t, n, last); strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %s\nwant %s", c.target, strings.Join(got, "; "), c.want)
		}
	}
	before := last
	for _, c := range []step{
		{"", "POST /key/generate", `{"user_id":"nobody"}`, ""},
		{"", "POST /key/bulk_update", `{"keys":[{"key":"sk-nobody-has-this-0"}]}`, ""},
		{"", "GET /key/list", "", ""},
		{plainKey, "POST /team/new", `{}`, ""},
	} {
		asking(t, s, c.who, c.target, c.body)
	}
	if got, _ := recorded(t, n, before); got != nil {
		t.Errorf("what changed nothing was recorded: %s", got)
	}
	for _, r := range (auditOf{n}).records(t, 1) {
		for _, no := range []string{secret, masterKey, "canary"} {
			if strings.Contains(string(r.Full()), no) {
				t.Errorf("a record has what nobody may see: %s", r.Full())
			}
		}
	}
}

// A user's first key, a rotation, prompts and guardrails have their own types of events.
func TestTypesOfRecords(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	a := ask(t, s, "POST /user/new", `{"user_id":"ada"}`, nil)
	token, _ := a.json(t)["token"].(string)
	got, last := recorded(t, n, 0)
	slices.Sort(got)
	if diff := cmp.Diff([]string{"key.created created key sha256:" + token, "user.provisioned created user ada"}, got); diff != "" {
		t.Errorf("a user with a key (- want):\n%s", diff)
	}
	again, _ := ask(t, s, "POST /key/regenerate", `{"key":"`+token+`"}`, nil).json(t)["token"].(string)
	if got, last = recorded(t, n, last); fmt.Sprint(got) != "[key.rotated rotated key sha256:"+again+"]" {
		t.Errorf("rotated: %s", got)
	}
	prompt, _ := ask(t, s, "POST /prompts", `{"prompt_name":"hi","messages":[{"role":"user","content":"canary"}]}`, nil).json(t)["prompt_id"].(string)
	ask(t, s, "PUT /prompts/hi", `{"messages":[{"role":"user","content":"canary"}]}`, nil)
	ask(t, s, "DELETE /prompts/hi", "", nil)
	got, last = recorded(t, n, last)
	if diff := cmp.Diff([]string{"prompt.version_published created prompt " + prompt, "prompt.version_published updated prompt " + prompt, "management.changed deleted prompt " + prompt}, got); diff != "" {
		t.Errorf("prompts (- want):\n%s", diff)
	}
	rail, _ := ask(t, s, "POST /guardrail", `{"guardrail_name":"pii","engines":[{"engine_name":"presidio","event_hooks":["pre_call"],"config":{"entities":["PERSON"],"action":"anonymize"}}]}`, nil).json(t)["guardrail_id"].(string)
	if got, _ = recorded(t, n, last); fmt.Sprint(got) != "[guardrail.configured created guardrail "+rail+"]" {
		t.Errorf("guardrails: %s", got)
	}
}

// Every operation that changes the agreed state has a record, and the audit log knows the
// resource of each service.
func TestEveryServiceThatChangesIsNamed(t *testing.T) {
	t.Parallel()
	for _, s := range surface.Services() {
		for _, op := range s.Operations {
			if op.Effect.Changes() != (op.Action != "") || op.Action != "" && (s.Resource == "" || len(s.IDFields) == 0) {
				t.Errorf("%s of %s: nobody has said what it changes", op.Name, s.Name)
			}
		}
	}
	for _, r := range surface.Routes() {
		if r.RPC == gatewayv1.AuditService_ListAuditLog_FullMethodName && r.Path != "/audit-log" {
			t.Errorf("the audit log has a second path, %s, that gives no files", r.Path)
		}
	}
}

func TestAuditLog(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ids := func(a answer) (out []string) {
		list, _ := a.json(t)["data"].([]any)
		for _, one := range list {
			out = append(out, fmt.Sprint(down(t, one, "event_type")))
		}
		return out
	}
	all := ids(ask(t, o.Server, "GET /audit-log?limit=1000&order=asc", "", nil))
	if len(all) < 10 {
		t.Fatalf("%v", all)
	}
	var paged []string
	for cursor, pages := "", 0; pages < 100; pages++ {
		a := ask(t, o.Server, "GET /audit-log?limit=3&order=asc&starting_after="+cursor, "", nil)
		paged = append(paged, ids(a)...)
		var more bool
		if cursor, more = a.json(t)["next_cursor"].(string); !more {
			if a.json(t)["has_more"] != false {
				t.Errorf("%s", a.body)
			}
			break
		}
	}
	if diff := cmp.Diff(all, paged); diff != "" {
		t.Errorf("page by page (- at once):\n%s", diff)
	}
	created := ids(ask(t, o.Server, "GET /audit-log?event_type=key.created", "", nil))
	if len(created) != 7 || slices.ContainsFunc(created, func(s string) bool { return s != "key.created" }) {
		t.Errorf("keys: %v", created)
	}
	if got := ids(ask(t, o.Server, "GET /audit-log?key_hash=sha256:"+o.token("mate/red"), "", nil)); fmt.Sprint(got) != "[key.created]" {
		t.Errorf("of a key: %v", got)
	}
	if got := ids(asking(t, o.Server, o.keys["boss"], "GET /audit-log", "")); len(got) == 0 || len(got) >= len(all) {
		t.Errorf("an org_admin sees %d of %d", len(got), len(all))
	}
	one := ask(t, o.Server, "GET /audit-log/evt_0000000000000001", "", nil)
	v := one.json(t)
	if v["event_type"] != "management.changed" || v["org_id"] != "acme" || v["user_key_hash"] != nil || v["model"] != nil || v["cost_usd"] != 0.0 ||
		down(t, v, "details", "changed_by") != "master" || v["actor"] != "master" || v["timestamp"] != "2026-06-29T10:00:00.123456Z" || fmt.Sprint(v["guardrail_violations"]) != "[]" {
		t.Errorf("%s", one.body)
	}
	if got := ask(t, o.Server, "GET /audit-log/verify", "", nil); got.json(t)["valid"] != true || got.json(t)["checked"] != float64(len(all)) || got.json(t)["broken_at"] != nil ||
		got.json(t)["covered_event_id"] != nil || got.json(t)["dropped"] != 0.0 || got.json(t)["checkpoint_key"] != nil {
		t.Errorf("%s", got.body)
	}
	play(t, o.Server, []step{
		{o.keys["boss"], "GET /audit-log/evt_0000000000000001", "", "200"},
		{o.keys["boss"], "GET /audit-log/evt_0000000000000002", "", "404 event_not_found event_id"}, // the other organization's
		{o.keys["boss"], "GET /audit-log?org_id=other", "", "403 insufficient_permissions org_id"},
		{o.keys["boss"], "GET /audit-log/verify", "", "403 insufficient_permissions"},
		{o.keys["lead"], "GET /audit-log", "", "403 insufficient_permissions"},
		{o.keys["lead"], "GET /audit-log?format=csv", "", "403 insufficient_permissions"},
		{o.keys["lead"], "GET /audit-log/evt_0000000000000001", "", "403 insufficient_permissions"},
		{o.keys["watch"], "GET /audit-log", "", "200"},
		{o.keys["watch"], "GET /audit-log/verify?start=evt_0000000000000002&end=evt_0000000000000003", "", "200"},
		{"", "GET /audit-log/evt_0000000000ffffff", "", "404 event_not_found event_id"},
		{"", "GET /audit-log/evt_1", "", "422 invalid_value event_id"},
		{"", "GET /audit-log?limit=0", "", "422 invalid_value limit"},
		{"", "GET /audit-log?limit=-1", "", "422 invalid_value limit"},
		{"", "GET /audit-log?limit=1001", "", "422 invalid_value limit"},
		{"", "GET /audit-log?limit=1000000000", "", "422 invalid_value limit"},
		{"", "GET /audit-log?start_date=2026-06-30&end_date=2026-06-29", "", "422 invalid_value end_date"},
		{"", "GET /audit-log?start_date=9999", "", "422 invalid_value start_date"},
		{"", "GET /audit-log?end_date=tomorrow", "", "422 invalid_value end_date"},
		{"", "GET /audit-log?key_hash=sk-secret", "", "422 invalid_value key_hash"},
		{"", "GET /audit-log?format=exe", "", "422 invalid_value format"},
		{"", "GET /audit-log?event_type=key.stolen", "", "422 invalid_value event_type"},
		{"", "GET /audit-log?order=up", "", "422 invalid_value order"},
		{"", "GET /audit-log?format=csv&start_date=9999", "", "422 invalid_value start_date"},
		{"", "GET /audit-log?format=csv&nope=1", "", "422 unknown_parameter nope"},
		{"", "GET /audit-log?format=csv&starting_after=evt_0000000000ffffff", "", "422 invalid_value starting_after"},
		{"", "GET /audit-log?format=csv&limit=0", "", "422 invalid_value limit"},
		{"", "GET /audit-log?format=csv&limit=x", "", "422 invalid_type limit"},
		{"", "GET /audit-log?starting_after=evt_0000000000ffffff", "", "422 invalid_value starting_after"},
		{"", "GET /audit-log?format=jsonl&event_type=key.created&limit=3", "", "422 invalid_value limit"},
		{"", "GET /audit-log/verify?start=evt_0000000000000003&end=evt_0000000000000002", "", "422 invalid_value end"},
	})
}

// An export of a running gateway can be verified with the file alone, whole or from a record
// on. Verification of a truncated or changed file fails.
func TestAuditLogAsExport(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	for _, id := range []string{"a", "b", "c"} {
		ask(t, s, "POST /organization/new", `{"organization_id":"`+id+`","organization_alias":"`+id+`"}`, nil)
	}
	verified := func(text string) string {
		r, err := audit.VerifyExport(t.Context(), strings.NewReader(text), audit.Check{})
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(r.Valid, " ", r.First, "-", r.Last)
	}
	_, last := recorded(t, n, 0)
	whole := ask(t, s, "GET /audit-log?format=jsonl", "", nil)
	if got, want := verified(whole.body), fmt.Sprint("true 1-", last); got != want || whole.header.Get("Content-Type") != "application/jsonl" {
		t.Errorf("%s, want %s: %v", got, want, whole.header)
	}
	part := ask(t, s, "GET /audit-log?format=jsonl&starting_after="+audit.EventID(1), "", nil)
	if got, want := verified(part.body), fmt.Sprint("true 2-", last); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	cut := strings.Join(strings.SplitAfter(whole.body, "\n")[:3], "")
	for _, bad := range []string{cut, strings.Replace(whole.body, "organization", "organisation", 1)} {
		if got := verified(bad); strings.HasPrefix(got, "true") {
			t.Errorf("verified: %s", bad)
		}
	}
	ask(t, s, "POST /user/new", `{"user_id":"ada","auto_create_key":false}`, nil)
	ask(t, s, "POST /key/generate", `{"key":"sk-plain-key-of-somebody","user_id":"ada"}`, nil)
	if a := ask(t, s, "GET /audit-log?format=jsonl", "", as("sk-plain-key-of-somebody")); a.status != http.StatusForbidden {
		t.Errorf("to an internal user: %d %s", a.status, a.body)
	}
}

// A file has all matching records, whatever their number, and no cell is a formula.
func TestAuditLogAsCSV(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	ask(t, s, "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, nil)
	for range 2 * csvPage {
		if a := ask(t, s, "POST /organization/update", `{"organization_id":"acme","metadata":{"a":1}}`, nil); a.status != http.StatusOK {
			t.Fatal(a.body)
		}
	}
	a := ask(t, s, "GET /audit-log?format=csv&start_date=2026-06-01", "", nil)
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "text/csv; charset=utf-8" || a.header.Get("Content-Disposition") != `attachment; filename="audit-log_2026-06-01_all.csv"` {
		t.Fatalf("%d %v", a.status, a.header)
	}
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil || len(rows) != 2*csvPage+2 || rows[0][0] != "event_id" || rows[0][1] != "event_type" {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		seen[row[0]] = true
	}
	if len(seen) != 2*csvPage+1 || !seen[audit.EventID(1)] {
		t.Errorf("%d records", len(seen))
	}
	some := ask(t, s, "GET /audit-log?format=csv&limit=600", "", nil)
	if rows, err := csv.NewReader(strings.NewReader(some.body)).ReadAll(); err != nil || len(rows) != 601 {
		t.Errorf("%d rows of 600, %v", len(rows), err)
	}
	if none := ask(t, s, "GET /audit-log?format=csv&event_type=login.failed", "", nil); none.status != http.StatusOK || strings.Count(none.body, "\n") != 0 {
		t.Errorf("no records: %d %q", none.status, none.body)
	}
}

// Denied requests to the management API are recorded with the route and not with the path,
// which may contain a key.
func TestDeniedRequestsAreRecorded(t *testing.T) {
	t.Parallel()
	const gone = "sk-nobody-has-this-key-00"
	s, n := newFake(t)
	play(t, s, []step{
		{gone, "GET /key/list", "", "401 invalid_api_key"},
		{"a-password-of-somebody", "GET /key/list", "", "401 invalid_api_key"},
		{plainKey, "POST /key/sk-a-key-that-is-secret-01/regenerate", "{}", "403 insufficient_permissions"},
		{"", "GET /key/info?key=sk-nobody-has-this-0", "", "404 key_not_found key"},
		{"", "POST /key/generate", `{"max_budget":-1}`, "422 invalid_value max_budget"},
	})
	var got []string
	for _, e := range n.noticed() {
		got = append(got, fmt.Sprint(e.Notice.Type, " ", e.Notice.Code, " ", e.KeyAlias, " ", e.Notice.Details, " ", e.Key == id.HashKey(gone) || e.Key == id.HashKey(plainKey)))
		if e.Request == "" || e.End.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	if diff := cmp.Diff([]string{
		`request.blocked invalid_api_key  {"route":"GET /key/list"} true`,
		`request.blocked invalid_api_key  {"route":"GET /key/list"} false`,
		`request.blocked insufficient_permissions app {"route":"POST /key/{key}/regenerate"} true`,
	}, got); diff != "" {
		t.Errorf("(- want):\n%s", diff)
	}
	ask(t, s, "DELETE /cluster/members/33333333333333333333333333333333", "", nil)
	told := n.noticed()
	if len(told) != 1 || told[0].Notice.Type != event.TypeManagement || !strings.Contains(told[0].Notice.Details, `"resource_id":"33333333333333333333333333333333"`) {
		t.Errorf("a member was removed: %+v", told)
	}
}
