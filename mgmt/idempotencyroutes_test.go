package mgmt

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	"github.com/modelgateway/modelgateway/mgmt/rest"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// readByPost returns the operations that read by POST, because their requests are too long for
// a query. They change nothing, and respond with the present state.
func readByPost() map[string]bool {
	return map[string]bool{
		gatewayv1.KeyService_GetKeys_FullMethodName: true, gatewayv1.KeyService_CheckKeyHealth_FullMethodName: true,
		gatewayv1.OrganizationService_GetOrganizations_FullMethodName: true, gatewayv1.BudgetService_GetBudgets_FullMethodName: true,
		gatewayv1.ModelService_EstimateCost_FullMethodName: true, gatewayv1.PromptService_RenderPrompt_FullMethodName: true,
		gatewayv1.GuardrailService_ApplyGuardrail_FullMethodName: true, gatewayv1.ModelService_DiscoverModels_FullMethodName: true,
	}
}

const someNode = "33333333333333333333333333333333"

// posted returns a successful request for each POST that changes something, by path. In paths
// and bodies, $key is the hash of a key that is made for it. A request that would delete what
// another one needs has a request before it. The others are sent with their examples of the
// OpenAPI document.
func posted() map[string]struct{ before, body string } {
	type request = struct{ before, body string }
	of := func(body string) request { return request{body: body} }
	out := map[string]request{
		"/key/generate":                 of(`{"team_id":"red","key_alias":"new"}`),
		"/key/service-account/generate": of(`{"team_id":"red"}`),
		"/key/update":                   of(`{"key":"$key","rpm_limit":7}`),
		"/key/bulk_update":              of(`{"keys":[{"key":"$key","tags":["x"]},{"key":"sk-nobody-has-this-0"}]}`),
		"/key/regenerate":               of(`{"key":"$key","grace_period":"1h"}`),
		"/key/{key}/regenerate":         of(`{}`),
		"/key/{key}/reset_spend":        of(`{"reset_to":0}`),
		"/key/block":                    of(`{"key":"$key"}`),
		"/key/unblock":                  of(`{"key":"$key"}`),
		"/key/delete":                   of(`{"keys":["$key"]}`),
		"/organization/new":             of(`{"organization_alias":"New"}`),
		"/organization/update":          of(`{"organization_id":"acme","organization_alias":"A"}`),
		"/organization/delete":          {`POST /organization/new {"organization_id":"gone","organization_alias":"Gone"}`, `{"organization_ids":["gone"]}`},
		"/organization/member_add":      of(`{"organization_id":"acme","member":{"user_id":"alone","role":"internal_user"}}`),
		"/organization/member_update":   of(`{"organization_id":"acme","user_id":"mate","role":"org_admin"}`),
		"/organization/member_delete": {
			`POST /organization/member_add {"organization_id":"other","member":{"user_id":"alone","role":"internal_user"}}`, `{"organization_id":"other","user_id":"alone"}`,
		},
		"/team/new":                of(`{"team_alias":"New"}`),
		"/team/update":             of(`{"team_id":"red","team_alias":"R"}`),
		"/team/delete":             {`POST /team/new {"team_id":"gone"}`, `{"team_ids":["gone"]}`},
		"/team/block":              of(`{"team_id":"red"}`),
		"/team/unblock":            of(`{"team_id":"red"}`),
		"/team/member_add":         {`POST /team/new {"team_id":"blue"}`, `{"team_id":"blue","member":{"user_id":"alone","role":"user"}}`},
		"/team/bulk_member_add":    {`POST /team/new {"team_id":"green"}`, `{"team_id":"green","members":[{"user_id":"alone","role":"user"}]}`},
		"/team/member_update":      of(`{"team_id":"red","user_id":"mate","role":"admin"}`),
		"/team/member_delete":      {`POST /team/new {"team_id":"pink","members_with_roles":[{"user_id":"alone","role":"user"}]}`, `{"team_id":"pink","user_id":"alone"}`},
		"/team/model/add":          of(`{"team_id":"red","models":["fast"]}`),
		"/team/model/delete":       {`POST /team/new {"team_id":"grey","models":["fast","slow"]}`, `{"team_id":"grey","models":["fast"]}`},
		"/team/permissions_update": of(`{"team_id":"red","team_member_permissions":["/key/info"]}`),
		"/user/new":                of(`{"user_alias":"New"}`),
		"/user/update":             of(`{"user_id":"mate","user_alias":"M"}`),
		"/user/bulk_update":        of(`{"users":[{"user_id":"mate","user_alias":"N"},{"user_id":"none"}]}`),
		"/user/delete":             {`POST /user/new {"user_id":"gone","auto_create_key":false}`, `{"user_ids":["gone"]}`},
		"/budget/new":              of(`{"max_budget":1}`),
		"/budget/update":           {`POST /budget/new {"budget_id":"gold","max_budget":1}`, `{"budget_id":"gold","max_budget":2}`},
		"/budget/delete":           {`POST /budget/new {"budget_id":"gone","max_budget":1}`, `{"id":"gone"}`},
		"/model/new":               of(`{"model_name":"m","gateway_params":{"model":"openai/m","api_key":"k"}}`),
		"/model/update":            {`POST /model/new {"model_name":"m","gateway_params":{"model":"openai/m","api_key":"k"},"model_info":{"id":"m1"}}`, `{"model_info":{"id":"m1"},"model_name":"m2"}`},
		"/model/delete":            {`POST /model/new {"model_name":"m","gateway_params":{"model":"openai/m","api_key":"k"},"model_info":{"id":"m3"}}`, `{"id":"m3"}`},
		"/model/cost_map/reload":   of(`{}`),
		"/fallbacks":               of(`{"model":"fast","fallback_models":["slow"]}`),
		"/fallback":                {`POST /model/new {"model_name":"spare","gateway_params":{"model":"openai/m","api_key":"k"}}`, `{"model":"slow","fallback_models":["spare"]}`},
		"/credentials":             of(`{"credential_name":"main","credential_values":{"api_key":"canary"}}`),
		"/credentials/rotate":      of(`{}`),
		"/guardrails":              of(`{"guardrail_name":"b","engines":[{"engine_name":"presidio","event_hooks":["pre_call"],"config":{"entities":["PERSON"],"action":"anonymize"}}]}`),
		"/prompts/{name}/rollback": {`POST /prompts {"prompt_name":"rolled","messages":[{"role":"user","content":"x"}]}`, `{"version":1}`},
		"/config/update":           of(`{"router_settings":{"num_retries":3}}`),
		"/config/field/update":     of(`{"field_name":"num_retries","field_value":4}`),
		"/config/field/delete":     of(`{"field_name":"num_retries"}`),
		"/cluster/remove":          of(`{"node_id":"` + someNode + `"}`),
	}
	for _, path := range []string{"/customer", "/end_user"} {
		of17 := func(p string) string { return `{"user_ids":["` + strings.Trim(path, "/") + p + `"]}` }
		id := `"user_id":"` + strings.Trim(path, "/")
		out[path+"/new"] = of(`{` + id + `-1"}`)
		out[path+"/update"] = request{`POST /customer/new {` + id + `-2"}`, `{` + id + `-2","alias":"C"}`}
		out[path+"/delete"] = request{`POST /customer/new {` + id + `-3"}`, of17("-3")}
		out[path+"/block"] = of(of17("-4"))
		out[path+"/unblock"] = request{`POST /customer/block ` + of17("-5"), of17("-5")}
	}
	return out
}

