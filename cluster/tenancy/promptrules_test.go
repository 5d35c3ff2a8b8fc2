package tenancy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// TestPromptTerms is which prompts a key's requests use, by all that the key belongs to.
func TestPromptTerms(t *testing.T) {
	t.Parallel()
	type rules = tenancy.PromptRules
	for name, c := range map[string]struct {
		key, team, organization rules
		byDefault, of, allowed  string
		required                bool
	}{
		"nothing":                 {allowed: "a b c"},
		"all lists hold":          {key: rules{Allowed: []string{"a", "b"}}, team: rules{Allowed: []string{"b", "c"}}, organization: rules{Allowed: []string{"b"}}, allowed: "b"},
		"lists without a common":  {key: rules{Allowed: []string{"a"}}, organization: rules{Allowed: []string{"b"}}, allowed: ""},
		"the key's default first": {key: rules{Default: "a"}, team: rules{Default: "b"}, organization: rules{Default: "c"}, byDefault: "a", of: "API key", allowed: "a b c"},
		"then the team's":         {team: rules{Default: "b"}, organization: rules{Default: "c"}, byDefault: "b", of: "team", allowed: "a b c"},
		"then the organization's": {organization: rules{Default: "c"}, byDefault: "c", of: "organization", allowed: "a b c"},
		"required by the key":     {key: rules{Required: true}, allowed: "a b c", required: true},
		"required by the team":    {team: rules{Required: true}, allowed: "a b c", required: true},
		"required by the rest":    {organization: rules{Required: true}, allowed: "a b c", required: true},
	} {
		o := newOffice(t)
		o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "acme", Prompts: c.organization}))
		o.Must(tenancytest.CreateTeam(tenancy.Team{ID: "blue", Organization: "acme", Prompts: c.team}))
		o.Give(tenancy.Key{Alias: "ruled", Team: "blue", Prompts: c.key})
		terms := o.Who("ruled").Prompts()
		allowed := ""
		for _, prompt := range []string{"a", "b", "c"} {
			if terms.Allow(prompt) {
				allowed += " " + prompt
			}
		}
		if c.allowed != "" {
			c.allowed = " " + c.allowed
		}
		if terms.Default != c.byDefault || terms.DefaultOf != c.of || allowed != c.allowed || terms.Required != c.required || terms.Limited() != (c.allowed != " a b c") {
			t.Errorf("%s: %+v allows%s", name, terms, allowed)
		}
	}
	if terms := (tenancy.Principal{Master: true}).Prompts(); terms.Required || terms.Limited() || terms.Default != "" {
		t.Errorf("the master key has %+v", terms)
	}
}

// TestPromptRulesAreKept: records have what was written, and a rule that takes something is
// known to all nodes before it is acknowledged.
func TestPromptRulesAreKept(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	rules := tenancy.PromptRules{Allowed: []string{"b", "a"}, Default: "a", Required: true}
	key := tenancy.Key{Alias: "k", Hash: id.HashKey("sk-k")}
	o.Must(tenancytest.CreateKey(key))
	o.Must(tenancytest.CreateTeam(tenancy.Team{ID: "blue"}))
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "acme"}))
	set := func(r tenancy.PromptRules) (revoked []bool) {
		key.Prompts = r
		return []bool{
			o.Must(func(s *tenancy.Set, tx *record.Txn) error { _, err := s.UpdateKey(tx, key, 0); return err }),
			o.Must(tenancytest.UpdateTeam(tenancy.Team{ID: "blue", Prompts: r}, 0)),
			o.Must(tenancytest.UpdateOrganization(tenancy.Organization{ID: "acme", Alias: "acme", Prompts: r}, 0)),
		}
	}
	if revoked := set(rules); !revoked[0] || !revoked[1] || !revoked[2] {
		t.Errorf("rules are acknowledged before all nodes know them: %v", revoked)
	}
	k, _ := o.Set.Get(key.Hash)
	team, _ := o.Set.Team(nil, "blue")
	org, _ := o.Set.Organization(nil, "acme")
	for _, got := range []tenancy.PromptRules{k.Prompts, team.Prompts, org.Prompts} {
		if diff := cmp.Diff(rules, got); diff != "" {
			t.Error(diff)
		}
	}
	if revoked := set(tenancy.PromptRules{}); revoked[0] || revoked[1] || revoked[2] {
		t.Errorf("nothing is taken by the end of rules: %v", revoked)
	}
}

// TestDefaultPromptIsInUse: a prompt is unused only as long as nothing has it as its default, also
// what is made meanwhile.
func TestDefaultPromptIsInUse(t *testing.T) {
	t.Parallel()
	rules := tenancy.PromptRules{Default: "p"}
	for name, use := range map[string]tenancytest.Operation{
		"key":          tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey("sk-k"), Prompts: rules}),
		"team":         tenancytest.CreateTeam(tenancy.Team{ID: "blue", Prompts: rules}),
		"organization": tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "acme", Prompts: rules}),
		"version":      func(s *tenancy.Set, tx *record.Txn) error { s.UsePrompt(tx, "p"); return nil },
	} {
		o := newOffice(t)
		before := o.Begin()
		if err := o.Set.CheckPromptUnused(before, "p"); err != nil {
			t.Fatal(err)
		}
		o.Must(use)
		if name != "version" {
			if f := fault.From(o.Set.CheckPromptUnused(o.Begin(), "p")); f == nil || f.Code != "prompt_in_use" || f.Kind != fault.Conflict {
				t.Errorf("%s: %v", name, f)
			}
			if err := o.Set.CheckPromptUnused(o.Begin(), "other"); err != nil {
				t.Errorf("%s: another prompt is in use: %v", name, err)
			}
		}
		o.Set.UsePrompt(before, "other") // so that there is something to commit
		if _, err := o.Commit(before); fault.From(err) == nil || fault.From(err).Code != record.CodeStale {
			t.Errorf("%s: what was made meanwhile does not count: %v", name, err)
		}
	}
}
