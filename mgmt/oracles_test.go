package mgmt

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// same sends a request once for each name, and checks that every response is the same 403:
// names of others get the response of unknown ones.
func same(t *testing.T, s *Server, who, request string, names ...string) {
	t.Helper()
	first := answer{}
	for i, name := range names {
		target, body := cut(strings.ReplaceAll(request, "%s", name))
		a := asking(t, s, who, target, body)
		if i == 0 {
			first = a
		}
		if a.status != http.StatusForbidden || a.body != first.body {
			t.Errorf("%s with %s: %d %s\nwith %s: %s", request, name, a.status, a.body, names[0], first.body)
		}
	}
}

// Budgets, teams and organizations of others get the response that unknown ones get.
func TestNamesOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	play(t, s, []step{
		{"", "POST /budget/new", `{"budget_id":"gold","max_budget":1}`, "200"},
		{"", "POST /budget/new", `{"budget_id":"silver"}`, "200"},
		{"", "POST /user/update", `{"user_id":"lead","budget_id":"silver"}`, "200"},
		{"", "POST /team/update", `{"team_id":"green","models":["fast"]}`, "200"},
		{"", "POST /organization/update", `{"organization_id":"zeta","models":["fast"]}`, "200"},
	})
	lead, boss, alone := keys["lead"], keys["boss"], keys["alone"]
	same(t, s, lead, `POST /key/generate {"budget_id":"%s"}`, "nothing", "gold")
	same(t, s, lead, `POST /key/update {"key":"`+lead+`","budget_id":"%s"}`, "nothing", "gold")
	same(t, s, boss, `POST /team/new {"organization_id":"acme","budget_id":"%s"}`, "nothing", "gold", "silver")
	same(t, s, boss, `POST /team/update {"team_id":"red","budget_id":"%s"}`, "nothing", "gold")
	same(t, s, boss, `POST /user/new {"organizations":["acme"],"budget_id":"%s"}`, "nothing", "gold")
	play(t, s, []step{
		{lead, "POST /key/generate", `{"budget_id":"silver"}`, "200"},
		{lead, "POST /key/service-account/generate", `{"team_id":"red","budget_id":"silver"}`, "200"},
		{"", "POST /key/generate", `{"budget_id":"gold"}`, "200"},
	})
	for _, models := range []string{``, `,"models":["slow"]`} {
		same(t, s, alone, `POST /key/generate {"team_id":"%s"`+models+`}`, "nothing", "green")
		same(t, s, alone, `POST /key/generate {"organization_id":"%s"`+models+`}`, "nothing", "zeta")
		same(t, s, lead, `POST /key/generate {"team_id":"%s"`+models+`}`, "nothing", "green")
		same(t, s, lead, `POST /key/generate {"organization_id":"%s"`+models+`}`, "nothing", "zeta")
		same(t, s, lead, `POST /team/new {"organization_id":"%s"`+models+`}`, "nothing", "zeta")
		same(t, s, keys["zoe"], `POST /team/update {"team_id":"green","organization_id":"%s"`+models+`}`, "nothing", "acme")
		same(t, s, alone, `POST /key/update {"key":"`+alone+`","team_id":"%s"`+models+`}`, "nothing", "green")
	}
}

// volatile is what the gateway itself gives a record: ids, keys, times and revisions.
var volatile = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|"sk-[^"]*"|\d{4}-\d\d-\d\dT[0-9:.]*Z|"revision":\d+`)

// withoutGiven returns a body without a name and without values that the gateway generates.
// Lists are sorted, because some are in the order of generated ids.
func withoutGiven(t *testing.T, body, name string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(volatile.ReplaceAllStringFunc(strings.ReplaceAll(body, name, "NAME"), func(found string) string {
		if strings.HasPrefix(found, `"revision`) {
			return `"revision":0`
		}
		return strings.Repeat(`"`, strings.Count(found, `"`)/2) + "GIVEN" + strings.Repeat(`"`, strings.Count(found, `"`)/2)
	})), &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return sortedText(v)
}

// sortedText writes a JSON value with its lists sorted.
func sortedText(v any) string {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]string{}
		for name, of := range v {
			out[name] = sortedText(of)
		}
		return fmt.Sprint(out)
	case []any:
		var out []string
		for _, of := range v {
			out = append(out, sortedText(of))
		}
		slices.Sort(out)
		return fmt.Sprint(out)
	}
	return fmt.Sprintf("%#v", v)
}

