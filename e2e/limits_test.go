package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/go-json-experiment/json"
)

// by sends a request to the management API with a key, and returns the status and the
// answer.
func (g *gatewayProcess) by(key, path string, body tree) (int, tree) {
	g.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		g.t.Fatal(err)
	}
	a := g.do(http.MethodPost, path, bytes.NewReader(text), with("Authorization", "Bearer "+key))
	out := tree{}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		g.t.Fatalf("%s: %d %s", path, a.status, a.body)
	}
	return a.status, out
}

// keyOf makes a key, with another key or, where that is empty, with the master key.
func (g *gatewayProcess) keyOf(maker string, body tree) string {
	g.t.Helper()
	if maker == "" {
		maker = adminKey
	}
	status, made := g.by(maker, "/key/generate", body)
	key, _ := made["key"].(string)
	if status != http.StatusOK || key == "" {
		g.t.Fatalf("no key for %v: %d %v", body, status, made)
	}
	return key
}

// asks sends a chat request for a model and returns the status and the error's code.
func (g *gatewayProcess) asks(key, model, more string) string {
	g.t.Helper()
	a := g.chat(request(model, more), with("Authorization", "Bearer "+key))
	if a.status == http.StatusOK {
		return "200"
	}
	code := a.error(g.t).Error.Code
	if code == nil {
		g.t.Fatalf("an error without a code: %d %s", a.status, a.body)
	}
	return fmt.Sprint(a.status, " ", *code)
}

// A limit under an alias is a limit of the model: neither the key itself nor a key that
// it makes is rid of it by another alias or by none.
func TestModelLimitsFollowTheModel(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "chat=openai/fake-gpt", "other=openai/fake-gpt", "third=openai/fake-gpt")+
		"router_settings: {num_retries: 0, model_group_alias: {routed: third}}\n")
	g.changes("/user/new", tree{"user_id": "ada", "user_role": "internal_user", "auto_create_key": false})
	g.changes("/team/new", tree{
		"team_id": "red", "model_aliases": tree{"swift": "other"}, "model_rpm_limit": tree{"swift": 0},
		"members_with_roles": []tree{{"user_id": "ada", "role": "admin"}},
	})
	none := tree{"fast": 0, "routed": 0} // a limit that time does not lift
	rates := g.keyOf("", tree{"user_id": "ada", "aliases": tree{"fast": "chat"}, "model_rpm_limit": none})
	budget := tree{"fast": tree{"max_budget": 0.00000001}}
	money := g.keyOf("", tree{"user_id": "ada", "aliases": tree{"fast": "chat"}, "model_max_budget": budget})
	team := g.keyOf("", tree{"user_id": "ada", "team_id": "red"})

	for _, s := range []struct{ key, model, want string }{
		{rates, "fast", "429 rate_limit_exceeded"},
		{rates, "routed", "429 rate_limit_exceeded"},
		{rates, "third", "429 rate_limit_exceeded"},
		{rates, "other", "200"},
		{money, "fast", "429 budget_exceeded"},
		{team, "swift", "429 rate_limit_exceeded"},
		{team, "other", "429 rate_limit_exceeded"},
	} {
		if got := g.asks(s.key, s.model, ""); got != s.want {
			t.Errorf("before: %s: %s, want %s", s.model, got, s.want)
		}
	}
	for _, change := range []tree{{"aliases": tree{}}, {"aliases": tree{"fast": "other"}}, {"aliases": tree{"chat": "other", "fast": "chat"}}, {"aliases": tree{}}} {
		for key, want := range map[string]string{rates: "429 rate_limit_exceeded", money: "429 budget_exceeded"} {
			body := tree{"key": key}
			maps.Copy(body, change)
			if status, out := g.by(key, "/key/update", body); status != http.StatusOK {
				t.Fatalf("%v: %d %v", change, status, out)
			}
			name := "chat"
			if aliases, _ := change["aliases"].(tree); aliases["chat"] != nil {
				name = "fast"
			}
			if got := g.asks(key, name, ""); got != want {
				t.Errorf("with %v: %s, want %s", change, got, want)
			}
		}
	}
	g.changes("/team/update", tree{"team_id": "red", "model_aliases": tree{}})
	if got := g.asks(team, "other", ""); got != "429 rate_limit_exceeded" {
		t.Errorf("without the team's alias: %s", got)
	}
	for _, child := range []tree{
		{},
		{"model_rpm_limit": tree{"fast": 0}},
		{"aliases": tree{"chat": "other", "way": "chat"}, "model_rpm_limit": tree{"chat": 0, "routed": 0}},
		{"aliases": tree{"routed": "other"}, "model_rpm_limit": tree{"chat": 0, "routed": 0}},
	} {
		if status, out := g.by(rates, "/key/generate", child); status != http.StatusForbidden || out.at("error", "param") != "model_rpm_limit" {
			t.Errorf("the key makes %v: %d %v", child, status, out)
		}
	}
	g.keyOf(rates, tree{"aliases": tree{"quick": "chat"}, "model_rpm_limit": tree{"quick": 0, "third": 0}})
	info := g.sees("/key/info?key=" + rates)
	if limits, _ := info.at("info", "model_rpm_limit").(map[string]any); fmt.Sprint(limits) != "map[chat:0 third:0]" {
		t.Errorf("the key's limits are %v", limits)
	}
}

