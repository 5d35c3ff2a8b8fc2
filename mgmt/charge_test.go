package mgmt

import (
	"fmt"
	"net/http"
	"testing"
)

// An admin makes keys for members of its team or organization only: a key for another user
// would spend that user's budget. The response does not reveal whether the user exists.
func TestNobodyChargesTheUsersOfOthers(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	play(t, s, []step{{"", "POST /key/generate", `{"key":"sk-a-key-of-a-former-member","organization_id":"acme","user_id":"zoe"}`, "200"}})
	own, _ := madeKey(t, s, "", `{"organization_id":"acme"}`)
	for who, requests := range map[string][]string{
		"boss": {
			`POST /key/generate {"organization_id":"acme","user_id":"%s","key_type":"llm_api"}`,
			`POST /key/generate {"organization_id":"acme","user_id":"%s"}`,
			`POST /key/generate {"team_id":"red","user_id":"%s","key_type":"llm_api"}`,
			`POST /key/update {"key":"` + own + `","user_id":"%s","key_type":"llm_api"}`,
			`POST /key/regenerate {"key":"` + own + `","user_id":"%s","key_type":"llm_api"}`,
		},
		"lead": {`POST /key/generate {"team_id":"red","user_id":"%s","key_type":"llm_api"}`},
	} {
		for _, request := range requests {
			unknown := ""
			for _, user := range []string{"nobody", "zoe", "alone", "root"} {
				target, body := cut(fmt.Sprintf(request, user))
				a := asking(t, s, keys[who], target, body)
				if unknown == "" {
					unknown = a.body
				}
				if a.status != http.StatusForbidden || a.refusal(t) != "insufficient_permissions user_id" || a.body != unknown {
					t.Errorf("%s as %s: %d %s", request, who, a.status, a.body)
				}
			}
		}
	}
	play(t, s, []step{
		// It would show a key that spends zoe's budget.
		{keys["boss"], "POST /key/regenerate", `{"key":"sk-a-key-of-a-former-member"}`, "403 insufficient_permissions user_id"},
		{keys["boss"], "POST /key/block", `{"key":"sk-a-key-of-a-former-member"}`, "200"},
		{keys["boss"], "POST /key/generate", `{"organization_id":"acme","user_id":"ann","key_type":"llm_api"}`, "200"},
		{keys["boss"], "POST /key/generate", `{"organization_id":"acme","user_id":"lead"}`, "200"},
		{keys["boss"], "POST /key/generate", `{"team_id":"red","user_id":"ann","key_type":"llm_api"}`, "200"},
		{keys["lead"], "POST /key/generate", `{"team_id":"red","user_id":"ann","key_type":"llm_api"}`, "200"},
		{"", "POST /key/generate", `{"organization_id":"acme","user_id":"zoe"}`, "200"},
		{"", "POST /key/generate", `{"organization_id":"acme","user_id":"nobody"}`, "404 user_not_found user_id"},
	})
}

// cut splits a request into its method and path, and its body.
func cut(request string) (target, body string) {
	for i := range request {
		if request[i] == '{' {
			return request[:i-1], request[i:]
		}
	}
	return request, ""
}

// A key of a team without a user has no higher limits than the team admin that made it.
func TestServiceKeysKeepTheBoundsOfTheirMaker(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	play(t, s, []step{
		{keys["lead"], "POST /key/service-account/generate", `{"team_id":"red"}`, "200"},
		{"", "POST /team/member_update", `{"team_id":"red","user_id":"lead","max_budget_in_team":1,"rpm_limit":5}`, "200"},
		{keys["lead"], "POST /key/service-account/generate", `{"team_id":"red"}`, "403 insufficient_permissions max_budget"},
		{keys["lead"], "POST /key/service-account/generate", `{"team_id":"red","max_budget":2,"rpm_limit":5}`, "403 insufficient_permissions max_budget"},
		{keys["lead"], "POST /key/service-account/generate", `{"team_id":"red","max_budget":1}`, "403 insufficient_permissions rpm_limit"},
		{keys["lead"], "POST /key/generate", `{"team_id":"red","user_id":null,"max_budget":2,"rpm_limit":5}`, "200"}, // it is lead's own
		{"", "POST /user/update", `{"user_id":"lead","tpm_limit":100}`, "200"},
		{keys["lead"], "POST /key/service-account/generate", `{"team_id":"red","max_budget":1,"rpm_limit":5}`, "403 insufficient_permissions tpm_limit"},
		{"", "POST /team/update", `{"team_id":"red","team_member_key_duration":"30d"}`, "200"},
		{keys["lead"], "POST /key/service-account/generate", `{"team_id":"red","max_budget":1,"rpm_limit":5,"tpm_limit":100}`, "403 insufficient_permissions duration"},
		{keys["boss"], "POST /key/service-account/generate", `{"team_id":"red"}`, "200"},
	})
	made, _ := madeKey(t, s, "", `{"team_id":"red"}`)
	a := asking(t, s, keys["lead"], "POST /key/service-account/generate", `{"team_id":"red","max_budget":1,"rpm_limit":5,"tpm_limit":100,"duration":"30d"}`)
	own, _ := a.json(t)["key"].(string)
	mine, _ := madeKey(t, s, keys["lead"], `{"team_id":"red","max_budget":1}`)
	play(t, s, []step{
		{keys["lead"], "POST /key/update", `{"key":"` + own + `","max_budget":2}`, "403 insufficient_permissions max_budget"},
		{keys["lead"], "POST /key/update", `{"key":"` + own + `","max_budget":0.5}`, "200"},
		{keys["lead"], "POST /key/update", `{"key":"` + own + `","duration":"60d"}`, "403 insufficient_permissions duration"},
		{keys["lead"], "POST /key/update", `{"key":"` + mine + `","user_id":null}`, "403 insufficient_permissions tpm_limit"},
		{keys["lead"], "POST /key/update", `{"key":"` + made + `","tags":["x"]}`, "200"}, // nothing of its bounds
		{keys["lead"], "POST /key/regenerate", `{"key":"` + made + `"}`, "403 insufficient_permissions tpm_limit"},
	})
}