// observer is a caller that compares what responses reveal.
type observer struct {
	s    *Server
	key  string
	undo func(a answer) // takes back what a request made; nil for nothing
}

// alike plays a request once for each name, the first of which is unknown, and holds that
// all responses have the same status and the same body, but for the name itself and for
// what the gateway gives. It returns the status.
func (o observer) alike(t *testing.T, request string, names ...string) int {
	t.Helper()
	status, want := 0, ""
	for i, name := range names {
		target, body := cut(strings.ReplaceAll(request, "%s", name))
		a := asking(t, o.s, o.key, target, body)
		got := withoutGiven(t, a.body, name)
		if i == 0 {
			status, want = a.status, got
		}
		if a.status != status || got != want {
			t.Errorf("%s with %s: %d %s\nwith %s: %d %s", request, name, a.status, got, names[0], status, want)
		}
		if o.undo != nil && a.status == http.StatusOK {
			o.undo(a)
		}
	}
	return status
}

// deletesKey undoes the creation of a key.
func deletesKey(t *testing.T, s *Server) func(a answer) {
	t.Helper()
	return func(a answer) {
		play(t, s, []step{{"", "POST /key/delete", fmt.Sprintf(`{"keys":[%q]}`, a.json(t)["key"]), "200"}})
	}
}

// A caller that makes, renames, lists or deletes keys learns nothing of the aliases that keys
// of other organizations, teams and users have.
func TestAliasesOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	const plain, acme, red, anns = `"max_budget":1`, `"organization_id":"acme"`, `"team_id":"red"`, `,"user_id":"ann","key_type":"llm_api"`
	others := map[string]string{
		"of-green": `"team_id":"green"`, "of-blue": `"team_id":"blue"`, "of-zeta": `"organization_id":"zeta"`, "of-zoe": `"user_id":"zoe"`,
		"of-zoe-in-zeta": `"user_id":"zoe","organization_id":"zeta"`, "of-root": `"user_id":"root"`, "of-nobody": plain,
	}
	for _, c := range []struct{ who, place, sees string }{
		{"boss", plain, "of-blue"},
		{"boss", acme, "of-blue"},
		{"boss", red, "of-blue"},
		{"boss", acme + anns, "of-blue"},
		{"lead", plain, ""},
		{"lead", acme, ""},
		{"lead", red, ""},
		{"lead", red + anns, ""},
		{"ann", plain, "of-green"},
		{"ann", acme, "of-green"},
		{"ann", red, "of-green"},
		{"ann in red", red, "of-green"},
		{"alone", plain, ""},
	} {
		t.Run(c.who+" "+c.place, func(t *testing.T) {
			t.Parallel()
			s, keys := tenants(t)
			keys["ann in red"], _ = madeKey(t, s, "", `{"team_id":"red","user_id":"ann"}`)
			names, hidden := []string{"of-none"}, []string{"of-none"}
			for name, place := range others {
				madeKey(t, s, "", `{"key_alias":"`+name+`",`+place+`}`)
				if names = append(names, name); name != c.sees {
					hidden = append(hidden, name)
				}
			}
			who, undo := keys[c.who], deletesKey(t, s)
			for _, request := range []string{`GET /key/list?key_alias=%s`, `GET /key/list?search=%s`, `GET /key/aliases?search=%s`, `POST /key/delete {"key_aliases":["%s"]}`} {
				observer{s: s, key: who}.alike(t, request, hidden...)
			}
			key, _ := madeKey(t, s, who, `{`+c.place+`}`)
			for _, request := range []string{
				`POST /key/generate {"key_alias":"%s",` + c.place + `}`,
				`POST /key/update {"key":"` + key + `","key_alias":"%s"}`,
				`POST /key/bulk_update {"keys":[{"key":"` + key + `","key_alias":"%s"}]}`,
			} {
				o := observer{s: s, key: who}
				if strings.Contains(request, "generate") {
					o.undo = undo
				}
				if status := o.alike(t, request, names...); status != http.StatusOK {
					t.Errorf("%s: %d", request, status)
				}
			}
			play(t, s, []step{{"", "POST /key/delete", `{"keys":["` + key + `"]}`, "200"}})
			for _, name := range names { // what is regenerated is another key each time
				made, _ := madeKey(t, s, who, `{`+c.place+`}`)
				if a := asking(t, s, who, "POST /key/regenerate", `{"key":"`+made+`","key_alias":"`+name+`"}`); a.status != http.StatusOK {
					t.Errorf("regenerated with %s: %d %s", name, a.status, a.body)
				} else {
					undo(a)
				}
			}
		})
	}
	s, keys := tenants(t)
	names := []string{"of-none"}
	for name, place := range others {
		madeKey(t, s, "", `{"key_alias":"`+name+`",`+place+`}`)
		names = append(names, name)
	}
	for who, request := range map[string]string{
		"lead": `POST /key/service-account/generate {"team_id":"red","max_budget":1,"key_alias":"%s"}`, "boss": `POST /user/new {"organizations":["acme"],"key_alias":"%s"}`,
	} {
		if status := (observer{s, keys[who], deletesKey(t, s)}).alike(t, request, names...); status != http.StatusOK {
			t.Errorf("%s: %d", request, status)
		}
	}
}

