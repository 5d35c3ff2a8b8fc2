package mgmt

import (
	"fmt"
	"testing"
)

// No alias of a key and no user id makes a caller's action look like one of the master key, of
// the gateway itself, or of another key or user.
func TestActorsCannotBeForged(t *testing.T) {
	t.Parallel()
	s, n := newFake(t)
	for _, alias := range []string{"master", "Master", "gateway", " GATEWAY "} {
		body := fmt.Sprintf(`{"key_alias":%q}`, alias)
		play(t, s, []step{{"", "POST /key/generate", body, "422 invalid_value key_alias"}})
	}
	play(t, s, []step{
		{"", "POST /user/new", `{"user_id":"master","user_role":"proxy_admin","auto_create_key":false}`, "200"},
		{"", "POST /user/new", `{"user_id":"ada","user_role":"proxy_admin","auto_create_key":false}`, "200"},
	})
	named, _ := madeKey(t, s, "", `{"user_id":"ada","key_alias":"user:master"}`)
	nameless, _ := madeKey(t, s, "", `{"user_id":"master"}`)
	play(t, s, []step{
		{"", "POST /key/update", `{"key":"` + named + `","key_alias":"gateway"}`, "422 invalid_value key_alias"},
		{named, "POST /key/regenerate", `{"key":"` + nameless + `","key_alias":"master"}`, "422 invalid_value key_alias"},
		{named, "POST /team/new", `{"team_id":"named"}`, "200"},
		{nameless, "POST /team/new", `{"team_id":"nameless"}`, "200"},
		{"", "POST /team/new", `{"team_id":"masters"}`, "200"},
		{"", "POST /key/block", `{"key":"` + nameless + `"}`, "200"},
		{nameless, "GET /key/list", "", "401 key_blocked"},
	})
	for team, want := range map[string]string{"named": "key:user:master", "nameless": "user:master", "masters": "master"} {
		info := ask(t, s, "GET /team/info?team_id="+team, "", nil).json(t)
		if made, changed := down(t, info, "team_info", "created_by"), down(t, info, "team_info", "updated_by"); made != want || changed != want {
			t.Errorf("team %s: created_by %v, updated_by %v, want %s", team, made, changed, want)
		}
		var records int
		list, _ := ask(t, s, "GET /audit-log?limit=1000", "", nil).json(t)["data"].([]any)
		for _, one := range list {
			if down(t, one, "details", "resource_id") != team {
				continue
			}
			if records++; down(t, one, "actor") != want || down(t, one, "details", "changed_by") != want {
				t.Errorf("team %s: %v", team, one)
			}
		}
		if records != 1 {
			t.Errorf("team %s has %d audit records, want 1", team, records)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if last := n.mu.notices[len(n.mu.notices)-1]; last.Actor != "user:master" {
		t.Errorf("the request with a blocked key is by %q", last.Actor)
	}
}