// A team admin grants members no more than the admin has, in memberships and in defaults.
func TestTeamAdminsStayWithinTheirBounds(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	play(t, s, []step{
		{"", "POST /team/update", `{"team_id":"red","team_member_budget":10,"team_member_budget_duration":"30d","team_member_rpm_limit":10,"team_member_key_duration":"30d"}`, "200"},
		{keys["lead"], "POST /team/update", `{"team_id":"red","team_member_budget":100}`, "403 insufficient_permissions team_member_budget"},
		{keys["lead"], "POST /team/update", `{"team_id":"red","team_member_budget":null}`, "403 insufficient_permissions team_member_budget"},
		{keys["lead"], "POST /team/update", `{"team_id":"red","team_member_budget_duration":"1d"}`, "403 insufficient_permissions team_member_budget_duration"},
		{keys["lead"], "POST /team/update", `{"team_id":"red","team_member_rpm_limit":11}`, "403 insufficient_permissions team_member_rpm_limit"},
		{keys["lead"], "POST /team/update", `{"team_id":"red","team_member_key_duration":"60d"}`, "403 insufficient_permissions team_member_key_duration"},
		{keys["lead"], "POST /team/update", `{"team_id":"red","team_member_key_duration":null}`, "403 insufficient_permissions team_member_key_duration"},
		{keys["lead"], "POST /team/member_update", `{"team_id":"red","user_id":"lead","max_budget_in_team":11}`, "403 insufficient_permissions max_budget_in_team"},
		{keys["lead"], "POST /team/member_update", `{"team_id":"red","user_id":"ann","rpm_limit":11}`, "403 insufficient_permissions rpm_limit"},
		{keys["lead"], "POST /team/member_update", `{"team_id":"red","user_id":"ann","max_budget_in_team":5}`, "200"},
		{keys["lead"], "POST /team/update", `{"team_id":"red","team_member_budget":8,"team_member_key_duration":"7d","team_alias":"Red"}`, "200"},
		{keys["lead"], "POST /team/update", `{"team_id":"red","team_member_budget":10}`, "403 insufficient_permissions team_member_budget"},
		// The place of an admin with bounds of its own is what the admin was given.
		{"", "POST /team/member_update", `{"team_id":"blue","user_id":"lead","role":"admin","max_budget_in_team":3}`, "200"},
		{keys["lead"], "POST /team/update", `{"team_id":"blue","team_member_budget":4}`, "403 insufficient_permissions team_member_budget"},
		{keys["lead"], "POST /team/update", `{"team_id":"blue","team_member_budget":3}`, "200"},
		{keys["boss"], "POST /team/update", `{"team_id":"blue","team_member_budget":100}`, "200"},
	})
}

