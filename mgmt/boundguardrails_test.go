package mgmt

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

const filterOfX = `"engines":[{"engine_name":"content_filter","event_hooks":["pre_call"],"config":{"banned_keywords":["x"]}}]}`

// TestBoundGuardrails: keys, teams and organizations have ids of guardrails instead of the names in
// the request, and requests change and clear them.
func TestBoundGuardrails(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /organization/new", `{"organization_id":"other","organization_alias":"Other"}`, "200"},
	})
	idOf := map[string]string{}
	for name, org := range map[string]string{"pii": "", "words": `"organization_id":"acme",`, "secret": `"organization_id":"other",`} {
		a := ask(t, s, "POST /guardrail", `{"guardrail_name":"`+name+`",`+org+filterOfX, nil)
		idOf[name] = fmt.Sprint(a.json(t)["guardrail_id"])
	}
	has := func(names ...string) string {
		for i, name := range names {
			names[i] = `"` + idOf[name] + `"`
		}
		return "200 [" + strings.Join(names, ",") + "]"
	}
	looks(t, s, []look{
		{"", "POST /team/new", `{"team_id":"blue","organization_id":"acme","guardrails":["words","pii","` + idOf["words"] + `"]}`, "guardrails", has("words", "pii")},
		{"", "POST /key/generate", `{"key":"sk-bound-0123456789abcdef","team_id":"blue","guardrails":["words"]}`, "guardrails", has("words")},
		{"", "POST /key/update", `{"key":"sk-bound-0123456789abcdef","tags":["x"]}`, "guardrails", has("words")},
		{"", "POST /key/update", `{"key":"sk-bound-0123456789abcdef","guardrails":["pii","words"]}`, "guardrails", has("pii", "words")},
		{"", "POST /key/regenerate", `{"key":"sk-bound-0123456789abcdef","new_key":"sk-again-0123456789abcdef"}`, "guardrails", has("pii", "words")},
		{"", "POST /key/update", `{"key":"sk-again-0123456789abcdef","guardrails":[]}`, "guardrails", has()},
		{"", "PATCH /team/blue", `{"guardrails":["pii"]}`, "guardrails", has("pii")},
		{"", "PATCH /team/blue", `{"guardrails":null}`, "guardrails", has()},
		{"", "PATCH /organization/update", `{"organization_id":"acme","guardrails":["words"]}`, "guardrails", has("words")},
		{"", "GET /organization/info?organization_id=acme", "", "guardrails", has("words")},
		{"", "POST /organization/new", `{"organization_alias":"New","guardrails":["pii"]}`, "guardrails", has("pii")},

		{"", "POST /key/generate", `{"team_id":"blue","guardrails":["pii","nothing"]}`, "", "404 guardrail_not_found guardrails[1]"},
		{"", "POST /key/generate", `{"team_id":"blue","guardrails":["secret"]}`, "", "404 guardrail_not_found guardrails[0]"},
		{"", "POST /key/generate", `{"guardrails":["words"]}`, "", "404 guardrail_not_found guardrails[0]"},
		{"", "POST /team/new", `{"organization_id":"other","guardrails":["words"]}`, "", "404 guardrail_not_found guardrails[0]"},
		{"", "PATCH /team/blue", `{"guardrails":["` + idOf["secret"] + `"]}`, "", "404 guardrail_not_found guardrails[0]"},
		{"", "PATCH /organization/update", `{"organization_id":"other","guardrails":["words"]}`, "", "404 guardrail_not_found guardrails[0]"},

		{"", "DELETE /guardrail/" + idOf["words"], "", "", "409 guardrail_in_use guardrail_id"},
		{"", "PATCH /organization/update", `{"organization_id":"acme","guardrails":[]}`, "guardrails", has()},
		{"", "DELETE /guardrail/" + idOf["words"], "", "deleted", "200 true"},
	})
}

