package mgmt

import (
	"testing"
)

// tenants is a gateway with two organizations. acme has the teams red and blue, and
// zeta has the team green. The map has the key of each user under the user's id.
func tenants(t *testing.T) (*Server, map[string]string) {
	t.Helper()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /organization/new", `{"organization_id":"zeta","organization_alias":"Zeta"}`, "200"},
	})
	keys := map[string]string{}
	for user, body := range map[string]string{
		"boss": `"organizations":["acme","zeta"]`, "lead": `"organizations":["acme"]`, "ann": `"organizations":["acme","zeta"]`,
		"zoe": `"organizations":["zeta"],"user_email":"zoe@zeta.org"`, "alone": `"user_email":"alone@home.org"`, "root": `"user_role":"proxy_admin","user_email":"root@gateway.org"`,
	} {
		keys[user] = account(t, s, `{"user_id":"`+user+`",`+body+`}`)
	}
	play(t, s, []step{
		{"", "POST /organization/member_update", `{"organization_id":"acme","user_id":"boss","role":"org_admin"}`, "200"},
		{"", "POST /organization/member_update", `{"organization_id":"zeta","user_id":"zoe","role":"org_admin"}`, "200"},
		{"", "POST /team/new", `{"team_id":"red","organization_id":"acme","admins":["lead"],"members":["ann","boss"]}`, "200"},
		{"", "POST /team/new", `{"team_id":"blue","organization_id":"acme","members":["ann","lead"]}`, "200"},
		{"", "POST /team/new", `{"team_id":"green","organization_id":"zeta","members":["ann"]}`, "200"},
		{"", "POST /team/permissions_update", `{"team_id":"red","team_member_permissions":["/key/generate","/key/update","/key/regenerate","/key/info"]}`, "200"},
		{"", "POST /team/permissions_update", `{"team_id":"blue","team_member_permissions":["/key/generate","/key/update"]}`, "200"},
	})
	return s, keys
}