// A team admin adds users of the team's organization by id. Only a proxy_admin adds users
// without an organization, such as a proxy_admin: by their address a team admin makes another
// user, without their rights.
func TestTeamAdminsAddUsersOfTheirOrganization(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	play(t, s, []step{
		{"", "POST /team/new", `{"team_id":"free","admins":["lead"]}`, "200"},
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":{"user_id":"new","role":"internal_user"}}`, "200"},
		{keys["lead"], "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_id":"new"}}`, "200"},
	})
	for _, team := range []string{"red", "free"} {
		for _, member := range []string{`"user_id":"root"`, `"user_id":"root","user_email":"root@gateway.org"`, `"user_id":"alone"`, `"user_id":"zoe"`} {
			a := asking(t, s, keys["lead"], "POST /team/member_add", `{"team_id":"`+team+`","member":{"role":"user",`+member+`}}`)
			if a.status != http.StatusForbidden || a.refusal(t) != "insufficient_permissions member[0]" {
				t.Errorf("%s into %s: %d %s", member, team, a.status, a.body)
			}
		}
		a := asking(t, s, keys["lead"], "POST /team/member_add", `{"team_id":"`+team+`","member":{"role":"user","user_email":"root@gateway.org"}}`)
		users, _ := a.json(t)["updated_users"].([]any)
		if len(users) != 1 || down(t, users[0], "user_id") == "root" || down(t, users[0], "user_role") != "internal_user" {
			t.Errorf("the address into %s: %d %s", team, a.status, a.body)
		}
	}
	play(t, s, []step{
		{keys["lead"], "POST /team/member_add", `{"team_id":"free","member":{"role":"user","user_id":"ann"}}`, "403 insufficient_permissions member[0]"},
		{"", "POST /team/member_add", `{"team_id":"free","member":{"role":"user","user_id":"alone"}}`, "200"},
		{"", "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_id":"root"}}`, "200"},
	})
}

// A member that may not make keys in a team may not move one into it either.
func TestMovingAKeyIntoATeamNeedsTheRightToMakeOne(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	key := keys["ann"]
	play(t, s, []step{
		{"", "POST /team/permissions_update", `{"team_id":"green","team_member_permissions":["/key/update"]}`, "200"},
		{"", "POST /team/new", `{"team_id":"free","members":["ann"]}`, "200"},
		{"", "POST /team/permissions_update", `{"team_id":"free","team_member_permissions":["/key/update"]}`, "200"},
		{key, "POST /key/update", `{"key":"` + key + `","team_id":"green"}`, "403 insufficient_permissions team_id"},
		{key, "POST /key/update", `{"key":"` + key + `","team_id":"free"}`, "403 insufficient_permissions team_id"},
		{"", "POST /team/permissions_update", `{"team_id":"free","team_member_permissions":["/key/update","/key/generate"]}`, "200"},
		{key, "POST /key/update", `{"key":"` + key + `","team_id":"free"}`, "200"},
	})
}

// A key of a team that belongs to no user names whose bounds hold for it: the admin of the
// team who made it, or took it from its user, or had it regenerated. Nobody above the team
// puts a name there or takes it away but with the user or the team of the key.
func TestWhoBoundsServiceKeys(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	play(t, s, []step{{"", "POST /team/member_update", `{"team_id":"red","user_id":"ann","role":"admin"}`, "200"}})
	made := func(who string) (key string, by any) {
		a := asking(t, s, keys[who], "POST /key/service-account/generate", `{"team_id":"red"}`)
		v := a.json(t)
		key, _ = v["key"].(string)
		return key, v["bounded_by_user_id"]
	}
	for maker, want := range map[string]any{"lead": "lead", "ann": "ann", "boss": nil, "root": nil, "": nil} {
		if _, by := made(maker); by != want {
			t.Errorf("a key that %q made is bounded by %v, want %v", maker, by, want)
		}
	}
	ofLead, _ := made("lead")
	ofRoot, _ := made("root")
	other, _ := made("lead")
	moved, _ := made("lead")
	for i, c := range []struct {
		who, path string
		key       *string
		more      string
		want      any
	}{
		{"boss", "/key/update", &ofLead, `"tags":["a"]`, "lead"},
		{"ann", "/key/update", &ofLead, `"tags":["b"]`, "lead"},
		{"boss", "/key/regenerate", &ofLead, ``, "lead"},
		{"ann", "/key/regenerate", &ofLead, ``, "ann"},
		{"lead", "/key/update", &ofLead, `"tags":["c"]`, "ann"},
		{"lead", "/key/update", &ofRoot, `"tags":["a"]`, nil},
		{"lead", "/key/regenerate", &ofRoot, ``, "lead"},
		{"root", "/key/update", &other, `"user_id":"ann"`, nil},
		{"root", "/key/update", &other, `"clear":["user_id"]`, nil},
		{"root", "/key/update", &other, `"user_id":"ann"`, nil},
		{"lead", "/key/update", &other, `"clear":["user_id"]`, "lead"},
		{"root", "/key/update", &moved, `"team_id":"blue"`, nil},
	} {
		body := `{"key":"` + *c.key + `"`
		if c.more != "" {
			body += "," + c.more
		}
		a := asking(t, s, keys[c.who], "POST "+c.path, body+"}")
		v := a.json(t)
		if a.status != http.StatusOK || v["bounded_by_user_id"] != c.want {
			t.Errorf("step %d, %s %s: %d, bounded by %v, want %v", i, c.who, c.path, a.status, v["bounded_by_user_id"], c.want)
		}
		if c.path == "/key/regenerate" {
			*c.key, _ = v["key"].(string)
		}
	}
}