// TestWhoChangesBoundGuardrails: what a caller makes has the guardrails of the caller's key, and a team
// admin changes none of the team's.
func TestWhoChangesBoundGuardrails(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /guardrail", `{"guardrail_name":"a",` + filterOfX, "200"},
		{"", "POST /guardrail", `{"guardrail_name":"b",` + filterOfX, "200"},
		{"", "POST /team/new", `{"team_id":"blue","guardrails":["a"]}`, "200"},
	})
	user := account(t, s, `{"user_id":"ada"}`)
	play(t, s, []step{
		{"", "POST /team/member_add", `{"team_id":"blue","member":[{"user_id":"ada","role":"admin"}]}`, "200"},
		{user, "PATCH /team/blue", `{"guardrails":[]}`, "403 insufficient_permissions guardrails"},
		{user, "PATCH /team/blue", `{"guardrails":["a","b"]}`, "403 insufficient_permissions guardrails"},
		{user, "POST /key/generate", `{"key":"sk-bound-0123456789abcdef","guardrails":["a"]}`, "200"},
		{"sk-bound-0123456789abcdef", "POST /key/generate", `{}`, "403 insufficient_permissions guardrails"},
		{"sk-bound-0123456789abcdef", "POST /key/generate", `{"guardrails":["b"]}`, "403 insufficient_permissions guardrails"},
		{"sk-bound-0123456789abcdef", "POST /key/update", `{"key":"sk-bound-0123456789abcdef","guardrails":[]}`, "403 insufficient_permissions guardrails"},
		{"sk-bound-0123456789abcdef", "POST /key/generate", `{"guardrails":["b","a"]}`, "200"},
		{"sk-bound-0123456789abcdef", "POST /key/generate", `{"team_id":"blue"}`, "200"}, // the team has it
	})
}

// TestNothingHasADeletedGuardrail: a guardrail that is deleted while a key gets it is deleted or used, and
// never both.
func TestNothingHasADeletedGuardrail(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	for i := range 30 {
		name := fmt.Sprintf("g%d", i)
		play(t, s, []step{{"", "POST /guardrail", `{"guardrail_name":"` + name + `",` + filterOfX, "200"}})
		var used, deleted answer
		var both sync.WaitGroup
		both.Go(func() { used = ask(t, s, "POST /key/generate", `{"guardrails":["`+name+`"]}`, nil) })
		both.Go(func() { deleted = ask(t, s, "DELETE /guardrail/"+name, "", nil) })
		both.Wait()
		if used.status == 200 && deleted.status != 409 || deleted.status == 200 && used.status < 400 {
			t.Fatalf("used: %d %s\ndeleted: %d %s", used.status, used.body, deleted.status, deleted.body)
		}
	}
}

