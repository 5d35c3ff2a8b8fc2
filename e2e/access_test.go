package e2e

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
)

// company is a gateway with an organization, acme, that has a team, blue, another
// organization, and keys of all sorts of callers by their names.
type company struct {
	*gatewayProcess
	keys   map[string]string
	prompt string // of acme
}

func newCompany(t *testing.T) *company {
	t.Helper()
	up := newUpstream(t)
	c := &company{keys: map[string]string{}, gatewayProcess: startGateway(t, `
model_list:
  - {model_name: fast, litellm_params: {model: openai/gpt-4o, api_base: "`+up.url+`/v1", api_key: sk-upstream}}
`)}
	for _, org := range []string{"acme", "other"} {
		c.must("/organization/new", map[string]any{"organization_id": org, "organization_alias": org})
	}
	for user, role := range map[string]string{
		"admin": "proxy_admin", "viewer": "proxy_admin_viewer", "boss": "internal_user", "rival": "internal_user",
		"lead": "internal_user", "mate": "internal_user", "alone": "internal_user", "watch": "internal_user_viewer",
	} {
		c.keys[user] = c.must("/user/new", map[string]any{"user_id": user, "user_role": role})["key"].(string)
	}
	for _, m := range [][3]string{{"acme", "boss", "org_admin"}, {"other", "rival", "org_admin"}, {"acme", "lead", "internal_user"}, {"acme", "mate", "internal_user"}} {
		c.must("/organization/member_add", map[string]any{"organization_id": m[0], "member": map[string]any{"user_id": m[1], "role": m[2]}})
	}
	c.must("/team/new", map[string]any{"team_id": "blue", "organization_id": "acme", "members_with_roles": []any{
		map[string]any{"user_id": "lead", "role": "admin"}, map[string]any{"user_id": "mate", "role": "user"},
	}})
	c.prompt, _ = c.must("/prompts", map[string]any{"prompt_name": "hello", "organization_id": "acme", "messages": []any{map[string]any{"role": "user", "content": "Hi"}}})["prompt_id"].(string)
	for name, k := range map[string]map[string]any{
		"bare": {}, "caller": {"user_id": "admin", "key_type": "llm_api"}, "reader": {"user_id": "admin", "key_type": "read_only"},
		"manager": {"user_id": "admin", "key_type": "management"}, "narrow": {"user_id": "admin", "allowed_routes": []string{"/key/*"}},
		"blue": {"team_id": "blue"}, "blocked": {"blocked": true}, "deleted": {}, "expired": {"duration": "1s"},
	} {
		k["key_alias"] = name
		c.keys[name] = c.must("/key/generate", k)["key"].(string)
	}
	c.must("/key/delete", map[string]any{"keys": []string{c.keys["deleted"]}})
	c.until("the key has expired", func() bool { return c.as("expired", http.MethodGet, "/key/info", "").status == http.StatusUnauthorized })
	return c
}

// must posts what has to work, as the master key.
func (c *company) must(path string, body map[string]any) map[string]any {
	c.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	a := c.do(http.MethodPost, path, strings.NewReader(string(text)))
	out := map[string]any{}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != http.StatusOK {
		c.t.Fatalf("%s %s: %d %s", path, text, a.status, a.body)
	}
	return out
}

// as sends a request with the key of a name; an empty body is none.
func (c *company) as(name, method, path, body string) *answer {
	c.t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	return c.do(method, path, r, with("Authorization", "Bearer "+c.keys[name]))
}