// Keys of two places may have one alias. A caller that sees both must name the key itself; for
// a caller that sees one of them, the alias means that one.
func TestAmbiguousAliases(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	inRed, red := madeKey(t, s, "", `{"team_id":"red","key_alias":"ci"}`)
	_, green := madeKey(t, s, "", `{"team_id":"green","key_alias":"ci"}`)
	play(t, s, []step{
		{"", "POST /key/generate", `{"team_id":"red","key_alias":"ci"}`, "409 already_exists key_alias"},
		{keys["lead"], "POST /key/generate", `{"team_id":"red","key_alias":"ci"}`, "409 already_exists key_alias"},
		{"", "POST /key/delete", `{"key_aliases":["ci"]}`, "409 ambiguous_alias key_aliases[0]"},
		{keys["root"], "POST /key/delete", `{"key_aliases":["ci"]}`, "409 ambiguous_alias key_aliases[0]"},
		{"", "POST /key/update", `{"key":"` + inRed + `","team_id":"green"}`, "409 already_exists key_alias"},
	})
	for who, want := range map[string]int{"": 2, keys["root"]: 2, keys["boss"]: 1, keys["zoe"]: 1, keys["alone"]: 0} {
		if n := len(asking(t, s, who, "GET /key/list?key_alias=ci", "").json(t)["keys"].([]any)); n != want {
			t.Errorf("%d keys are listed, want %d", n, want)
		}
	}
	a := asking(t, s, keys["boss"], "POST /key/delete", `{"key_aliases":["ci"]}`)
	if got := fmt.Sprint(a.json(t)["deleted_keys"]); a.status != http.StatusOK || got != fmt.Sprint([]any{red["token"]}) {
		t.Errorf("boss deletes %d %s, want %v", a.status, a.body, red["token"])
	}
	a = ask(t, s, "POST /key/delete", `{"key_aliases":["ci"]}`, nil)
	if got := fmt.Sprint(a.json(t)["deleted_keys"]); a.status != http.StatusOK || got != fmt.Sprint([]any{green["token"]}) {
		t.Errorf("the operator deletes %d %s, want %v", a.status, a.body, green["token"])
	}
}