// TestGuardrailsOfModels: deployments have ids of guardrails that belong to no organization, requests change and clear
// them, and a guardrail that a deployment has stays.
func TestGuardrailsOfModels(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"}})
	idOf := map[string]string{}
	for name, org := range map[string]string{"pii": "", "words": "", "own": `"organization_id":"acme",`} {
		a := ask(t, s, "POST /guardrail", `{"guardrail_name":"`+name+`",`+org+filterOfX, nil)
		idOf[name] = fmt.Sprint(a.json(t)["guardrail_id"])
	}
	info := func(names ...string) string {
		for i, name := range names {
			names[i] = `"` + idOf[name] + `"`
		}
		return `"guardrails":[` + strings.Join(names, ",") + `]`
	}
	const params = `"gateway_params":{"model":"openai/m","api_key":"k"}`
	for _, one := range []struct{ target, body, want string }{
		{"POST /model/new", `{"model_name":"m",` + params + `,"model_info":{"id":"d","guardrails":["pii","` + idOf["pii"] + `","words"]}}`, info("pii", "words")},
		{"POST /model/update", `{"model_id":"d","gateway_params":{"rpm":7}}`, info("pii", "words")},
		{"POST /model/update", `{"model_id":"d","litellm_params":{"guardrails":["words"]}}`, info("words")},
		{"POST /model/update", `{"model_id":"d","litellm_params":{"guardrails":[]}}`, info()},
		{"POST /model/update", `{"model_id":"d","model_info":{"guardrails":["words"]}}`, info("words")},
		{"POST /model/update", `{"model_id":"d","model_info":{"guardrails":null}}`, info()},
		{"POST /model/new", `{"model_name":"m","litellm_params":{"model":"openai/m","api_key":"k","guardrails":["words"]},"model_info":{"id":"e"}}`, info("words")},
	} {
		if a := ask(t, s, one.target, one.body, nil); a.status != 200 || !strings.Contains(strings.ReplaceAll(a.body, `", "`, `","`), one.want) {
			t.Errorf("%s: %d %s, want %s", one.body, a.status, a.body, one.want)
		}
	}
	user := account(t, s, `{"user_id":"ada","organizations":["acme"],"user_role":"internal_user"}`)
	looks(t, s, []look{
		{"", "POST /model/new", `{"model_name":"m",` + params + `,"model_info":{"guardrails":["pii","nothing"]}}`, "", "404 guardrail_not_found model_info.guardrails[1]"},
		{"", "POST /model/new", `{"model_name":"m",` + params + `,"model_info":{"guardrails":["own"]}}`, "", "404 guardrail_not_found model_info.guardrails[0]"},
		{"", "POST /model/update", `{"model_id":"d","litellm_params":{"guardrails":["nothing"]}}`, "", "404 guardrail_not_found model_info.guardrails[0]"},
		{"", "POST /model/update", `{"model_id":"d","litellm_params":{"guardrails":["pii"]},"model_info":{"guardrails":["pii"]}}`, "", "422 invalid_value gateway_params.guardrails"},
		{"", "POST /model/update", `{"model_id":"d","litellm_params":{"guardrails":"pii"}}`, "", "422 invalid_type model_info.guardrails"},
		{"", "POST /model/update", `{"model_id":"d","litellm_params":{"guardrails":[{"presidio":true}]}}`, "", "422 invalid_type model_info.guardrails[0]"},
		{user, "POST /model/update", `{"model_id":"d","model_info":{"guardrails":["pii"]}}`, "", "403 insufficient_permissions"},
		{user, "POST /model/new", `{"model_name":"m",` + params + `,"model_info":{"guardrails":["pii"]}}`, "", "403 insufficient_permissions"},

		{"", "DELETE /guardrail/words", "", "", "409 guardrail_in_use guardrail_id"},
		{"", "PATCH /guardrail/words", `{"guardrail_name":"terms"}`, "guardrail_name", `200 "terms"`},
		{"", "DELETE /model/delete", `{"id":"e"}`, "deleted", "200 true"},
		{"", "DELETE /guardrail/terms", "", "deleted", "200 true"},
	})
	if a := asking(t, s, user, "GET /model/info", ""); strings.Contains(a.body, "guardrails\":[\"") {
		t.Errorf("a user sees the guardrails of models: %s", a.body)
	}
}

// TestNoModelHasADeletedGuardrail: a guardrail that is deleted while a model gets it is deleted or used, and never both.
func TestNoModelHasADeletedGuardrail(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	for i := range 30 {
		name := fmt.Sprintf("g%d", i)
		play(t, s, []step{{"", "POST /guardrail", `{"guardrail_name":"` + name + `",` + filterOfX, "200"}})
		var used, deleted answer
		var both sync.WaitGroup
		both.Go(func() {
			used = ask(t, s, "POST /model/new", `{"model_name":"m","gateway_params":{"model":"openai/m","api_key":"k"},"model_info":{"guardrails":["`+name+`"]}}`, nil)
		})
		both.Go(func() { deleted = ask(t, s, "DELETE /guardrail/"+name, "", nil) })
		both.Wait()
		if used.status == 200 && deleted.status != 409 || deleted.status == 200 && used.status < 400 {
			t.Fatalf("used: %d %s\ndeleted: %d %s", used.status, used.body, deleted.status, deleted.body)
		}
	}
}
