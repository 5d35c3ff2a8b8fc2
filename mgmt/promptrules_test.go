package mgmt

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestPromptRules: rules about prompts have ids instead of the names in the request, and stay in
// all responses that show a key, a team or an organization.
func TestPromptRules(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	idOf := map[string]string{}
	create := func(name, org string) {
		a := ask(t, s, "POST /prompts", `{"prompt_name":"`+name+`",`+org+`"messages":[{"role":"system","content":"x"}]}`, nil)
		idOf[name] = fmt.Sprint(a.json(t)["prompt_id"])
	}
	play(t, s, []step{
		{"", "POST /organization/new", `{"organization_id":"acme","organization_alias":"Acme"}`, "200"},
		{"", "POST /organization/new", `{"organization_id":"other","organization_alias":"Other"}`, "200"},
	})
	create("tone", "")
	create("support", `"organization_id":"acme",`)
	create("sales", `"organization_id":"acme",`)
	create("secret", `"organization_id":"other",`)
	rules := func(allowed, byDefault string, required bool) string {
		text := fmt.Sprintf("200 [%s] %s %v", allowed, byDefault, required)
		for name, id := range idOf {
			text = strings.ReplaceAll(text, "<"+name+">", `"`+id+`"`)
		}
		return text
	}
	const shown = "allowed_prompts default_prompt_id require_prompt"
	looks(t, s, []look{
		{"", "POST /team/new", `{"team_id":"blue","organization_id":"acme","allowed_prompts":["support","tone","` + idOf["support"] + `"],"default_prompt_id":"support"}`, shown, rules("<support>,<tone>", "<support>", false)},
		{"", "POST /key/generate", `{"key":"sk-ruled-0123456789abcdef","team_id":"blue","allowed_prompts":["tone"],"default_prompt_id":"tone","require_prompt":true}`, shown, rules("<tone>", "<tone>", true)},
		{"", "POST /key/update", `{"key":"sk-ruled-0123456789abcdef","tags":["x"]}`, shown, rules("<tone>", "<tone>", true)},
		{"", "POST /key/update", `{"key":"sk-ruled-0123456789abcdef","allowed_prompts":["sales"],"default_prompt_id":"sales"}`, shown, rules("<sales>", "<sales>", true)},
		{"", "POST /key/regenerate", `{"key":"sk-ruled-0123456789abcdef","new_key":"sk-again-0123456789abcdef"}`, shown, rules("<sales>", "<sales>", true)},
		{"", "POST /key/update", `{"key":"sk-again-0123456789abcdef","allowed_prompts":[],"default_prompt_id":null,"require_prompt":false}`, shown, rules("", "null", false)},
		{"", "PATCH /team/blue", `{"require_prompt":true}`, shown, rules("<support>,<tone>", "<support>", true)},
		{"", "PATCH /organization/update", `{"organization_id":"acme","allowed_prompts":["support"],"require_prompt":true}`, shown, rules("<support>", "null", true)},
		{"", "GET /organization/info?organization_id=acme", "", shown, rules("<support>", "null", true)},
		{"", "POST /organization/new", `{"organization_alias":"New","default_prompt_id":"tone"}`, shown, rules("", "<tone>", false)},

		{"", "POST /key/generate", `{"team_id":"blue","allowed_prompts":["tone","nothing"]}`, "", "404 prompt_not_found allowed_prompts[1]"},
		{"", "POST /key/generate", `{"team_id":"blue","default_prompt_id":"secret"}`, "", "404 prompt_not_found default_prompt_id"},
		{"", "POST /key/generate", `{"allowed_prompts":["support"]}`, "", "404 prompt_not_found allowed_prompts[0]"},
		{"", "POST /key/update", `{"key":"sk-again-0123456789abcdef","allowed_prompts":["tone"],"default_prompt_id":"support"}`, "", "422 invalid_value default_prompt_id"},
		{"", "POST /team/new", `{"organization_id":"other","allowed_prompts":["support"]}`, "", "404 prompt_not_found allowed_prompts[0]"},
		{"", "PATCH /team/blue", `{"allowed_prompts":["tone"]}`, "", "422 invalid_value default_prompt_id"},
	})
}

