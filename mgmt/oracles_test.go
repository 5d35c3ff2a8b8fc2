package mgmt

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// same plays a request once for each name, and holds that every response is the same
// 403: names of others get what unknown ones get.
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
		got := volatile.ReplaceAllString(strings.ReplaceAll(a.body, name, "NAME"), "GIVEN")
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

// deletesKey takes back that a key was made.
func deletesKey(t *testing.T, s *Server) func(a answer) {
	t.Helper()
	return func(a answer) {
		play(t, s, []step{{"", "POST /key/delete", fmt.Sprintf(`{"keys":[%q]}`, a.json(t)["key"]), "200"}})
	}
}

// Whoever makes, renames, lists or deletes keys learns nothing of the aliases that keys
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

// Keys of two places may have one alias. A caller that sees both names the key itself,
// and a caller that sees one of them means that one.
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