// examples returns the bodies of requests in the OpenAPI document, by path of the POST.
func examples(t *testing.T) map[string]string {
	t.Helper()
	var document struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct{ Example jsontext.Value }
				}
			}
		}
	}
	text, err := os.ReadFile("../proto/gen/openapi.json")
	if err == nil {
		err = json.Unmarshal(text, &document, json.MatchCaseInsensitiveNames(true))
	}
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for path, item := range document.Paths {
		out[path] = string(item.Post.RequestBody.Content["application/json"].Example)
	}
	return out
}

// Every POST of the table that changes something is done once under one Idempotency-Key: a
// repeated request changes nothing and gets the same response.
func TestEveryPostIsDoneOnce(t *testing.T) {
	requests, examples, reading, o := posted(), examples(t), readByPost(), newOffice(t)
	o.node.mu.prices = priceTable("0.5")
	for _, route := range surface.Routes() {
		if route.Method != http.MethodPost {
			continue
		}
		if reading[route.RPC] {
			if declared()[route.RPC].Effect.Changes() {
				t.Errorf("POST %s changes something", route.Path)
			}
			continue
		}
		request, ok := requests[route.Path]
		if !ok {
			request.body = examples[route.Path]
		}
		t.Run(route.Path, func(t *testing.T) {
			if request.before != "" {
				target, body, _ := strings.Cut(request.before, " {")
				if a := ask(t, o.Server, target, "{"+body, nil); a.status != http.StatusOK {
					t.Fatalf("before: %d %s", a.status, a.body)
				}
			}
			token, _ := ask(t, o.Server, "POST /key/generate", `{"team_id":"red","user_id":"mate"}`, nil).json(t)["token"].(string)
			target := "POST " + strings.NewReplacer("{key}", token, "{name}", "rolled").Replace(route.Path)
			body := strings.ReplaceAll(request.body, "$key", token)
			first := ask(t, o.Server, target, body, withKey(route.Path))
			if first.status != http.StatusOK || first.header.Get(operation.HeaderReplayed) != "" {
				t.Fatalf("%d %v %s", first.status, first.header, first.body)
			}
			o.node.noticed()
			before := effects(t, o.node)
			again := ask(t, o.Server, target, body, withKey(route.Path))
			if again.status != http.StatusOK || again.header.Get(operation.HeaderReplayed) != "true" || again.body != first.body {
				t.Errorf("again: %d %v %s\nat first %s", again.status, again.header, again.body, first.body)
			}
			if after := effects(t, o.node); after != before {
				t.Errorf("a second effect: %s, before %s", after, before)
			}
		})
	}
}

