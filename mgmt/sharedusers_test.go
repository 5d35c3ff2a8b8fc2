package mgmt

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

// sharedUser is a gateway where ann is in acme, which boss runs, and in zeta, which zoe runs.
// ann has a key in a team of each, and spent 2 USD in acme and 5 USD in zeta.
func sharedUser(t *testing.T) (*Server, map[string]string) {
	t.Helper()
	s, n := newFake(t)
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /organization/new", `{"organization_id":"zeta","organization_alias":"Zeta"}`, "200"},
	})
	users := map[string]string{}
	for user, places := range map[string]string{
		"boss": `"acme"`, "mate": `"acme"`, "zoe": `"zeta"`, "ann": `"acme","zeta"`,
	} {
		users[user] = account(t, s, `{"user_id":"`+user+`","user_email":"`+user+`@x.org","organizations":[`+places+`]}`)
	}
	play(t, s, []step{
		{"", "POST /organization/member_update", `{"organization_id":"acme","user_id":"boss","role":"org_admin"}`, "200"},
		{"", "POST /organization/member_update", `{"organization_id":"zeta","user_id":"zoe","role":"org_admin"}`, "200"},
		{"", "POST /team/new", `{"team_id":"red","organization_id":"acme","admins":["mate"],"members":["ann"]}`, "200"},
		{"", "POST /team/new", `{"team_id":"green","organization_id":"zeta","members":["ann"]}`, "200"},
	})
	for i, of := range []struct {
		team, organization, user string
		cost                     int64
	}{
		{"red", "acme", "ann", 2_000_000_000_000},
		{"green", "zeta", "ann", 5_000_000_000_000},
		{"red", "acme", "mate", 9_000_000_000_000},
		{"", "zeta", "zoe", 11_000_000_000_000},
	} {
		h := id.HashKey(fmt.Sprint("sk-of-the-request-", i))
		if of.user == "ann" {
			key, _ := madeKey(t, s, "", `{"user_id":"ann","team_id":"`+of.team+`"}`)
			h = id.HashKey(key)
		}
		e := used(time.Date(2026, 6, 29, 9, i, 0, 0, time.UTC), of.cost)
		e.Request, e.KeyHash, e.Team, e.User, e.Organization = fmt.Sprintf("req_%032d", i), h[:], of.team, of.user, of.organization
		n.post(t, e)
	}
	return s, users
}

// seenOf returns the memberships, keys and spend in the record of a user.
func seenOf(record any) string {
	of, ok := record.(map[string]any)
	if !ok {
		return fmt.Sprintf("no record: %v", record)
	}
	places := []any{}
	list, _ := of["organization_memberships"].([]any)
	for _, one := range list {
		place, _ := one.(map[string]any)
		places = append(places, place["organization_id"])
	}
	return fmt.Sprint(places, of["teams"], of["key_count"], of["spend"], of["total_spend"], of["model_spend"])
}