// A key spends from its own team and organization: it makes no key elsewhere, and
// moves none out, unless its user has rights above that place.
func TestKeysStayInTheirPlace(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	inRed, _ := madeKey(t, s, "", `{"team_id":"red","user_id":"ann"}`)
	inAcme, _ := madeKey(t, s, "", `{"organization_id":"acme","user_id":"ann"}`)
	leads, _ := madeKey(t, s, "", `{"team_id":"red","user_id":"lead"}`)
	bossInRed, _ := madeKey(t, s, "", `{"team_id":"red","user_id":"boss"}`)
	play(t, s, []step{
		// A key in a team.
		{inRed, "POST /key/generate", `{"models":["fast"]}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/generate", `{"organization_id":"acme"}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/generate", `{"organization_id":"zeta"}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/generate", `{"team_id":"blue"}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/generate", `{"team_id":"green"}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/generate", `{"team_id":"red"}`, "200"},
		{inRed, "POST /key/update", `{"key":"` + inRed + `","clear":["team_id"]}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/update", `{"key":"` + inRed + `","team_id":null,"organization_id":null}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/update", `{"key":"` + inRed + `","team_id":"blue"}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/regenerate", `{"key":"` + inRed + `","team_id":null}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/update", `{"key":"` + keys["ann"] + `","tags":["x"]}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/regenerate", `{"key":"` + keys["ann"] + `"}`, "403 insufficient_permissions team_id"},
		{inRed, "POST /key/delete", `{"keys":["` + keys["ann"] + `"]}`, "403 insufficient_permissions team_id"},
		{leads, "POST /key/generate", `{}`, "403 insufficient_permissions team_id"},
		{leads, "POST /key/update", `{"key":"` + inRed + `","team_id":null}`, "403 insufficient_permissions team_id"},
		// A key of an organization.
		{inAcme, "POST /key/generate", `{}`, "403 insufficient_permissions organization_id"},
		{inAcme, "POST /key/generate", `{"organization_id":"zeta"}`, "403 insufficient_permissions organization_id"},
		{inAcme, "POST /key/generate", `{"team_id":"green"}`, "403 insufficient_permissions organization_id"},
		{inAcme, "POST /key/generate", `{"organization_id":"acme"}`, "200"},
		{inAcme, "POST /key/generate", `{"team_id":"blue"}`, "200"},
		{inAcme, "POST /key/update", `{"key":"` + inAcme + `","organization_id":null}`, "403 insufficient_permissions organization_id"},
		{inAcme, "POST /key/update", `{"key":"` + keys["ann"] + `","tags":["x"]}`, "403 insufficient_permissions organization_id"},
		// A key without a place enters its user's teams, and takes no key out of them.
		{keys["ann"], "POST /key/generate", `{"team_id":"blue"}`, "200"},
		{keys["ann"], "POST /key/update", `{"key":"` + inRed + `","team_id":null}`, "403 insufficient_permissions team_id"},
		{keys["ann"], "POST /key/update", `{"key":"` + inRed + `","team_id":"blue"}`, "403 insufficient_permissions team_id"},
		{keys["ann"], "POST /key/update", `{"key":"` + inAcme + `","organization_id":null}`, "403 insufficient_permissions organization_id"},
		// An org_admin has rights above the team, and none above the organization.
		{bossInRed, "POST /key/generate", `{"organization_id":"acme"}`, "200"},
		{bossInRed, "POST /key/generate", `{"team_id":"blue","user_id":"ann","key_type":"llm_api"}`, "200"},
		{bossInRed, "POST /key/update", `{"key":"` + inRed + `","team_id":"blue"}`, "200"},
		{bossInRed, "POST /key/update", `{"key":"` + inRed + `","team_id":null}`, "200"},
		{bossInRed, "POST /key/update", `{"key":"` + inRed + `","organization_id":null}`, "403 insufficient_permissions organization_id"},
		{bossInRed, "POST /key/generate", `{}`, "403 insufficient_permissions organization_id"},
		{bossInRed, "POST /key/generate", `{"organization_id":"zeta"}`, "403 insufficient_permissions organization_id"},
		{keys["boss"], "POST /key/update", `{"key":"` + inAcme + `","organization_id":"zeta"}`, "403 insufficient_permissions key"},
		// A proxy_admin has rights above all.
		{"", "POST /key/update", `{"key":"` + inAcme + `","organization_id":"zeta"}`, "200"},
		{"", "POST /key/update", `{"key":"` + inAcme + `","organization_id":null}`, "200"},
	})
	admins, _ := madeKey(t, s, "", `{"organization_id":"acme","user_id":"root"}`)
	play(t, s, []step{{admins, "POST /key/generate", `{"team_id":"green","user_id":"ann"}`, "200"}})
}

// A key of an organization makes and changes teams, members and users of that organization
// only, even if its user runs another organization as well.
func TestTeamsStayInTheOrganizationOfTheKey(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	play(t, s, []step{{"", "POST /organization/member_update", `{"organization_id":"zeta","user_id":"boss","role":"org_admin"}`, "200"}})
	inRed, _ := madeKey(t, s, "", `{"team_id":"red","user_id":"boss"}`)
	inAcme, _ := madeKey(t, s, "", `{"organization_id":"acme","user_id":"ann"}`)
	play(t, s, []step{
		{inRed, "PATCH /team/red", `{"organization_id":"zeta"}`, "403 insufficient_permissions organization_id"},
		{inRed, "POST /team/new", `{"organization_id":"zeta"}`, "403 insufficient_permissions organization_id"},
		{inRed, "POST /team/new", `{}`, "403 insufficient_permissions organization_id"},
		{inRed, "PATCH /team/green", `{"max_budget":1}`, "403 insufficient_permissions organization_id"},
		{inRed, "PATCH /team/green", `{"organization_id":"acme"}`, "403 insufficient_permissions organization_id"},
		{inRed, "POST /team/member_add", `{"team_id":"green","member":{"user_id":"boss","role":"user"}}`, "403 insufficient_permissions organization_id"},
		{inRed, "POST /team/delete", `{"team_ids":["green"]}`, "403 insufficient_permissions team_ids[0]"},
		{inRed, "POST /organization/member_add", `{"organization_id":"zeta","member":{"user_id":"lead","role":"internal_user"}}`, "403 insufficient_permissions organization_id"},
		{inRed, "POST /user/new", `{"organizations":["zeta"]}`, "403 insufficient_permissions organizations[0]"},
		{inRed, "POST /user/update", `{"user_id":"ann","user_alias":"Ann"}`, "403 insufficient_permissions user_id"}, // also in zeta
		{inRed, "POST /user/update", `{"user_id":"lead","user_alias":"Lead"}`, "200"},
		{inRed, "POST /team/new", `{"organization_id":"acme"}`, "200"},
		{keys["boss"], "POST /team/new", `{"organization_id":"zeta"}`, "200"},
		{keys["boss"], "POST /key/update", `{"key":"` + inAcme + `","organization_id":"zeta"}`, "403 insufficient_permissions organization_id"},
		{keys["boss"], "PATCH /team/red", `{"organization_id":"zeta"}`, "200"},
	})
}

// The key that an org_admin makes with a user belongs to the organization.
func TestKeysOfNewUsersBelongToTheOrganization(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	a := asking(t, s, keys["boss"], "POST /user/new", `{"user_email":"new@acme.org","organizations":["acme"]}`)
	secret, _ := a.json(t)["key"].(string)
	if got := keyInfo(t, s, secret); a.status != 200 || got["organization_id"] != "acme" {
		t.Errorf("%d: the key of the new user is %v", a.status, got)
	}
	a = ask(t, s, "POST /user/new", `{"user_email":"newer@acme.org","organizations":["acme"]}`, nil)
	secret, _ = a.json(t)["key"].(string)
	if got := keyInfo(t, s, secret); a.status != 200 || got["organization_id"] != nil {
		t.Errorf("%d: the key that a proxy_admin makes is %v", a.status, got)
	}
}