// Every route of the API refuses who has no valid key with 401 and the reason, and
// who may never use it with 403, whatever else is wrong with the request. To who may,
// it says something else. No request without sense is a failure of the gateway.
func TestEveryRouteKnowsWhoMayUseIt(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	parameter := regexp.MustCompile(`\{[^}]*\}`)
	for _, r := range surface.Routes() {
		path, body := parameter.ReplaceAllString(r.Path, "nothing"), ""
		if r.Body {
			body = "{}"
		}
		for name, code := range map[string]string{
			"": "missing_api_key", "two words": "invalid_api_key", "sk-unknown-0123456789": "invalid_api_key",
			c.keys["deleted"]: "invalid_api_key", c.keys["blocked"]: "key_blocked", c.keys["expired"]: "expired_api_key",
		} {
			a := c.do(r.Method, path, strings.NewReader("not JSON"), with("Authorization", "Bearer "+name))
			if a.status != http.StatusUnauthorized || *a.error(t).Error.Code != code || a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s with a key that is not: %d %s, want 401 %s", r.Method, path, a.status, a.body, code)
			}
		}
		for _, name := range []string{"admin", "viewer", "boss", "rival", "lead", "mate", "alone", "watch", "bare", "caller", "reader", "manager", "narrow", "blue"} {
			want, a := refusedAs(r, name), (*answer)(nil)
			if want == "" && changesItself(r.RPC) {
				continue
			}
			a = c.as(name, r.Method, path, body)
			switch {
			case a.status >= 500 || a.status == http.StatusUnauthorized:
				t.Errorf("%s %s as %s: %d %s", r.Method, path, name, a.status, a.body)
			case want != "" && (a.status != http.StatusForbidden || *a.error(t).Error.Code != want):
				t.Errorf("%s %s as %s: %d %s, want 403 %s", r.Method, path, name, a.status, a.body, want)
			case want == "" && a.status == http.StatusForbidden && (name == "admin" || name == "manager" || *a.error(t).Error.Code == "route_not_allowed"):
				t.Errorf("%s %s as %s: %s, which may use it", r.Method, path, name, a.body)
			}
		}
	}
}

// changesItself reports whether an operation without parameters changes who asks, or
// what all depend on.
func changesItself(rpc string) bool {
	return slices.ContainsFunc([]string{"/RegenerateKey", "/RotateCredentials", "/UpdateConfig"}, func(s string) bool { return strings.HasSuffix(rpc, s) })
}

// refusedAs is the code with which a route refuses a key whatever is asked, or empty.
func refusedAs(r surface.Route, name string) string {
	service, method, _ := strings.Cut(strings.TrimPrefix(r.RPC, "/gateway.v1."), "/")
	read := slices.ContainsFunc([]string{"Get", "List", "Check", "Estimate", "Render", "Verify", "Diff", "Apply", "Discover"}, func(s string) bool { return strings.HasPrefix(method, s) })
	// What every key may use shows it itself and what it spent, the models, and what its
	// organization has for its requests.
	discover := method == "DiscoverModels" // it reads from providers, for admins
	own := method == "GetKey" || method == "CheckKeyHealth" || service == "ModelService" && read && !discover
	used := own || method == "ListSpendLogs" || read && (service == "PromptService" || service == "GuardrailService")
	admins := slices.Contains([]string{
		"BudgetService", "FallbackService", "CredentialService", "ConfigService", "ClusterService",
	}, service) || method == "VerifyAuditLog" || service == "ModelService" && !read || discover ||
		service == "OrganizationService" && slices.Contains([]string{"CreateOrganization", "UpdateOrganization", "DeleteOrganizations"}, method)
	switch name {
	case "caller", "reader":
		if !own && (name == "caller" || !read) {
			return "route_not_allowed"
		}
	case "narrow":
		if !strings.HasPrefix(r.Path, "/key/") {
			return "route_not_allowed"
		}
	case "bare", "blue":
		if !used {
			return "insufficient_permissions"
		}
	case "viewer":
		if !read {
			return "insufficient_permissions"
		}
	case "watch":
		if !read || admins && !own {
			return "insufficient_permissions"
		}
	case "boss", "rival", "lead", "mate", "alone":
		if admins && !own {
			return "insufficient_permissions"
		}
	}
	return ""
}