// An org_admin sees the memberships, keys and spend of a shared user in the organizations that
// the admin runs. The user and a proxy_admin see the whole record, in every response.
func TestRecordsOfSharedUsers(t *testing.T) {
	t.Parallel()
	s, users := sharedUser(t)
	const whole, inAcme, inZeta = "[acme zeta] [green red] 3 7 7 map[fast:7]", "[acme] [red] 1 2 2 map[]", "[zeta] [green] 1 5 5 map[]"
	for who, want := range map[string]string{"": whole, users["ann"]: whole, users["boss"]: inAcme, users["zoe"]: inZeta} {
		info := asking(t, s, who, "GET /user/info?user_id=ann", "").json(t)
		if got := seenOf(info["user_info"]); got != want {
			t.Errorf("/user/info shows %s, want %s", got, want)
		}
		if got := seenOf(asking(t, s, who, "GET /v2/user/info?user_id=ann", "").json(t)); got != want {
			t.Errorf("/v2/user/info shows %s, want %s", got, want)
		}
		list, _ := asking(t, s, who, "GET /user/list?user_ids=ann", "").json(t)["users"].([]any)
		if len(list) != 1 || seenOf(list[0]) != want {
			t.Errorf("/user/list shows %v, want %s", list, want)
		}
	}
	// Of a user who is in no other place, an org_admin sees the whole as before.
	const mate = "[acme] [red] 1 9 9 map[fast:9]"
	if got := seenOf(asking(t, s, users["boss"], "GET /v2/user/info?user_id=mate", "").json(t)); got != mate {
		t.Errorf("of mate: %s, want %s", got, mate)
	}
	// A team in another organization is enough to be shared.
	play(t, s, []step{{"", "POST /team/member_delete", `{"team_id":"green","user_id":"ann"}`, "200"}})
	if got := seenOf(asking(t, s, users["boss"], "GET /v2/user/info?user_id=ann", "").json(t)); got != inAcme {
		t.Errorf("without the team in zeta: %s, want %s", got, inAcme)
	}
}