// TestDefaultPromptsAreNotDeleted: the default of a key, a team or an organization stays. A prompt
// that lists name is deleted, and the lists do not grow by it.
func TestDefaultPromptsAreNotDeleted(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /prompts", `{"prompt_name":"a","messages":[{"role":"user","content":"x"}]}`, "200"},
		{"", "POST /prompts", `{"prompt_name":"b","messages":[{"role":"user","content":"x"}]}`, "200"},
		{"", "POST /key/generate", `{"key":"sk-first-0123456789abcdef","default_prompt_id":"a","allowed_prompts":["a","b"]}`, "200"},
		{"", "POST /team/new", `{"team_id":"blue","default_prompt_id":"a"}`, "200"},
		{"", "DELETE /prompts/a", "", "409 prompt_in_use name"},
		{"", "DELETE /prompts/b", "", "200"},
	})
	a := ask(t, s, "DELETE /prompts/a", "", nil)
	if !strings.Contains(a.body, "(keys: 1, teams: 1)") {
		t.Error(a.body)
	}
	play(t, s, []step{
		{"", "POST /prompts", `{"prompt_name":"b","messages":[{"role":"user","content":"x"}]}`, "200"},
		{"", "POST /key/update", `{"key":"sk-first-0123456789abcdef","default_prompt_id":"b"}`, "422 invalid_value default_prompt_id"}, // a new prompt of the old name
		{"", "POST /key/update", `{"key":"sk-first-0123456789abcdef","default_prompt_id":null}`, "200"},
		{"", "DELETE /team/delete", `{"team_ids":["blue"]}`, "200"},
		{"", "DELETE /prompts/a", "", "200"},
	})
	if got := ask(t, s, "GET /key/info?key=sk-first-0123456789abcdef", "", nil); len(got.json(t)["info"].(map[string]any)["allowed_prompts"].([]any)) != 2 {
		t.Errorf("a list forgets a deleted prompt, and might mean all: %s", got.body)
	}
}

// TestWhoChangesPromptRules: rules bound what a caller makes, and a team admin changes none of the
// team's.
func TestWhoChangesPromptRules(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	play(t, s, []step{
		{"", "POST /prompts", `{"prompt_name":"a","messages":[{"role":"user","content":"x"}]}`, "200"},
		{"", "POST /prompts", `{"prompt_name":"b","messages":[{"role":"user","content":"x"}]}`, "200"},
		{"", "POST /team/new", `{"team_id":"blue","allowed_prompts":["a"]}`, "200"},
	})
	user := account(t, s, `{"user_id":"ada"}`)
	play(t, s, []step{
		{"", "POST /team/member_add", `{"team_id":"blue","member":[{"user_id":"ada","role":"admin"}]}`, "200"},
		{user, "PATCH /team/blue", `{"allowed_prompts":["a","b"]}`, "403 insufficient_permissions allowed_prompts"},
		{user, "PATCH /team/blue", `{"default_prompt_id":"a"}`, "403 insufficient_permissions default_prompt_id"},
		{user, "PATCH /team/blue", `{"require_prompt":true}`, "403 insufficient_permissions require_prompt"},
		{user, "POST /key/generate", `{"key":"sk-bound-0123456789abcdef","allowed_prompts":["a"],"require_prompt":true}`, "200"},
		{"sk-bound-0123456789abcdef", "POST /key/generate", `{}`, "403 insufficient_permissions require_prompt"},
		{"sk-bound-0123456789abcdef", "POST /key/generate", `{"require_prompt":true}`, "403 insufficient_permissions allowed_prompts"},
		{"sk-bound-0123456789abcdef", "POST /key/generate", `{"require_prompt":true,"allowed_prompts":["a","b"]}`, "403 insufficient_permissions allowed_prompts"},
		{"sk-bound-0123456789abcdef", "POST /key/update", `{"key":"sk-bound-0123456789abcdef","require_prompt":false}`, "403 insufficient_permissions require_prompt"},
		{"sk-bound-0123456789abcdef", "POST /key/generate", `{"require_prompt":true,"allowed_prompts":["a"],"default_prompt_id":"a"}`, "200"},
	})
}

// TestNothingNamesADeletedPrompt: a prompt that is deleted while another one includes it, or while
// it becomes a default, is deleted or used, and never both.
func TestNothingNamesADeletedPrompt(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	for i := range 60 {
		name := fmt.Sprintf("tone%d", i)
		play(t, s, []step{{"", "POST /prompts", `{"prompt_name":"` + name + `","messages":[{"role":"user","content":"x"}]}`, "200"}})
		use, body := "POST /key/generate", `{"default_prompt_id":"`+name+`"}`
		if i%2 == 0 {
			use, body = "POST /prompts", `{"prompt_name":"includes`+name+`","messages":[{"role":"user","content":"{% include \"prompt:`+name+`\" %}"}]}`
		}
		var used, deleted answer
		var both sync.WaitGroup
		both.Go(func() { used = ask(t, s, use, body, nil) })
		both.Go(func() { deleted = ask(t, s, "DELETE /prompts/"+name, "", nil) })
		both.Wait()
		if used.status == 200 && deleted.status != 409 || deleted.status == 200 && used.status < 400 {
			t.Fatalf("used: %d %s\ndeleted: %d %s", used.status, used.body, deleted.status, deleted.body)
		}
	}
}
