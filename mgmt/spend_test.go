package mgmt

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// The logs contain the requests of all nodes, the newest first, in pages.
func TestSpendLogs(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for i := range 5 {
		user := "lead"
		if i%2 == 1 {
			user = "mate"
		}
		o.use(t, user, fmt.Sprintf("2026-06-2%d", i), int64(1_000_000_000_000*(i+1)), func(e *clusterv1.UsageEvent) { e.Request = fmt.Sprintf("req_%032d", i) })
	}
	spends := func(a answer) string {
		out := ""
		for _, one := range listOf(t, a) {
			out += fmt.Sprint(down(t, one, "spend"))
		}
		return out
	}
	for _, c := range []struct{ who, query, want string }{
		{"", "", "54321"},
		{"watch", "", "54321"},
		{"lead", "", "531"},
		{"mate", "", "42"},
		{"alone", "", ""},
		{"lead", "team_id=red", "54321"},
		{"boss", "team_id=red", "54321"},
		{"boss", "", ""},
		{"mate", "team_id=red", "42"},
		{"mate", "user_id=mate", "42"},
		{"", "user_id=mate", "42"},
		{"", "end_user=customer-17&limit=2", "54"},
		{"", "end_user=nobody", ""},
		{"", "request_id=req_00000000000000000000000000000002", "3"},
		{"", "api_key=" + o.token("mate/red"), "42"},
		{"", "api_key=sha256:" + o.token("mate/red"), "42"},
		{"", "api_key=" + o.keys["mate/red"], "42"},
		{"", "start_date=2026-06-21&end_date=2026-06-22", "32"},
		{"", "start_date=2026-06-23T00:00:00Z", "54"},
	} {
		if got := spends(asking(t, o.Server, o.keys[c.who], "GET /spend/logs?"+c.query, "")); got != c.want {
			t.Errorf("%q as %q: %q, want %q", c.query, c.who, got, c.want)
		}
	}
	all, after := "", ""
	for range 3 {
		a := ask(t, o.Server, "GET /spend/logs?limit=2&starting_after="+after, "", nil)
		list := listOf(t, a)
		all += spends(a)
		after, _ = down(t, list[len(list)-1], "cursor").(string)
	}
	if all != "54321" {
		t.Errorf("page by page: %q", all)
	}
	play(t, o.Server, []step{
		{o.keys["mate"], "GET /spend/logs?user_id=lead", "", "403 insufficient_permissions user_id"},
		{plainKey, "GET /spend/logs?api_key=" + o.token("mate/red"), "", "403 insufficient_permissions api_key"},
		{plainKey, "GET /spend/logs?user_id=mate", "", "403 insufficient_permissions user_id"},
		{"", "GET /spend/logs?limit=0", "", "422 invalid_value limit"},
		{"", "GET /spend/logs?api_key=nobody", "", "422 invalid_value api_key"},
		{"", "GET /spend/logs?start_date=2026-06-22&end_date=2026-06-21", "", "422 invalid_value end_date"},
		{"", "GET /spend/logs?tags=a", "", "422 unknown_parameter tags"},
	})
}

// Callers that see everything see the address of a request; all callers see the session.
func TestSpendLogsOfASession(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	play(t, o.Server, []step{{"", "POST /model/new", `{"model_name":"near","gateway_params":{"model":"openai/x","api_key":"k","api_base":"https://Internal.example:443/v1/"},"model_info":{"id":"near"}}`, "200"}})
	for i, of := range []struct{ session, deployment string }{{"one", "near"}, {"", "near"}, {"two", "gone"}, {"one", "gone"}} {
		o.use(t, "mate", fmt.Sprintf("2026-06-2%d", i), 1, func(e *clusterv1.UsageEvent) { e.Session, e.Deployment = of.session, of.deployment })
	}
	for _, c := range []struct{ who, query, want string }{
		{"", "", "[one <nil>] [two <nil>] [<nil> https://internal.example/v1] [one https://internal.example/v1] "},
		{"", "session_id=one", "[one <nil>] [one https://internal.example/v1] "},
		{"mate", "session_id=one", "[one <nil>] [one <nil>] "},
		{"lead", "session_id=one", ""},
		{"", "session_id=three", ""},
	} {
		got := ""
		for _, one := range listOf(t, asking(t, o.Server, o.keys[c.who], "GET /spend/logs?"+c.query, "")) {
			got += fmt.Sprint([]any{down(t, one, "session_id"), down(t, one, "api_base")}, " ")
		}
		if got != c.want {
			t.Errorf("%q as %q: %s, want %s", c.query, c.who, got, c.want)
		}
	}
}