// family is a key with bounds, and keys that it makes: two, and the child of one.
type family struct {
	g                        *gatewayProcess
	parent, one, two, nephew string
}

// newFamily makes a family whose first key has bounds. Each other one has the same.
func newFamily(g *gatewayProcess, user string, bounds tree) family {
	f := family{g: g}
	first := tree{"user_id": user}
	maps.Copy(first, bounds)
	f.parent = g.keyOf("", first)
	f.one, f.two = g.keyOf(f.parent, bounds), g.keyOf(f.parent, bounds)
	f.nephew = g.keyOf(f.one, bounds)
	return f
}

// spends has the children ask in turn until none of them is served any more, and
// returns how many requests were served. The parent asks nothing.
func (f *family) spends(want string) int {
	served := 0
	for left := map[string]bool{f.one: true, f.two: true, f.nephew: true}; len(left) > 0; {
		for key := range left {
			switch got := f.g.asks(key, "chat", `,"max_tokens":5`); got {
			case "200":
				served++
			case want:
				delete(left, key)
			default:
				f.g.t.Fatalf("a child is answered %s, want 200 or %s", got, want)
			}
		}
	}
	return served
}

// Keys with the bounds of the key that makes them do not have them a second time: what
// they spend and how fast counts at that key, and at the one above it.
func TestLimitsDoNotMultiplyByMinting(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "chat=openai/fake-gpt")+"router_settings: {num_retries: 0}\n")
	g.changes("/user/new", tree{"user_id": "ada", "user_role": "internal_user", "auto_create_key": false})

	const budget = 400_000_000 // in 1e-12 USD
	f := newFamily(g, "ada", tree{"max_budget": 0.0004})
	if served := f.spends("429 budget_exceeded"); served == 0 {
		t.Error("no child was served")
	}
	if got := g.asks(f.parent, "chat", `,"max_tokens":5`); got != "429 budget_exceeded" {
		t.Errorf("the parent of keys that spent its budget: %s", got)
	}
	g.waitPosted()
	var sum int64
	for _, key := range []string{f.one, f.two, f.nephew} {
		sum += pico(t, g.sees("/key/info?key="+key).at("info", "total_spend"))
	}
	info := g.sees("/key/info?key=" + f.parent)
	if sum > budget || sum == 0 || pico(t, info.at("info", "spend")) != sum || pico(t, info.at("info", "total_spend")) != 0 {
		t.Errorf("the children spent %d of %d, and the parent says %v, itself %v", sum, budget, info.at("info", "spend"), info.at("info", "total_spend"))
	}
	if got := g.sees("/key/info?key="+f.one).at("info", "parent_account_id"); got != info.at("info", "account_id") || got == nil {
		t.Errorf("the child's parent is %v, and the parent is %v", got, info.at("info", "account_id"))
	}

	// The link survives a regeneration of the parent, and ends with the parent.
	next, _ := g.changes("/key/regenerate", tree{"key": f.parent})["key"].(string)
	if got := g.asks(f.nephew, "chat", `,"max_tokens":5`); got != "429 budget_exceeded" {
		t.Errorf("below a parent that was regenerated: %s", got)
	}
	g.changes("/key/update", tree{"key": next, "max_budget": 1})
	g.changes("/key/update", tree{"key": f.two, "max_budget": 1})
	if got := g.asks(f.two, "chat", ""); got != "200" {
		t.Errorf("below a parent with a new budget: %s", got)
	}
	g.changes("/key/block", tree{"key": next})
	if got := g.asks(f.two, "chat", ""); got != "401 key_blocked" {
		t.Errorf("below a parent that is blocked: %s", got)
	}
	g.changes("/key/unblock", tree{"key": next})
	g.changes("/key/delete", tree{"keys": []string{next}})
	for _, key := range []string{f.one, f.two, f.nephew} {
		if got := g.asks(key, "chat", ""); got != "401 invalid_api_key" {
			t.Errorf("below a parent that is gone: %s", got)
		}
	}

	tokens := newFamily(g, "ada", tree{"tpd_limit": 60})
	tokens.spends("429 rate_limit_exceeded")
	if got := g.asks(tokens.parent, "chat", `,"max_tokens":5`); got != "429 rate_limit_exceeded" {
		t.Errorf("the parent of keys that used its rate: %s", got)
	}
	for key, depth := tokens.nephew, 3; depth <= 5; depth++ {
		status, made := g.by(key, "/key/generate", tree{"tpd_limit": 60})
		if want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[depth <= 4]; status != want {
			t.Fatalf("the key at depth %d: %d %v", depth, status, made)
		}
		key, _ = made["key"].(string)
	}
	other := g.keyOf("", tree{"user_id": "ada", "tpd_limit": 30})
	if status, out := g.by(tokens.parent, "/key/update", tree{"key": other, "tpd_limit": 60}); status != http.StatusForbidden || out.at("error", "param") != "tpd_limit" {
		t.Errorf("a key with bounds raises those of a key that it has not made: %d %v", status, out)
	}
}