// Callers below proxy_admin choose no ids, so that a conflict reveals none, and add by id
// the users of their organization only.
func TestIDsOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	play(t, s, []step{{"", "POST /team/new", `{"team_id":"free","admins":["alone"]}`, "200"}})
	for _, c := range []struct {
		who, request string
		names        []string
	}{
		{"boss", `POST /team/new {"team_id":"%s","organization_id":"acme"}`, []string{"none", "green", "free", "red"}},
		{"boss", `POST /user/new {"user_id":"%s","organizations":["acme"]}`, []string{"none", "zoe", "alone", "root", "ann"}},
		{"boss", `POST /team/new {"organization_id":"acme","members":["%s"]}`, []string{"none", "zoe", "alone", "root"}},
		{"boss", `POST /team/new {"organization_id":"acme","admins":["%s"]}`, []string{"none", "zoe", "alone", "root"}},
		{"boss", `POST /team/new {"organization_id":"acme","members_with_roles":[{"role":"user","user_id":"%s"}]}`, []string{"none", "zoe", "alone", "root"}},
		{"boss", `POST /organization/member_add {"organization_id":"acme","member":{"role":"internal_user","user_id":"%s"}}`, []string{"none", "zoe", "alone", "root"}},
		{"boss", `POST /organization/member_add {"organization_id":"acme","member":{"role":"internal_user","user_id":"%s","user_email":"zoe@zeta.org"}}`, []string{"none", "zoe", "alone", "root"}},
		{"boss", `POST /team/member_add {"team_id":"blue","member":{"role":"user","user_id":"%s"}}`, []string{"none", "zoe", "alone", "root"}},
		{"lead", `POST /team/member_add {"team_id":"red","member":{"role":"user","user_id":"%s"}}`, []string{"none", "zoe", "alone", "root"}},
		{"lead", `POST /team/member_add {"team_id":"red","member":{"role":"user","user_id":"%s","user_email":"alone@home.org"}}`, []string{"none", "zoe", "alone", "root"}},
		{"lead", `POST /team/bulk_member_add {"team_id":"red","members":[{"role":"user","user_id":"%s"}]}`, []string{"none", "zoe", "alone", "root"}},
		{"alone", `POST /team/member_add {"team_id":"free","member":{"role":"user","user_id":"%s"}}`, []string{"none", "zoe", "ann", "root"}},
		{"ann", `POST /user/new {"user_id":"%s"}`, []string{"none", "zoe", "root"}},
		{"ann", `POST /team/new {"team_id":"%s"}`, []string{"none", "free", "red", "green"}},
	} {
		o := observer{s: s, key: keys[c.who]}
		if status := o.alike(t, c.request, c.names...); status != http.StatusForbidden {
			t.Errorf("%s plays %s: %d", c.who, c.request, status)
		}
	}
	play(t, s, []step{
		{keys["boss"], "POST /team/new", `{"organization_id":"acme","members":["ann"]}`, "200"},
		{keys["lead"], "POST /team/member_delete", `{"team_id":"red","user_id":"ann"}`, "200"},
		{keys["lead"], "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_id":"ann"}}`, "200"},
		{"", "POST /team/new", `{"team_id":"green"}`, "409 already_exists team_id"},
		{"", "POST /user/new", `{"user_id":"zoe"}`, "409 already_exists user_id"},
	})
}

// By an address that a user of others has, callers below proxy_admin make another user in
// their own organization, as they do by one that nobody has.
func TestAddressesOfOthersAreUnknown(t *testing.T) {
	t.Parallel()
	names := []string{"nobody@no.org", "zoe@zeta.org", "alone@home.org", "root@gateway.org"}
	for _, c := range []struct{ who, request string }{
		{"boss", `POST /user/new {"organizations":["acme"],"user_email":"%s"}`},
		{"boss", `POST /user/update {"user_id":"lead","user_email":"%s"}`},
		{"boss", `POST /user/bulk_update {"users":[{"user_id":"lead","user_email":"%s"}]}`},
		{"boss", `POST /organization/member_add {"organization_id":"acme","member":{"role":"internal_user","user_email":"%s"}}`},
		{"boss", `POST /team/new {"organization_id":"acme","members_with_roles":[{"role":"user","user_email":"%s"}]}`},
		{"boss", `POST /team/member_add {"team_id":"blue","member":{"role":"user","user_email":"%s"}}`},
		{"lead", `POST /team/member_add {"team_id":"red","member":{"role":"user","user_email":"%s"}}`},
		{"lead", `POST /team/bulk_member_add {"team_id":"red","members":[{"role":"user","user_email":"%s"}]}`},
		{"alone", `POST /team/member_add {"team_id":"free","member":{"role":"user","user_email":"%s"}}`},
	} {
		t.Run(c.who+" "+c.request, func(t *testing.T) {
			t.Parallel()
			names := names
			if c.who == "alone" {
				names = []string{"nobody@no.org", "zoe@zeta.org", "root@gateway.org"}
			}
			var first answer
			for i, name := range names { // each in a gateway of its own: what is made stays
				s, keys := tenants(t)
				play(t, s, []step{{"", "POST /team/new", `{"team_id":"free","admins":["alone"]}`, "200"}})
				target, body := cut(strings.ReplaceAll(c.request, "%s", name))
				a := asking(t, s, keys[c.who], target, body)
				a.body = withoutGiven(t, a.body, name)
				if i == 0 {
					first = a
				}
				if a.status != http.StatusOK || a.body != first.body {
					t.Errorf("with %s: %d %s\nwith %s: %s", name, a.status, a.body, names[0], first.body)
				}
			}
		})
	}
	// The rest names members only, and users that the caller may see.
	s, keys := tenants(t)
	for _, c := range []struct{ who, request string }{
		{"boss", `POST /user/update {"user_email":"%s","user_alias":"x"}`},
		{"boss", `GET /user/list?user_email=%s`},
		{"boss", `POST /organization/member_update {"organization_id":"acme","user_email":"%s","role":"internal_user"}`},
		{"boss", `POST /organization/member_delete {"organization_id":"acme","user_email":"%s"}`},
		{"lead", `POST /team/member_update {"team_id":"red","user_email":"%s","role":"user"}`},
		{"lead", `POST /team/member_delete {"team_id":"red","user_email":"%s"}`},
		{"boss", `POST /user/new {"organizations":["zeta"],"user_email":"%s"}`},
	} {
		o := observer{s: s, key: keys[c.who]}
		o.alike(t, c.request, names...)
	}
}

// An address that an org_admin or a team admin gives names a user in the organization
// only. A proxy_admin means the user of the place, or else the gateway's own.
func TestAddressesAreUniqueInTheirDirectory(t *testing.T) {
	t.Parallel()
	s, keys := tenants(t)
	boss, lead := keys["boss"], keys["lead"]
	id := func(a answer) string {
		t.Helper()
		users, _ := a.json(t)["updated_users"].([]any)
		if a.status != http.StatusOK || len(users) != 1 {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return fmt.Sprint(down(t, users[0], "user_id"))
	}
	local := fmt.Sprint(asking(t, s, boss, "POST /user/new", `{"organizations":["acme"],"user_email":"zoe@zeta.org"}`).json(t)["user_id"])
	add := func(org string) string {
		return `{"organization_id":"` + org + `","member":{"role":"internal_user","user_email":"Zoe@Zeta.org"}}`
	}
	play(t, s, []step{
		{boss, "POST /user/new", `{"organizations":["acme"],"user_email":"ZOE@zeta.org"}`, "409 already_exists user_email"},
		{boss, "POST /user/update", `{"user_id":"lead","user_email":"zoe@zeta.org"}`, "409 already_exists user_email"},
		{boss, "POST /organization/member_add", add("acme"), "409 already_exists member[0].user_id"},
		{"", "POST /organization/member_add", add("acme"), "409 already_exists member[0].user_id"},
		{"", "POST /organization/member_add", add("zeta"), "409 already_exists member[0].user_id"},
		{"", "POST /user/new", `{"user_email":"zoe@zeta.org"}`, "409 already_exists user_email"},
		{lead, "POST /team/member_add", `{"team_id":"red","member":{"role":"user","user_email":"zoe@zeta.org"}}`, "200"},
		{boss, "POST /user/update", `{"user_email":"zoe@zeta.org","user_alias":"Local"}`, "200"},
		{"", "POST /user/update", `{"user_email":"zoe@zeta.org","user_alias":"Zoe"}`, "200"},
		{keys["zoe"], "POST /user/update", `{"user_email":"zoe@zeta.org","user_alias":"Z"}`, "200"},
	})
	for user, want := range map[string]string{local: "Local", "zoe": "Z"} {
		if got := ask(t, s, "GET /v2/user/info?user_id="+user, "", nil).json(t)["user_alias"]; got != want {
			t.Errorf("%s is called %v, want %s", user, got, want)
		}
	}
	// Somebody who has left is the same user when the organization adds the address again.
	play(t, s, []step{{boss, "POST /organization/member_delete", `{"organization_id":"acme","user_email":"zoe@zeta.org"}`, "200"}})
	if got := id(asking(t, s, boss, "POST /organization/member_add", add("acme"))); got != local {
		t.Errorf("%s was added, want %s", got, local)
	}
	// Two members with one address have to be named by their ids.
	play(t, s, []step{
		{"", "POST /organization/member_add", `{"organization_id":"acme","member":{"role":"internal_user","user_id":"zoe"}}`, "200"},
		{boss, "POST /organization/member_delete", `{"organization_id":"acme","user_email":"zoe@zeta.org"}`, "409 ambiguous_email user_email"},
		{boss, "POST /user/update", `{"user_email":"zoe@zeta.org","user_alias":"x"}`, "409 ambiguous_email user_email"},
		{boss, "POST /organization/member_delete", `{"organization_id":"acme","user_id":"zoe"}`, "200"},
		{boss, "POST /organization/member_delete", `{"organization_id":"acme","user_email":"zoe@zeta.org"}`, "200"},
		{"", "POST /user/delete", `{"user_ids":["` + local + `"]}`, "200"},
	})
	if got := id(asking(t, s, boss, "POST /organization/member_add", add("acme"))); got == local || got == "zoe" {
		t.Errorf("%s was added, want a new user", got)
	}
}
