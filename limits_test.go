package main

import (
	"bytes"
	"fmt"
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
			for name, v := range change {
				body[name] = v
			}
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
		if status, out := g.by(rates, "/key/generate", child); status != http.StatusForbidden || tree(out).at("error", "param") != "model_rpm_limit" {
			t.Errorf("the key makes %v: %d %v", child, status, out)
		}
	}
	g.keyOf(rates, tree{"aliases": tree{"quick": "chat"}, "model_rpm_limit": tree{"quick": 0, "third": 0}})
	info := g.sees("/key/info?key=" + rates)
	if limits, _ := info.at("info", "model_rpm_limit").(map[string]any); fmt.Sprint(limits) != "map[chat:0 third:0]" {
		t.Errorf("the key's limits are %v", limits)
	}
}
