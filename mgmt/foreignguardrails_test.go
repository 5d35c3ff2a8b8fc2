package mgmt

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestGuardrailsOfOtherOrganizations: an org_admin neither sees nor gives guardrails of another organization, nor does it see or change
// those of another organization's teams and keys.
func TestGuardrailsOfOtherOrganizations(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	const foreignKey, ownKey = "sk-foreign-0123456789abcdef", "sk-own-0123456789abcdef"
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /organization/new", `{"organization_id":"other","organization_alias":"Other"}`, "200"},
	})
	idOf := map[string]string{}
	for name, org := range map[string]string{"pii": "", "words": `"organization_id":"acme",`, "secret": `"organization_id":"other",`} {
		a := ask(t, s, "POST /guardrail", `{"guardrail_name":"`+name+`",`+org+filterOfX, nil)
		idOf[name] = fmt.Sprint(a.json(t)["guardrail_id"])
	}
	boss := account(t, s, `{"user_id":"boss"}`)
	play(t, s, []step{
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":[{"role":"org_admin","user_id":"boss"}]}`, "200"},
		{"", "POST /team/new", `{"team_id":"blue","organization_id":"acme"}`, "200"},
		{"", "POST /team/new", `{"team_id":"red","organization_id":"other","guardrails":["secret"]}`, "200"},
		{"", "POST /key/generate", `{"key":"` + ownKey + `","team_id":"blue"}`, "200"},
		{"", "POST /key/generate", `{"key":"` + foreignKey + `","team_id":"red","guardrails":["secret"]}`, "200"},

		{boss, "PATCH /team/blue", `{"guardrails":["words","pii"]}`, "200"},
		{boss, "POST /key/update", `{"key":"` + ownKey + `","guardrails":["words"]}`, "200"},
	})
	for _, ref := range []string{"secret", idOf["secret"]} {
		play(t, s, []step{
			{boss, "PATCH /team/blue", `{"guardrails":["` + ref + `"]}`, "404 guardrail_not_found guardrails[0]"},
			{boss, "POST /team/new", `{"organization_id":"acme","guardrails":["pii","` + ref + `"]}`, "404 guardrail_not_found guardrails[1]"},
			{boss, "POST /key/generate", `{"team_id":"blue","guardrails":["` + ref + `"]}`, "404 guardrail_not_found guardrails[0]"},
			{boss, "POST /key/update", `{"key":"` + ownKey + `","guardrails":["` + ref + `"]}`, "404 guardrail_not_found guardrails[0]"},
			{boss, "GET /guardrail/" + ref, "", "404 guardrail_not_found guardrail_id"},
			{boss, "DELETE /guardrail/" + ref, "", "404 guardrail_not_found guardrail_id"},
			{boss, "PATCH /guardrail/" + ref, `{"default_on":true}`, "404 guardrail_not_found guardrail_id"},
		})
	}
	for _, one := range []struct{ target, body string }{
		{"GET /team/info?team_id=red", ""},
		{"GET /key/info?key=" + foreignKey, ""},
		{"GET /organization/info?organization_id=other", ""},
		{"PATCH /team/red", `{"guardrails":[]}`},
		{"PATCH /team/red", `{"guardrails":["pii"]}`},
		{"POST /key/update", `{"key":"` + foreignKey + `","guardrails":[]}`},
		{"POST /key/generate", `{"team_id":"red","guardrails":["pii"]}`},
		{"POST /team/new", `{"organization_id":"other","guardrails":["pii"]}`},
		{"PATCH /organization/update", `{"organization_id":"other","guardrails":["pii"]}`},
	} {
		a := asking(t, s, boss, one.target, one.body)
		if a.status != http.StatusForbidden && a.status != http.StatusNotFound || strings.Contains(a.body, idOf["secret"]) {
			t.Errorf("%s %s: %d %s", one.target, one.body, a.status, a.body)
		}
	}
	for _, list := range []string{"GET /guardrail", "GET /team/list", "GET /key/list?return_full_object=true", "GET /v2/team/list"} {
		if a := asking(t, s, boss, list, ""); a.status != http.StatusOK || strings.Contains(a.body, idOf["secret"]) {
			t.Errorf("%s: %d %s", list, a.status, a.body)
		}
	}
	if a := ask(t, s, "GET /key/info?key="+foreignKey, "", nil); !strings.Contains(a.body, `"guardrails":["`+idOf["secret"]+`"]`) {
		t.Errorf("the foreign key has %s", a.body)
	}
}

// TestTeamsKeepTheGuardrailsOfTheirMakersKeys: what a key of an org_admin makes or changes has at least the guardrails of the
// key, or a key of the team would escape them.
func TestTeamsKeepTheGuardrailsOfTheirMakersKeys(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /guardrail", `{"guardrail_name":"a",` + filterOfX, "200"},
		{"", "POST /guardrail", `{"guardrail_name":"b",` + filterOfX, "200"},
	})
	boss := account(t, s, `{"user_id":"boss"}`)
	const bound = "sk-bound-0123456789abcdef"
	play(t, s, []step{
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":[{"role":"org_admin","user_id":"boss"}]}`, "200"},
		{"", "POST /team/new", `{"team_id":"old","organization_id":"acme","guardrails":["a"]}`, "200"},
		{"", "POST /team/new", `{"team_id":"bare","organization_id":"acme"}`, "200"},
		{boss, "POST /key/generate", `{"key":"` + bound + `","user_id":"boss","guardrails":["a"]}`, "200"},

		{bound, "POST /team/new", `{"organization_id":"acme"}`, "403 insufficient_permissions guardrails"},
		{bound, "POST /team/new", `{"organization_id":"acme","guardrails":["b"]}`, "403 insufficient_permissions guardrails"},
		{bound, "POST /team/new", `{"organization_id":"acme","guardrails":["b","a"]}`, "200"},
		{bound, "PATCH /team/old", `{"guardrails":["b"]}`, "403 insufficient_permissions guardrails"},
		{bound, "PATCH /team/old", `{"guardrails":["a","b"]}`, "200"},
		{bound, "PATCH /team/bare", `{"guardrails":["b"]}`, "200"}, // it had none, so nothing is lost
		{bound, "POST /key/generate", `{"team_id":"bare"}`, "403 insufficient_permissions guardrails"},
		{bound, "POST /key/generate", `{"team_id":"bare","guardrails":["a"]}`, "200"},
		{boss, "PATCH /team/old", `{"guardrails":[]}`, "200"},
	})
}
