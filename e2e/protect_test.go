package e2e

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// guarded is a file that asks for guards which do not exist here.
func guarded(p *upstream) string {
	return `
model_list:
  - model_name: fast
    litellm_params: {model: openai/fake-gpt, api_base: "` + p.url + `/v1", api_key: k, tags: [free]}
litellm_settings: {callbacks: [prometheus, presidio]}
`
}

// TestStartsUnprotectedOnlyIfAccepted starts a file that asks for two guards: with
// neither or one of them accepted it does not start, and with both accepted each
// start warns of both.
func TestStartsUnprotectedOnlyIfAccepted(t *testing.T) {
	t.Parallel()
	g := newGateway(t, guarded(newUpstream(t)))
	tags, presidio := "--accept-unprotected=litellm_params.tags", "--accept-unprotected=callbacks.presidio"
	for _, args := range [][]string{nil, {tags}} {
		check := append([]string{"config", "check", g.config}, args...)
		out, err := exec.Command(binary(t), check...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "requests would be served without this guard") || !strings.Contains(string(out), presidio[:20]) {
			t.Errorf("config check %v: %v\n%s", args, err, out)
		}
		g.args = args
		g.launch()
		if err := <-g.exited; err == nil || !strings.Contains(g.log.String(), "callbacks[1]: is not supported") {
			t.Fatalf("serve %v: %v\n%s", args, err, g.log.String())
		}
	}
	g.args = []string{tags, presidio}
	for range 2 {
		g.start()
		if a := g.chat(request("fast", "")); a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
		for _, name := range []string{"litellm_params.tags", "callbacks.presidio"} {
			if !strings.Contains(g.log.String(), "is not enforced, as --accept-unprotected "+name+" accepts") {
				t.Errorf("no warning names %s", name)
			}
		}
		g.stop()
	}
}