// Keys of a team that belong to no user share the bounds of the admin who made them: they
// count at the same accounts as the admin's own keys.
func TestLimitsDoNotMultiplyByServiceAccounts(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "chat=openai/fake-gpt")+"router_settings: {num_retries: 0}\n")
	const most = 0.0004
	regenerated := map[string]string{} // a key by the name of its case
	for _, c := range []struct {
		name               string
		user, team, member tree
		bounds             tree
		want               string
	}{
		{"place", tree{}, tree{}, tree{"max_budget_in_team": most}, tree{"max_budget": most}, "429 budget_exceeded"},
		{"default", tree{}, tree{"team_member_budget": most}, nil, tree{"max_budget": most}, "429 budget_exceeded"},
		{"user", tree{"max_budget": most}, tree{}, nil, tree{"max_budget": most}, "429 budget_exceeded"},
		{"rate", tree{"tpd_limit": 60}, tree{}, nil, tree{"tpd_limit": 60}, "429 rate_limit_exceeded"},
	} {
		lead, team := "lead-"+c.name, "team-"+c.name
		of := func(more tree) tree {
			out := tree{"team_id": team, "user_id": lead}
			maps.Copy(out, more)
			return out
		}
		user := tree{"user_id": lead, "user_role": "internal_user", "auto_create_key": false}
		maps.Copy(user, c.user)
		g.changes("/user/new", user)
		group := tree{"team_id": team, "members_with_roles": []any{tree{"user_id": lead, "role": "admin"}}}
		maps.Copy(group, c.team)
		g.changes("/team/new", group)
		if c.member != nil {
			g.changes("/team/member_update", of(c.member))
		}
		own := g.keyOf("", of(nil))
		service := func() string {
			body := tree{"team_id": team}
			maps.Copy(body, c.bounds)
			status, made := g.by(own, "/key/service-account/generate", body)
			if status != http.StatusOK || made["bounded_by_user_id"] != lead || made["user_id"] != nil {
				t.Fatalf("%s: %d %v", c.name, status, made)
			}
			return made["key"].(string)
		}
		one, two, free := service(), service(), g.changes("/key/service-account/generate", tree{"team_id": team}).at("key").(string)
		f := family{g: g, parent: own, one: one, two: two, nephew: service()}
		if served := f.spends(c.want); served == 0 {
			t.Errorf("%s: nothing was served", c.name)
		}
		for _, key := range []string{own, service()} {
			if got := g.asks(key, "chat", `,"max_tokens":5`); got != c.want {
				t.Errorf("%s: a key of the admin whose bounds are used up: %s", c.name, got)
			}
		}
		if got := g.asks(free, "chat", `,"max_tokens":5`); got != "200" {
			t.Errorf("%s: a key of the team that a proxy_admin made: %s", c.name, got)
		}
		if c.want == "429 budget_exceeded" {
			g.waitPosted()
			var sum int64
			for _, key := range []string{f.one, f.two, f.nephew} {
				sum += pico(t, g.sees("/key/info?key="+key).at("info", "total_spend"))
			}
			if sum == 0 || sum > most*1e12 {
				t.Errorf("%s: the keys spent %d of %g together", c.name, sum, most*1e12)
			}
		}

		// A change and a regeneration by somebody above keep whose bounds hold. A key with a
		// user has that one's.
		g.changes("/key/update", tree{"key": one, "metadata": tree{"job": "nightly"}, "max_budget": 1, "tpd_limit": 100_000})
		next := g.changes("/key/regenerate", tree{"key": one})
		regenerated[c.name], _ = next["key"].(string)
		if next["bounded_by_user_id"] != lead || g.asks(regenerated[c.name], "chat", `,"max_tokens":5`) != c.want {
			t.Errorf("%s: a key that was regenerated: %v", c.name, next)
		}
		if out := g.changes("/key/update", tree{"key": two, "user_id": lead}); out["bounded_by_user_id"] != nil {
			t.Errorf("%s: a key that belongs to a user: %v", c.name, out)
		}
		status, out := g.by(own, "/key/update", tree{"key": two, "clear": []string{"user_id"}})
		if status != http.StatusOK || out["bounded_by_user_id"] != lead {
			t.Errorf("%s: a key that belongs to no user any more: %d %v", c.name, status, out)
		}
	}

	// When the admin has left the team the keys stay, with their own bounds and those that the team
	// has for members.
	for name, want := range map[string]string{"place": "200", "default": "429 budget_exceeded"} {
		g.changes("/team/member_delete", tree{"team_id": "team-" + name, "user_id": "lead-" + name})
		if got := g.asks(regenerated[name], "chat", `,"max_tokens":5`); got != want {
			t.Errorf("%s: a key whose admin has left: %s, want %s", name, got, want)
		}
	}
}
