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

// TestGuardrailsAreKept: records have the guardrails that were written, a principal has those of all that its key
// belongs to, and one that is added is known to all nodes before it is acknowledged.
func TestGuardrailsAreKept(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "acme"}))
	o.Must(tenancytest.CreateTeam(tenancy.Team{ID: "blue", Organization: "acme"}))
	o.Give(tenancy.Key{Alias: "bound", Team: "blue"})
	k, _ := o.Set.Get(o.Who("bound").Hash)
	set := func(key, team, organization []string) (revoked []bool) {
		changed := *k
		changed.Guardrails = key
		return []bool{
			o.Must(func(s *tenancy.Set, tx *record.Txn) error { _, err := s.UpdateKey(tx, changed, 0); return err }),
			o.Must(tenancytest.UpdateTeam(tenancy.Team{ID: "blue", Organization: "acme", Guardrails: team}, 0)),
			o.Must(tenancytest.UpdateOrganization(tenancy.Organization{ID: "acme", Alias: "acme", Guardrails: organization}, 0)),
		}
	}
	if revoked := set([]string{"b", "a"}, []string{"a"}, []string{"c"}); !revoked[0] || !revoked[1] || !revoked[2] {
		t.Errorf("guardrails are acknowledged before all nodes know them: %v", revoked)
	}
	want := [3]tenancy.BoundGuardrails{{Of: "API key", IDs: []string{"b", "a"}}, {Of: "team", IDs: []string{"a"}}, {Of: "organization", IDs: []string{"c"}}}
	if diff := cmp.Diff(want, o.Who("bound").Guardrails()); diff != "" {
		t.Error(diff)
	}
	if revoked := set([]string{"a"}, nil, nil); revoked[0] || revoked[1] || revoked[2] {
		t.Errorf("nothing is taken by the end of guardrails: %v", revoked)
	}
	for _, bound := range (tenancy.Principal{Master: true}).Guardrails() {
		if len(bound.IDs) > 0 {
			t.Errorf("the master key has %+v", bound)
		}
	}
}

// TestGuardrailIsInUse: a guardrail is unused only as long as nothing has it, also what is made
// meanwhile.
func TestGuardrailIsInUse(t *testing.T) {
	t.Parallel()
	list := []string{"x", "g"}
	for name, use := range map[string]tenancytest.Operation{
		"key":          tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey("sk-k"), Guardrails: list}),
		"team":         tenancytest.CreateTeam(tenancy.Team{ID: "blue", Guardrails: list}),
		"organization": tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "acme", Guardrails: list}),
	} {
		o := newOffice(t)
		before := o.Begin()
		if err := o.Set.CheckGuardrailUnused(before, "g", 0); err != nil {
			t.Fatal(err)
		}
		o.Must(use)
		if f := fault.From(o.Set.CheckGuardrailUnused(o.Begin(), "g", 0)); f == nil || f.Code != "guardrail_in_use" || f.Kind != fault.Conflict {
			t.Errorf("%s: %v", name, f)
		}
		if err := o.Set.CheckGuardrailUnused(o.Begin(), "other", 0); err != nil {
			t.Errorf("%s: another guardrail is in use: %v", name, err)
		}
		o.Set.UsePrompt(before, "p") // so that there is something to commit
		if _, err := o.Commit(before); fault.From(err) == nil || fault.From(err).Code != record.CodeStale {
			t.Errorf("%s: what was made meanwhile does not count: %v", name, err)
		}
	}
}
