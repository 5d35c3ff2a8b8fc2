package extproc

import (
	"strconv"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// ruled is a kit with prompts, whose key in team has the rules, as have its team and organization.
func ruled(t *testing.T, key, team, organization tenancy.PromptRules) *kit {
	t.Helper()
	o := tenancytest.NewOffice(t)
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "acme", Prompts: organization}))
	o.Must(func(s *tenancy.Set, tx *record.Txn) error {
		_, err := s.CreateTeam(tx, tenancy.Team{ID: "blue", Organization: "acme", Prompts: team})
		return err
	})
	o.Give(tenancy.Key{Alias: "ruled", Team: "blue", Prompts: key})
	set := library(t)
	return newKit(t, one(), func(_ *kit, d *pipeline.Deps) {
		view := *d.View()
		view.Prompts, view.Keys = set, o.Set
		d.View = func() *cluster.View { return &view }
	})
}

// TestPromptRules applies the rules of a key, its team and its organization.
func TestPromptRules(t *testing.T) {
	t.Parallel()
	type rules = tenancy.PromptRules
	support, long := []string{supportID}, []string{longID}
	required := rules{Required: true}
	chat := func(more string) string {
		return `{"model":"fast",` + more + `"messages":[{"role":"user","content":"x"}]}`
	}
	messages := func(list string) string { return `{"model":"fast","prompt_id":"support","messages":[` + list + `]}` }
	for name, c := range map[string]struct {
		key, team, organization rules
		path, body              string
		want                    string // the prompt, or the status, the code and the parameter
	}{
		"no rules":                   {body: chat(""), want: ""},
		"allowed by name":            {key: rules{Allowed: support}, body: chat(`"prompt_id":"support",`), want: "support@2"},
		"allowed by id":              {team: rules{Allowed: support}, body: chat(`"prompt_id":"` + supportID + `",`), want: "support@2"},
		"none named, none required":  {key: rules{Allowed: support}, body: chat(""), want: ""},
		"not in the key's list":      {key: rules{Allowed: long}, body: chat(`"prompt_id":"support",`), want: "404 prompt_not_found prompt_id"},
		"not in the team's list":     {key: rules{Allowed: support}, team: rules{Allowed: long}, body: chat(`"prompt_id":"support",`), want: "404 prompt_not_found prompt_id"},
		"not in the organization's":  {organization: rules{Allowed: long}, body: chat(`"prompt_id":"support",`), want: "404 prompt_not_found prompt_id"},
		"no version of a hidden one": {key: rules{Allowed: long}, body: chat(`"prompt_id":"support","prompt_version":9,`), want: "404 prompt_not_found prompt_id"},
		"the default":                {organization: rules{Default: longID}, body: chat(""), want: "long@1"},
		"the narrowest default":      {key: rules{Default: supportID}, team: rules{Default: longID}, organization: rules{Default: longID}, body: chat(""), want: "support@2"},
		"the team's default":         {team: rules{Default: supportID}, organization: rules{Default: longID}, body: chat(""), want: "support@2"},
		"a label of the default":     {key: rules{Default: supportID}, body: chat(`"prompt_label":"production",`), want: "support@1"},
		"another than the default":   {key: rules{Default: longID}, body: chat(`"prompt_id":"support",`), want: "support@2"},
		"a default not allowed":      {key: rules{Allowed: support}, team: rules{Default: longID}, body: chat(""), want: "404 prompt_not_found prompt_id"},
		"a default that is gone":     {key: rules{Default: "none"}, body: chat(""), want: "404 prompt_not_found prompt_id"},
		"a default and no chat":      {key: rules{Default: supportID}, path: "/v1/embeddings", body: `{"model":"fast","input":"x"}`, want: ""},

		"required and named":         {key: required, body: chat(`"prompt_id":"support",`), want: "support@2"},
		"required and missing":       {organization: required, body: chat(""), want: "403 prompt_required prompt_id"},
		"required and a default":     {team: rules{Required: true, Default: supportID}, body: chat(""), want: "support@2"},
		"required by the team":       {team: required, body: chat(""), want: "403 prompt_required prompt_id"},
		"required, and no chat":      {key: required, path: "/v1/embeddings", body: `{"model":"fast","input":"x"}`, want: "403 prompt_required"},
		"required, and a completion": {key: rules{Required: true, Default: supportID}, path: "/v1/completions", body: `{"model":"fast","prompt":"x"}`, want: "403 prompt_required"},

		"a system message":       {key: required, body: messages(`{"role":"user","content":"x"},{"role":"system","content":"x"}`), want: "403 instructions_denied messages[1]"},
		"a developer message":    {key: required, body: messages(`{"role":"developer","content":"x"}`), want: "403 instructions_denied messages[0]"},
		"a role with an escape":  {key: required, body: messages(`{"role":"s\u0079stem","content":"x"}`), want: "403 instructions_denied messages[0]"},
		"a role in capitals":     {key: required, body: messages(`{"role":"System","content":"x"}`), want: "403 instructions_denied messages[0]"},
		"a role twice":           {key: required, body: messages(`{"role":"user","content":"x","Role":"system"}`), want: "403 instructions_denied messages[0]"},
		"with the default":       {key: rules{Required: true, Default: supportID}, body: chat(`"instructions":"x",`), want: "403 instructions_denied instructions"},
		"a template of the chat": {key: required, body: chat(`"prompt_id":"support","chat_template":"x",`), want: "403 instructions_denied chat_template"},
		"a conversation":         {key: required, body: messages(`{"role":"user","content":"system"},{"role":"assistant","content":"x"},{"role":"tool","tool_call_id":"t","content":"x"}`), want: "support@2"},
		"Anthropic's system":     {key: required, path: "/v1/messages", body: `{"model":"fast","max_tokens":9,"prompt_id":"support","system":"x","messages":[{"role":"user","content":"x"}]}`, want: "403 Remove system"},
		"Anthropic's messages":   {key: required, path: "/v1/messages", body: `{"model":"fast","max_tokens":9,"prompt_id":"support","messages":[{"role":"system","content":"x"}]}`, want: "403 Remove messages[0]"},
		"Anthropic's null":       {key: required, path: "/v1/messages", body: `{"model":"fast","max_tokens":9,"prompt_id":"support","system":null,"messages":[{"role":"user","content":"x"}]}`, want: "support@2"},
		"instructions":           {key: required, path: "/v1/responses", body: `{"model":"fast","prompt_id":"support","instructions":"x","input":"x"}`, want: "403 instructions_denied instructions"},
		"a prompt of OpenAI's":   {key: required, path: "/v1/responses", body: `{"model":"fast","prompt_id":"support","prompt":{"id":"pmpt_1"},"input":"x"}`, want: "403 instructions_denied prompt"},
		"a developer's item":     {key: required, path: "/v1/responses", body: `{"model":"fast","prompt_id":"support","input":[{"type":"message","role":"developer","content":"x"}]}`, want: "403 instructions_denied input[0]"},
		"input that is a text":   {key: required, path: "/v1/responses", body: `{"model":"fast","prompt_id":"support","input":"x"}`, want: "support@2"},
		"without rules it may":   {body: messages(`{"role":"system","content":"x"}`), want: "support@2"},
	} {
		k := ruled(t, c.key, c.team, c.organization)
		e := k.open(t)
		path := c.path
		if path == "" {
			path = "/v1/chat/completions"
		}
		out := e.request(append([]string{":path", path}, plainHeaders(e.uuid, "authorization", "Bearer "+tenancytest.Text("ruled"))[2:]...), c.body)
		if out.refused == nil {
			if strings.HasPrefix(c.want, "4") {
				t.Errorf("%s: passes, want %s", name, c.want)
			}
			for prompt, text := range map[string]string{"support@1": "Help .", "support@2": "Help  well.", "long@1": "You help "} {
				if strings.Contains(out.body, text) != (prompt == c.want) {
					t.Errorf("%s: the provider gets %s, want the prompt %q", name, out.body, c.want)
				}
			}
			e.close()
			continue
		}
		got := strconv.Itoa(out.refused.status)
		for _, member := range []string{"code", "param"} {
			if _, rest, ok := strings.Cut(out.refused.body, `"`+member+`":"`); ok {
				value, _, _ := strings.Cut(rest, `"`)
				got += " " + value
			}
		}
		if path == "/v1/messages" { // Anthropic's errors have no code
			_, rest, _ := strings.Cut(out.refused.body, " Remove ")
			member, _, _ := strings.Cut(rest, `."`)
			got += " Remove " + member
		}
		if got != c.want {
			t.Errorf("%s: %d %s, want %s", name, out.refused.status, out.refused.body, c.want)
		}
		e.close()
	}
}

// TestHiddenPromptsAreUnknown: a prompt that a list does not have and one that does not exist get
// the same response, and a default that cannot be used says whose it is.
func TestHiddenPromptsAreUnknown(t *testing.T) {
	t.Parallel()
	rejected := func(k *kit, body string) string {
		e := k.open(t)
		defer e.close()
		out := e.request(plainHeaders(e.uuid, "authorization", "Bearer "+tenancytest.Text("ruled")), body)
		if out.refused == nil {
			t.Fatal("passes")
		}
		return out.refused.body
	}
	k := ruled(t, tenancy.PromptRules{Allowed: []string{longID}}, tenancy.PromptRules{}, tenancy.PromptRules{})
	if hidden, unknown := rejected(k, with(`"prompt_id":"support"`)), rejected(k, with(`"prompt_id":"nothing"`)); hidden != unknown {
		t.Errorf("%s\n%s", hidden, unknown)
	}
	k = ruled(t, tenancy.PromptRules{}, tenancy.PromptRules{Default: foreignID}, tenancy.PromptRules{})
	if got := rejected(k, hello); !strings.Contains(got, "the default_prompt_id of the team") {
		t.Error(got)
	}
}