// Responses to changes show the same of a shared user as responses to reads.
func TestChangesShowTheCallersPartOfSharedUsers(t *testing.T) {
	t.Parallel()
	s, users := sharedUser(t)
	play(t, s, []step{{"", "POST /team/new", `{"team_id":"blue","organization_id":"acme"}`, "200"}})
	a := asking(t, s, users["boss"], "POST /team/member_add", `{"team_id":"blue","member":{"role":"user","user_id":"ann"}}`)
	list, _ := a.json(t)["updated_users"].([]any)
	if want := "[acme] [blue red] 1 2 2 map[]"; len(list) != 1 || seenOf(list[0]) != want {
		t.Errorf("member_add: %d %s, want %s", a.status, a.body, want)
	}
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"apex","organization_alias":"Apex"}`, "200"},
		{"", "POST /organization/member_add", `{"organization_id":"apex","member":{"role":"org_admin","user_id":"boss"}}`, "200"},
	})
	a = asking(t, s, users["boss"], "POST /organization/member_add", `{"organization_id":"apex","member":{"role":"internal_user","user_id":"ann"}}`)
	list, _ = a.json(t)["updated_users"].([]any)
	if want := "[acme apex] [blue red] 1 2 2 map[]"; len(list) != 1 || seenOf(list[0]) != want {
		t.Errorf("organization member_add: %d %s, want %s", a.status, a.body, want)
	}
}

// A list does not filter users by places that the caller may not see: that would reveal the
// members.
func TestListsFindNoUsersByPlacesOfOthers(t *testing.T) {
	t.Parallel()
	s, users := sharedUser(t)
	for _, c := range []struct{ who, query, want string }{
		{"boss", "team=green", "[]"},
		{"boss", "team=green&user_ids=ann", "[]"},
		{"boss", "team=nothing", "[]"},
		{"boss", "organization_ids=zeta", "[]"},
		{"boss", "organization_ids=zeta,nothing&user_ids=ann", "[]"},
		{"boss", "team=red", "[ann mate]"},
		{"boss", "organization_ids=acme,zeta", "[ann boss mate]"},
		{"zoe", "team=green", "[ann]"},
		{"zoe", "organization_ids=zeta", "[ann zoe]"},
		{"ann", "team=green", "[ann]"},
		{"ann", "organization_ids=zeta", "[ann]"},
		{"ann", "organization_ids=nothing", "[]"},
		{"", "team=green", "[ann]"},
		{"", "organization_ids=zeta", "[ann zoe]"},
	} {
		a := asking(t, s, users[c.who], "GET /user/list?sort_by=user_id&"+c.query, "")
		list, _ := a.json(t)["users"].([]any)
		got := []any{}
		for _, one := range list {
			got = append(got, down(t, one, "user_id"))
		}
		if total := down(t, a.json(t), "total"); a.status != http.StatusOK || fmt.Sprint(got) != c.want || total != float64(len(got)) {
			t.Errorf("%s with %s: %d %v of %v, want %s", c.who, c.query, a.status, got, total, c.want)
		}
	}
}

// The two names of a user that is not a member get one response, whether they belong to one
// user, to two users or to nobody.
func TestMembersByTwoNamesOfOthers(t *testing.T) {
	t.Parallel()
	s, users := sharedUser(t)
	const names = `"user_id":"%s","user_email":"%s@x.org"`
	for _, c := range []struct{ who, request, place string }{
		{"mate", "POST /team/member_update", `"team_id":"red","role":"user"`},
		{"mate", "POST /team/member_delete", `"team_id":"red"`},
		{"boss", "POST /organization/member_update", `"organization_id":"acme","role":"internal_user"`},
		{"boss", "DELETE /organization/member_delete", `"organization_id":"acme"`},
	} {
		want := asking(t, s, users[c.who], c.request, `{`+c.place+`,`+fmt.Sprintf(names, "nobody", "nobody")+`}`)
		if want.status != http.StatusNotFound {
			t.Errorf("%s of nobody: %d %s", c.request, want.status, want.body)
		}
		for _, name := range [][2]any{{"zoe", "zoe"}, {"zoe", "nobody"}, {"nobody", "zoe"}, {"zoe", "ann"}} {
			got := asking(t, s, users[c.who], c.request, `{`+c.place+`,`+fmt.Sprintf(names, name[:]...)+`}`)
			if got.status != want.status || got.body != want.body {
				t.Errorf("%s of %v: %d %s\nof nobody: %s", c.request, name, got.status, got.body, want.body)
			}
		}
		play(t, s, []step{{users[c.who], c.request, `{` + c.place + `,` + fmt.Sprintf(names, "ann", "zoe") + `}`, "422 invalid_value user_email"}})
	}
	// Adding such a user is denied before its address is compared.
	for _, c := range []struct{ who, request, place string }{
		{"mate", "POST /team/member_add", `"team_id":"red","member":{"role":"user",%s}`},
		{"boss", "POST /organization/member_add", `"organization_id":"acme","member":{"role":"internal_user",%s}`},
	} {
		for _, email := range []string{"zoe", "ann", "nobody"} {
			body := `{` + fmt.Sprintf(c.place, fmt.Sprintf(names, "zoe", email)) + `}`
			play(t, s, []step{{users[c.who], c.request, body, "403 insufficient_permissions member[0]"}})
		}
	}
}

// The id at the identity provider is unique in the gateway. Callers that do not see everything
// cannot set it, so they learn nothing about those of others.
func TestOnlyProxyAdminsSetTheIDAtTheIdentityProvider(t *testing.T) {
	t.Parallel()
	s, users := sharedUser(t)
	boss := users["boss"]
	play(t, s, []step{
		{"", "POST /user/update", `{"user_id":"zoe","sso_user_id":"s|zoe"}`, "200"},
		{"", "POST /user/update", `{"user_id":"mate","sso_user_id":"s|mate"}`, "200"},
	})
	for _, sso := range []string{"s|zoe", "s|nobody"} {
		play(t, s, []step{
			{boss, "POST /user/new", `{"organizations":["acme"],"sso_user_id":"` + sso + `"}`, "403 insufficient_permissions sso_user_id"},
			{boss, "POST /user/update", `{"user_id":"mate","sso_user_id":"` + sso + `"}`, "403 insufficient_permissions sso_user_id"},
		})
	}
	play(t, s, []step{
		{boss, "POST /user/update", `{"user_id":"mate","sso_user_id":"s|mate","user_alias":"Mate"}`, "200"},
		{boss, "POST /user/update", `{"user_id":"mate","sso_user_id":null}`, "200"},
		{"", "POST /user/new", `{"sso_user_id":"s|zoe"}`, "409 already_exists sso_user_id"},
	})
}