// effects returns the effects of requests at a node: changes, records, notices since the last
// call, and removed nodes.
func effects(t *testing.T, n *fakeNode) string {
	t.Helper()
	revision, records, notices := n.View().Revision, len(auditOf{n}.records(t, 1)), len(n.noticed())
	n.mu.Lock()
	defer n.mu.Unlock()
	return fmt.Sprint(revision, " ", records, " ", notices, " ", n.mu.removed, " ", len(n.mu.restore))
}

// The response to the removal of a node could not be kept. A repeated request with the same
// Idempotency-Key gets a success, and other requests get that the node is unknown.
func TestRemovalWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	if err := n.RemoveMember(t.Context(), someNode); err != nil {
		t.Fatal(err)
	}
	n.fail(fault.New(fault.NotFound, "node_not_found", "The cluster has no such node."))
	const body = `{"node_id":"` + someNode + `"}`
	if a := ask(t, s, "POST /cluster/remove", body, withKey("one")); a.status != http.StatusOK || a.json(t)["removed"] != true {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := ask(t, s, "POST /cluster/remove", body, nil); a.status != http.StatusNotFound {
		t.Errorf("without the key: %d %s", a.status, a.body)
	}
	if len(n.noticed()) != 0 {
		t.Error("recorded as removed once more")
	}
}

// A file is restored once under one Idempotency-Key, and another file under it is rejected.
func TestRestoreIsDoneOnce(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	restore := func(file, key string) answer {
		return ask(t, s, "POST /cluster/restore?confirm=yes", file, func(r *http.Request) {
			r.Header.Set("Content-Type", rest.BinaryType)
			r.Header.Set(field.HeaderIdempotency, key)
		})
	}
	restored := func() string {
		n.mu.Lock()
		defer n.mu.Unlock()
		defer func() { n.mu.restore = nil }()
		return string(n.mu.restore)
	}
	n.fail(fault.New(fault.Unavailable, "", "no leader"))
	if a := restore("the state", "one"); a.status != http.StatusServiceUnavailable || restored() != "" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	n.fail(nil)
	first := restore("the state", "one")
	if first.status != http.StatusOK || first.header.Get(operation.HeaderReplayed) != "" || restored() != "the state" {
		t.Fatalf("%d %s", first.status, first.body)
	}
	n.noticed()
	before := effects(t, n)
	again := restore("the state", "one")
	if again.status != http.StatusOK || again.header.Get(operation.HeaderReplayed) != "true" || again.body != first.body || restored() != "" || effects(t, n) != before {
		t.Errorf("again: %d %v %s", again.status, again.header, again.body)
	}
	if a := restore("another state", "one"); a.refusal(t) != "idempotency_conflict Idempotency-Key" || restored() != "" {
		t.Errorf("another file: %d %s", a.status, a.body)
	}
	if a := restore("the state", "a b"); a.refusal(t) != "invalid_value Idempotency-Key" || restored() != "" {
		t.Errorf("no key at all: %d %s", a.status, a.body)
	}
	if a := restore("the state", "two"); a.status != http.StatusOK || a.header.Get(operation.HeaderReplayed) != "" || restored() != "the state" {
		t.Errorf("another key: %d %s", a.status, a.body)
	}
}
