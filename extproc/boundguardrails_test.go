package extproc

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// TestBoundGuardrails applies the guardrails of the key, its team and its organization to requests that name others or
// none.
func TestBoundGuardrails(t *testing.T) {
	t.Parallel()
	on, own, foreign := bothHooks("flag"), bothHooks("flag"), bothHooks("flag")
	on.DefaultOn = true
	own.Organization, foreign.Organization = "acme", "other"
	all := map[string]guardrails.Guardrail{"a": bothHooks(""), "b": bothHooks("flag"), "c": own, "always": on, "foreign": foreign}
	for name, c := range map[string]struct{ member, key, team, organization, want, missing string }{
		"none":             {want: "always"},
		"the key's":        {key: "a", want: "a,always"},
		"the team's":       {team: "a b", want: "a,b,always"},
		"organization's":   {organization: "c", want: "c,always"},
		"in order, once":   {member: `"guardrail_id":"b",`, key: "c a", team: "b always", organization: "a c", want: "b,c,a,always"},
		"not switched off": {member: `"guardrails":[],`, team: "a", want: "a,always"},
		"deleted":          {key: "a gone", missing: "API key"},
		"the team's gone":  {member: `"guardrail_id":"b",`, team: "gone", missing: "team"},
		"another's":        {organization: "foreign", missing: "organization"},
	} {
		k := bound(t, all, c.key, c.team, c.organization)
		e := k.open(t)
		out := e.request(plainHeaders(e.uuid, "authorization", "Bearer "+tenancytest.Text("bound")), strings.Replace(hello, "{", "{"+c.member, 1))
		if c.missing != "" {
			if out.refused == nil || out.refused.status != 400 || !strings.Contains(out.refused.body, `"code":"guardrail_not_found"`) ||
				!strings.Contains(out.refused.body, `"param":"guardrail_id"`) || !strings.Contains(out.refused.body, "The guardrails of the "+c.missing) {
				t.Errorf("%s: %+v", name, out.refused)
			}
			e.close()
			continue
		}
		if out.refused != nil {
			t.Fatalf("%s: %+v", name, out.refused)
		}
		if masks := strings.Contains(c.want, "a,"); masks == strings.Contains(out.body, "Hello") {
			t.Errorf("%s: the provider gets %s", name, out.body)
		}
		if a := e.answer(jsonAnswer(goodReply)); a.headers["x-gateway-applied-guardrails"] != c.want {
			t.Errorf("%s: %q were applied, want %q", name, a.headers["x-gateway-applied-guardrails"], c.want)
		}
	}
}

// bound is a kit with guardrails, whose key in team has those that a text names, as have its team and organization.
func bound(t *testing.T, all map[string]guardrails.Guardrail, key, team, organization string) *kit {
	t.Helper()
	with := withGuardrails(t, all)
	return newKit(t, one(), with, func(_ *kit, d *pipeline.Deps) {
		view := *d.View()
		ids := func(names string) (out []string) {
			for name := range strings.FieldsSeq(names) {
				id := name
				for g := range view.Guardrails.Newest(everyone(), "") {
					if g.Name == name {
						id = g.ID
					}
				}
				out = append(out, id)
			}
			return out
		}
		o := tenancytest.NewOffice(t)
		o.Must(tenancytest.CreateOrganization(tenancy.Organization{ID: "acme", Alias: "acme", Guardrails: ids(organization)}))
		o.Must(func(s *tenancy.Set, tx *record.Txn) error {
			_, err := s.CreateTeam(tx, tenancy.Team{ID: "blue", Organization: "acme", Guardrails: ids(team)})
			return err
		})
		o.Give(tenancy.Key{Alias: "bound", Team: "blue", Guardrails: ids(key)})
		view.Keys = o.Set
		d.View = func() *cluster.View { return &view }
	})
}

func everyone() resource.Who {
	return resource.Who{MaySee: func(id.Organization) bool { return true }}
}