// TestDefaultsOfUsersAndTeams creates users and teams at a gateway whose file has
// defaults for them: without a budget of their own they get the file's, and it holds.
func TestDefaultsOfUsersAndTeams(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, `
model_list:
  - model_name: fast
    litellm_params: {model: openai/fake-gpt, api_base: "`+p.url+`/v1", api_key: k, input_cost_per_token: 0.001, output_cost_per_token: 0.001}
litellm_settings:
  default_internal_user_params: {max_budget: 0.0001, budget_duration: 30d, user_role: internal_user_viewer, models: [fast]}
  default_team_params: {max_budget: 0.0002, budget_duration: 7d, team_member_permissions: ["/key/info"]}
`)
	shows := func(record tree, want map[string]any) {
		t.Helper()
		for name, value := range want {
			if diff := cmp.Diff(value, record.at(name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
	ada := g.changes("/user/new", tree{"user_id": "ada"})
	shows(ada, map[string]any{"max_budget": 0.0001, "budget_duration": "30d", "user_role": "internal_user_viewer", "models": []any{"fast"}})
	shows(g.changes("/user/new", tree{"user_id": "bob", "max_budget": 7, "user_role": "internal_user", "models": []string{"other"}}),
		map[string]any{"max_budget": 7.0, "budget_duration": "30d", "user_role": "internal_user", "models": []any{"other"}})
	shows(g.changes("/user/new", tree{"user_id": "root", "user_role": "proxy_admin"}), map[string]any{"max_budget": nil, "models": []any{}})
	team := g.changes("/team/new", tree{"team_id": "blue"})
	shows(team, map[string]any{"max_budget": 0.0002, "budget_duration": "7d", "team_member_permissions": []any{"/key/info"}})
	shows(g.changes("/team/new", tree{"team_id": "red", "max_budget": 3}), map[string]any{"max_budget": 3.0, "budget_duration": "7d"})

	// A user that is created because a team or an organization takes it in is no way around.
	g.changes("/team/member_add", tree{"team_id": "blue", "member": tree{"user_id": "carl", "role": "user"}})
	shows(g.sees("/user/info?user_id=carl").in("user_info"), map[string]any{"max_budget": 0.0001, "user_role": "internal_user_viewer"})
	g.changes("/organization/new", tree{"organization_id": "acme", "organization_alias": "acme"})
	g.changes("/organization/member_add", tree{"organization_id": "acme", "member": tree{"user_id": "dora", "role": "internal_user"}})
	shows(g.sees("/user/info?user_id=dora").in("user_info"), map[string]any{"max_budget": 0.0001})

	blue := g.changes("/key/generate", tree{"team_id": "blue"})
	for owner, key := range map[string]any{"user": ada.at("key"), "team": blue.at("key")} {
		a := g.chat(request("fast", ""), with("Authorization", "Bearer "+key.(string)))
		if a.status != http.StatusTooManyRequests || !strings.Contains(a.body, "budget_exceeded") {
			t.Errorf("the default budget of a %s does not hold: %d %s", owner, a.status, a.body)
		}
	}
}

// in returns an object of the answer.
func (v tree) in(name string) tree {
	inner, _ := v[name].(map[string]any)
	return inner
}

// TestEnforcedParams sends requests with and without the parameters that the file
// requires: of each request, and of those of service accounts.
func TestEnforcedParams(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt")+`
general_settings:
  master_key: `+adminKey+`
  enforced_params: [metadata.project]
  enforce_user_param: true
  service_account_settings: {enforced_params: [metadata.job]}
`)
	g.changes("/team/new", tree{"team_id": "blue"})
	g.changes("/user/new", tree{"user_id": "ada", "auto_create_key": false})
	own := g.changes("/key/generate", tree{"user_id": "ada"}).at("key").(string)
	service := g.changes("/key/service-account/generate", tree{"team_id": "blue"}).at("key").(string)
	const whole = `,"user":"u","metadata":{"project":"p"}`
	for _, c := range []struct{ key, members, missing string }{
		{own, whole, ""},
		{own, `,"user":"u","metadata":{"project":{"name":"p"}}`, ""},
		{own, ``, "metadata.project"},
		{own, `,"user":"u"`, "metadata.project"},
		{own, `,"user":"u","metadata":{"project":null}`, "metadata.project"},
		{own, `,"metadata":{"project":"p"}`, "user"},
		{own, `,"user":"","metadata":{"project":"p"}`, "user"},
		{service, whole, "metadata.job"},
		{service, `,"user":"u","metadata":{"project":"p","job":"nightly"}`, ""},
	} {
		a := g.chat(request("fast", c.members), with("Authorization", "Bearer "+c.key))
		if c.missing == "" {
			if a.status != http.StatusOK {
				t.Errorf("%s: %d %s", c.members, a.status, a.body)
			}
			continue
		}
		e := a.error(t).Error
		if a.status != http.StatusBadRequest || e.Code == nil || *e.Code != "missing_required_parameter" || e.Param == nil || *e.Param != c.missing {
			t.Errorf("%s: %d %s", c.members, a.status, a.body)
		}
	}
}

// TestKeyGenerationSettings makes keys at a gateway whose file says who may: in teams
// their admins, who must give tags, and elsewhere only a proxy_admin.
func TestKeyGenerationSettings(t *testing.T) {
	t.Parallel()
	g := startGateway(t, models(newUpstream(t), "fast=openai/fake-gpt")+`
litellm_settings:
  key_generation_settings:
    team_key_generation: {allowed_team_member_roles: [admin], required_params: [tags]}
    personal_key_generation: {allowed_user_roles: [proxy_admin]}
`)
	caller := map[string]string{"master": adminKey}
	for _, user := range []string{"lead", "mate"} {
		g.changes("/user/new", tree{"user_id": user, "auto_create_key": false})
		caller[user] = g.changes("/key/generate", tree{"user_id": user}).at("key").(string)
	}
	g.changes("/team/new", tree{"team_id": "blue", "team_member_permissions": []string{"/key/generate", "/key/update"}, "members_with_roles": []any{
		tree{"user_id": "lead", "role": "admin"}, tree{"user_id": "mate", "role": "user"},
	}})
	moved := g.changes("/key/generate", tree{"user_id": "mate"}).at("token").(string)
	for _, c := range []struct {
		who, path, body string
		status          int
		says            string
	}{
		{"lead", "/key/generate", `{"team_id":"blue","tags":["a"]}`, http.StatusOK, ""},
		{"lead", "/key/service-account/generate", `{"team_id":"blue","tags":["a"]}`, http.StatusOK, ""},
		{"lead", "/key/generate", `{"team_id":"blue"}`, http.StatusBadRequest, "requires tags"},
		{"lead", "/key/generate", `{"tags":["a"]}`, http.StatusForbidden, "only these roles make keys outside of teams: proxy_admin"},
		{"mate", "/key/generate", `{"team_id":"blue","tags":["a"]}`, http.StatusForbidden, "only these roles make keys of teams: admin"},
		{"mate", "/key/update", `{"key":"` + moved + `","team_id":"blue","tags":["a"]}`, http.StatusForbidden, "only these roles make keys of teams: admin"},
		{"master", "/key/generate", `{}`, http.StatusOK, ""},
		{"master", "/key/generate", `{"team_id":"blue"}`, http.StatusOK, ""},
	} {
		a := g.do(http.MethodPost, c.path, strings.NewReader(c.body), with("Authorization", "Bearer "+caller[c.who]))
		if c.status == http.StatusBadRequest && a.status == http.StatusUnprocessableEntity {
			a.status = http.StatusBadRequest // the management API's form of the same
		}
		if a.status != c.status || !strings.Contains(a.body, c.says) {
			t.Errorf("%s %s %s: %d %s", c.who, c.path, c.body, a.status, a.body)
		}
	}
}