// Requests with a prompt are found by it, and show its version and label.
func TestSpendLogsOfAPrompt(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for i, of := range []struct {
		prompt  string
		version uint32
		label   string
	}{{"p-1", 3, "production"}, {"", 0, ""}, {"p-2", 1, ""}, {"p-1", 4, ""}} {
		o.use(t, "mate", fmt.Sprintf("2026-06-2%d", i), 1, func(e *clusterv1.UsageEvent) {
			e.PromptId, e.PromptVersion, e.PromptLabel = of.prompt, of.version, of.label
			if of.prompt != "" {
				e.Version = 6
			}
		})
	}
	for query, want := range map[string]string{
		"":              "[p-1 4 <nil>] [p-2 1 <nil>] [<nil> <nil> <nil>] [p-1 3 production] ",
		"prompt_id=p-1": "[p-1 4 <nil>] [p-1 3 production] ",
		"prompt_id=p-3": "",
	} {
		got := ""
		for _, one := range listOf(t, asking(t, o.Server, o.keys[""], "GET /spend/logs?"+query, "")) {
			got += fmt.Sprint([]any{down(t, one, "prompt_id"), down(t, one, "prompt_version"), down(t, one, "prompt_label")}, " ")
		}
		if got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// Records show the spend in the window, the total spend, and that of models with their own
// budget, in every response.
func TestRecordsShowSpend(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	play(t, o.Server, []step{
		{"", "POST /key/update", `{"key":"` + o.token("mate/red") + `","max_budget":10,"budget_duration":"1mo","model_max_budget":{"fast":{"max_budget":5},"slow":{"max_budget":1}}}`, "200"},
		{"", "POST /customer/new", `{"user_id":"customer-17","max_budget":7}`, "200"},
	})
	o.use(t, "mate", "2026-06-29", 250_000_000_001, nil)
	const spent = 0.250000000001
	info := keyInfo(t, o.Server, o.token("mate/red"))
	if info["spend"] != spent || info["total_spend"] != spent || fmt.Sprint(info["model_spend"]) != "map[fast:0.250000000001 slow:0]" || info["budget_reset_at"] == nil {
		t.Errorf("the key: %v", some(info, "spend", "total_spend", "model_spend", "budget_reset_at"))
	}
	for _, c := range []struct {
		target string
		names  []string
	}{
		{"/team/info?team_id=red", []string{"team_info"}},
		{"/user/info?user_id=mate", []string{"user_info"}},
		{"/v2/user/info?user_id=mate", nil},
		{"/organization/info?organization_id=acme", nil},
		{"/customer/info?end_user_id=customer-17", nil},
	} {
		a := ask(t, o.Server, "GET "+c.target, "", nil)
		if v := down(t, a.json(t), c.names...); down(t, v, "spend") != spent || down(t, v, "total_spend") != spent {
			t.Errorf("%s: %s", c.target, a.body)
		}
	}
	places, _ := ask(t, o.Server, "GET /team/info?team_id=red", "", nil).json(t)["team_memberships"].([]any)
	members, _ := ask(t, o.Server, "GET /organization/info?organization_id=acme", "", nil).json(t)["members"].([]any)
	for _, one := range append(places, members...) {
		if want := map[any]any{"mate": spent, "lead": 0.0, "boss": 0.0}[down(t, one, "user_id")]; down(t, one, "spend") != want {
			t.Errorf("%v: want %v", one, want)
		}
	}
	list, _ := ask(t, o.Server, "GET /key/list?return_full_object=true&team_id=red&user_id=mate", "", nil).json(t)["keys"].([]any)
	if len(list) != 1 || down(t, list[0], "spend") != spent {
		t.Errorf("the list: %v", list)
	}
}

// Callers above a key reset its spend, to at most the present one. The total stays, and so do
// the books.
func TestResetSpend(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	token := o.token("mate/red")
	o.use(t, "mate", "2026-06-29", 2_000_000_000_000, nil)
	path := "POST /key/" + token + "/reset_spend"
	play(t, o.Server, []step{
		{o.keys["mate"], path, `{"reset_to":0}`, "403 insufficient_permissions team_id"},
		{o.keys["alone"], path, `{"reset_to":0}`, "403 insufficient_permissions key"},
		{o.keys["watch"], path, `{"reset_to":0}`, "403 insufficient_permissions"},
		{"", path, `{"reset_to":2.5}`, "422 invalid_value reset_to"},
		{"", path, `{"reset_to":-1}`, "422 invalid_value reset_to"},
		{"", path, `{}`, "422 missing_required_parameter reset_to"},
		{"", "POST /key/sk-nobody-has-this-0/reset_spend", `{"reset_to":0}`, "404 key_not_found key"},
		{o.keys["lead"], path, `{"reset_to":1.5}`, "200"},
	})
	a := asking(t, o.Server, o.keys["boss"], path, `{"reset_to":0.5}`)
	if v := a.json(t); a.status != http.StatusOK || v["spend"] != 0.5 || v["previous_spend"] != 1.5 || v["key_hash"] != token {
		t.Errorf("%d %s", a.status, a.body)
	}
	if info := keyInfo(t, o.Server, token); info["spend"] != 0.5 || info["total_spend"] != 2.0 {
		t.Errorf("%v", some(info, "spend", "total_spend"))
	}
}

// A window that has ended has no spend, also before the account starts the next one.
func TestWindowThatIsOver(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.use(t, "mate", "2026-06-29", 2_000_000_000_000, nil)
	a := id.Account{Kind: id.AccountKey, Owner: o.token("mate/red")}
	o.node.window(t, a, "1d", o.node.mu.now.Add(time.Hour)) // long ago
	if info := keyInfo(t, o.Server, a.Owner); info["spend"] != 0.0 || info["total_spend"] != 2.0 {
		t.Errorf("%v", some(info, "spend", "total_spend"))
	}
}

// What guardrails found is shown as objects, in the logs and in the audit log, whose table has it as JSON.
func TestFindingsOfGuardrailsAreShown(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	found := []*clusterv1.GuardrailViolation{
		{Guardrail: "pii", Engine: "presidio", Hook: "pre_call", Entity: "PERSON", Action: "anonymize", Count: 2, Place: "messages[2].content", Offset: 17},
		{Guardrail: "pii", Engine: "presidio", Hook: "post_call", Entity: "PERSON", Action: "block", Count: 1},
	}
	e := used(n.mu.now, 1)
	e.Version, e.Guardrails, e.Violations = 7, []string{"pii", "keys"}, found
	n.post(t, used(n.mu.now, 1), e)
	n.mu.Lock()
	f := audit.AppendAll(batch{n.mu.books}, audit.DefaultWorkspace, []*clusterv1.AuditEvent{{Type: "request.guardrail_triggered", GuardrailId: "pii", GuardrailViolations: found}}, n.mu.now)
	n.mu.Unlock()
	if f != nil {
		t.Fatal(f)
	}
	want := []any{
		map[string]any{"guardrail_id": "pii", "engine": "presidio", "hook": "pre_call", "entity": "PERSON", "action": "anonymize", "count": 2.0, "place": "messages[2].content", "offset": 17.0},
		map[string]any{"guardrail_id": "pii", "engine": "presidio", "hook": "post_call", "entity": "PERSON", "action": "block", "count": 1.0, "place": nil, "offset": 0.0},
	}
	logs := listOf(t, ask(t, s, "GET /spend/logs", "", nil))
	if diff := cmp.Diff([]any{[]any{"pii", "keys"}, want}, []any{down(t, logs[0], "guardrails"), down(t, logs[0], "guardrail_violations")}); diff != "" {
		t.Errorf("/spend/logs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{[]any{}, []any{}}, []any{down(t, logs[1], "guardrails"), down(t, logs[1], "guardrail_violations")}); diff != "" {
		t.Errorf("/spend/logs without guardrails (-want +got):\n%s", diff)
	}
	shown, _ := ask(t, s, "GET /audit-log?event_type=request.guardrail_triggered", "", nil).json(t)["data"].([]any)
	if diff := cmp.Diff([]any{"pii", want}, []any{down(t, shown[0], "guardrail_id"), down(t, shown[0], "guardrail_violations")}); diff != "" {
		t.Errorf("/audit-log (-want +got):\n%s", diff)
	}
	table := ask(t, s, "GET /audit-log?event_type=request.guardrail_triggered&format=csv", "", nil)
	if cell := `"[{""action"":""anonymize"",""count"":2,""engine"":""presidio"",""entity"":""PERSON"",""guardrail_id"":""pii"",""hook"":""pre_call"",""offset"":17,""place"":""messages[2].content""},`; !strings.Contains(table.body, cell) {
		t.Errorf("the table is %s", table.body)
	}
}