// What of a route is theirs: the same request by everybody, and who gets it.
func TestWhoSeesAndChangesWhat(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	all := []string{"admin", "viewer", "boss", "rival", "lead", "mate", "alone", "watch", "bare", "caller", "reader", "manager", "blue"}
	blue := hash(c.must("/key/generate", map[string]any{"team_id": "blue"}))
	mate := hash(c.must("/key/generate", map[string]any{"user_id": "mate"}))
	for i := range all {
		c.must("/team/new", map[string]any{"team_id": strconv.Itoa(i), "organization_id": "acme", "admins": []string{"lead"}})
	}
	for _, test := range []struct{ request, body, may string }{
		{"GET /key/info", "", strings.Join(all, " ")},
		{"GET /model/info", "", strings.Join(all, " ")},
		{"GET /v1/models", "", strings.Join(all, " ")},
		{"GET /key/info?key=" + mate, "", "admin viewer mate reader manager"},
		{"GET /key/info?key=" + blue, "", "admin viewer boss lead mate reader manager"},
		{"POST /v2/key/info", `{"keys":["` + mate + `"]}`, "admin viewer boss rival lead mate alone watch reader manager"}, // those that they may see
		{"GET /team/info?team_id=blue", "", "admin viewer boss lead mate reader manager"},
		{"GET /organization/info?organization_id=acme", "", "admin viewer boss lead mate reader manager"},
		{"GET /user/info?user_id=mate", "", "admin viewer boss mate reader manager"},

		{"GET /prompts/" + c.prompt, "", "admin viewer boss lead mate reader manager blue"},
		{"POST /prompts/" + c.prompt + "/render", "{}", "admin viewer boss lead mate reader manager blue"},
		{"GET /prompts/" + c.prompt + "/usage", "", "admin viewer boss lead mate reader manager blue"},

		{"POST /key/update", `{"key":"` + mate + `","metadata":{"a":1}}`, "admin mate manager"},
		{"POST /key/update", `{"key":"` + blue + `","metadata":{"a":1}}`, "admin boss lead manager"},
		{"POST /key/block", `{"key":"` + blue + `"}`, "admin boss lead manager"},
		{"POST /key/generate", `{"team_id":"blue","user_id":"lead"}`, "admin boss lead manager"},
		{"POST /key/generate", `{"user_id":"admin"}`, "admin manager"},
		{"POST /key/generate", `{"models":["*"]}`, "admin manager"},
		{"POST /key/service-account/generate", `{"team_id":"blue"}`, "admin boss lead manager"},
		{"POST /team/update", `{"team_id":"blue","team_alias":"Blue %d"}`, "admin boss lead manager"},
		{"POST /team/update", `{"team_id":"blue","tpm_limit":100%d}`, "admin boss manager"},
		{"PATCH /team/blue", `{"models":["fast-%d"]}`, "admin boss manager"},
		{"POST /team/block", `{"team_id":"%d"}`, "admin boss manager"},
		{"POST /team/member_update", `{"team_id":"blue","user_id":"mate","role":"user"}`, "admin boss lead manager"},
		{"POST /team/new", `{"organization_id":"acme"}`, "admin boss manager"},
		{"POST /team/new", `{}`, "admin manager"},
		{"POST /organization/member_update", `{"organization_id":"acme","user_id":"mate","role":"internal_user"}`, "admin boss manager"},
		{"POST /organization/update", `{"organization_id":"acme","metadata":{"a":1}}`, "admin manager"},
		{"POST /user/update", `{"user_id":"mate","user_alias":"Matt"}`, "admin boss mate manager"},
		{"POST /user/update", `{"user_id":"viewer","user_role":"proxy_admin_viewer","blocked":false}`, "admin manager"},
		{"POST /user/new", `{"user_role":"internal_user","auto_create_key":false,"organizations":["acme"]}`, "admin boss manager"},
		{"POST /user/new", `{"user_role":"proxy_admin","auto_create_key":false}`, "admin manager"},
	} {
		method, path, _ := strings.Cut(test.request, " ")
		var got []string
		for i, name := range all {
			body := test.body
			if strings.Contains(body, "%d") { // something else each time: what changes nothing is nobody's to refuse
				body = fmt.Sprintf(body, i)
			}
			switch a := c.as(name, method, path, body); a.status {
			case http.StatusOK:
				got = append(got, name)
			case http.StatusForbidden:
			case http.StatusNotFound: // as what is not there, where names are guessed
				if !strings.HasPrefix(path, "/prompts/") {
					t.Errorf("%s as %s: %d %s", test.request, name, a.status, a.body)
				}
			default:
				t.Errorf("%s %s as %s: %d %s", test.request, test.body, name, a.status, a.body)
			}
		}
		if strings.Join(got, " ") != test.may {
			t.Errorf("%s %s is for %v, want %s", test.request, test.body, got, test.may)
		}
	}
}

// hash is the hash of a key that was just made.
func hash(made map[string]any) string { return fmt.Sprint(made["token"]) }
