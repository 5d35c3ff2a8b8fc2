package extproc

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
)

// office is an organization with a team, its keys, and end users. The text of a key
// is sk-of- and its alias.
func office(k *kit, d *pipeline.Deps) {
	k.tb.Helper()
	var state recordtest.State
	set, err := tenancy.New(nil, vault.Secret{})
	if err != nil {
		k.tb.Fatal(err)
	}
	must := func(op func(tx *record.Txn) error) {
		k.tb.Helper()
		tx := record.NewTxn(epoch(), "ada")
		if err := op(tx); err != nil {
			k.tb.Fatal(err)
		}
		changes, _, err := state.Commit(tx)
		if err != nil {
			k.tb.Fatal(err)
		}
		set, _ = set.With(changes)
	}
	key := func(made tenancy.Key) {
		made.Hash = id.HashKey("sk-of-" + made.Alias)
		must(func(tx *record.Txn) error { _, err := set.CreateKey(tx, made); return err })
	}
	customer := func(made tenancy.Customer) {
		must(func(tx *record.Txn) error { _, err := set.CreateCustomer(tx, made); return err })
	}
	must(func(tx *record.Txn) error {
		_, err := set.CreateOrganization(tx, tenancy.Organization{ID: "acme", Alias: "acme", Models: []string{"fast", "slow"}})
		return err
	})
	team := func(made tenancy.Team) {
		must(func(tx *record.Txn) error { _, err := set.CreateTeam(tx, made); return err })
	}
	team(tenancy.Team{ID: "blue", Organization: "acme", Models: []string{"fast"}, ModelAliases: map[string]string{"quick": "fast", "mine": "slow"}, Tags: []string{"blue", "shared"}})
	team(tenancy.Team{ID: "shut", Blocked: true})
	must(func(tx *record.Txn) error {
		_, err := set.UserBatch(tx).Create(tenancy.User{ID: "eve", Role: tenancy.RoleInternalUser, Blocked: true})
		return err
	})
	key(tenancy.Key{Alias: "team", Team: "blue", Aliases: map[string]string{"mine": "fast"}, Tags: []string{"app", "shared"}})
	key(tenancy.Key{Alias: "organization", Organization: "acme", Models: []string{"all-proxy-models"}})
	key(tenancy.Key{Alias: "shut", Team: "shut"})
	key(tenancy.Key{Alias: "eve", User: "eve"})
	key(tenancy.Key{Alias: "manager", Type: access.TypeManagement})
	key(tenancy.Key{Alias: "reader", Type: access.TypeReadOnly})
	key(tenancy.Key{Alias: "caller", Type: access.TypeInference})
	key(tenancy.Key{Alias: "elsewhere", AllowedRoutes: []string{"/v1/embeddings"}})
	key(tenancy.Key{Alias: "here", AllowedRoutes: []string{"/v1/chat/*"}})
	customer(tenancy.Customer{ID: "mallory", Blocked: true})
	customer(tenancy.Customer{ID: "mallory", Organization: "acme", Blocked: true})
	customer(tenancy.Customer{ID: "bob", Models: []string{"slow"}})
	customer(tenancy.Customer{ID: "bob", Organization: "acme", Models: []string{"slow"}})
	customer(tenancy.Customer{ID: "trent", Blocked: true})
	customer(tenancy.Customer{ID: "ted", Organization: "acme", Blocked: true})
	customer(tenancy.Customer{ID: id.Customer(strings.Repeat("m", 200)), Blocked: true})
	view := &cluster.View{Revision: 1, Catalog: k.catalog, Keys: set, Prompts: prompts.New()}
	d.View = func() *cluster.View { return view }
	d.Identify = func(v *cluster.View, p credential.Presented, now time.Time) (tenancy.Principal, error) {
		return v.Keys.Authenticate(p, now)
	}
}

func TestModelPermissions(t *testing.T) {
	k := newKit(t, catalog.Spec{
		Deployments: []catalog.DeploymentSpec{place("a", "fast", "fast-1", 0), place("b", "slow", "slow-1", 0), place("c", "other", "other-1", 0)}, Router: quick(0),
	}, office)
	for _, test := range []struct {
		name, key, members string
		status             int // 0: taken
		code               string
		model              string // that the provider is asked for
	}{
		{"a team's model", "team", `"model":"fast"`, 0, "", "fast-1"},
		{"a model of the organization that the team has not", "team", `"model":"slow"`, 403, "model_access_denied", ""},
		{"an alias of the team", "team", `"model":"quick"`, 0, "", "fast-1"},
		{"an alias of the key before that of the team", "team", `"model":"mine"`, 0, "", "fast-1"},
		{"the organization bounds a key that names all", "organization", `"model":"other"`, 403, "model_access_denied", ""},
		{"a model of the organization", "organization", `"model":"slow"`, 0, "", "slow-1"},
		{"no alias of others", "organization", `"model":"quick"`, 403, "model_access_denied", ""},
		{"a blocked team", "shut", `"model":"fast"`, 403, "team_blocked", ""},
		{"a blocked user", "eve", `"model":"fast"`, 403, "user_blocked", ""},
		{"a key for management", "manager", `"model":"fast"`, 403, "route_not_allowed", ""},
		{"a key for reading", "reader", `"model":"fast"`, 403, "route_not_allowed", ""},
		{"a key for inference", "caller", `"model":"fast"`, 0, "", "fast-1"},
		{"a key for other routes", "elsewhere", `"model":"fast"`, 403, "route_not_allowed", ""},
		{"a key for this route", "here", `"model":"fast"`, 0, "", "fast-1"},
		{"an end user that is blocked for keys without an organization", "team", `"model":"fast","user":"trent"`, 0, "", "fast-1"},
		{"an end user that an organization has blocked", "organization", `"model":"fast","user":"ted"`, 403, "customer_blocked", ""},
		{"an end user that is blocked elsewhere", "caller", `"model":"fast","user":"ted"`, 0, "", "fast-1"},
		{"a blocked end user", "caller", `"model":"fast","user":"mallory"`, 403, "customer_blocked", ""},
		{"a blocked end user of a long name", "caller", `"model":"fast","user":"` + strings.Repeat("m", 200) + `"`, 403, "customer_blocked", ""},
		{"an end user without the model", "caller", `"model":"fast","user":"bob"`, 403, "model_access_denied", ""},
		{"an end user with the model", "caller", `"model":"slow","user":"bob"`, 0, "", "slow-1"},
		{"an end user by what an alias stands for", "team", `"model":"mine","user":"bob"`, 403, "model_access_denied", ""},
		{"an unknown end user", "caller", `"model":"fast","user":"somebody"`, 0, "", "fast-1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := k.open(t)
			out := e.request(plainHeaders(e.uuid, "authorization", "Bearer sk-of-"+test.key), `{"messages":[{"role":"user","content":"Hello"}],`+test.members+`}`)
			if test.status != 0 {
				rejectedWith(t, e, out.refused, test.status, test.code)
				e.close()
				return
			}
			if out.refused != nil {
				t.Fatal(out.refused.body)
			}
			if !strings.Contains(out.body, `"`+test.model+`"`) {
				t.Errorf("the provider gets %s, want the model %s", out.body, test.model)
			}
			e.quit()
		})
	}
}

// TestAliasesStayWithTheCaller: the provider gets the model that an alias of the
// key resolves to, the caller its own name. The record has the name that limits apply to,
// and the tags of the request, the key and its team, each once.
func TestAliasesStayWithTheCaller(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{place("a", "fast", "fast-1", 0)}, Router: quick(0)}, office)
	e := k.open(t)
	out := e.request(plainHeaders(e.uuid, "authorization", "Bearer sk-of-team", "x-gateway-tags", "mine,app"), `{"model":"mine","messages":[{"role":"user","content":"Hello"}]}`)
	if out.refused != nil {
		t.Fatal(out.refused.body)
	}
	back := e.answer(jsonAnswer(goodReply))
	if !strings.Contains(back.body, `"model":"mine"`) || back.headers["x-gateway-model-group"] != "mine" {
		t.Errorf("the answer is %s with %v, want the caller's word for the model", back.body, back.headers)
	}
	ev := k.event(e.uuid)
	if diff := cmp.Diff([]string{"mine", "app", "shared", "blue"}, ev.Tags); diff != "" || ev.Group != "fast" || ev.Model != "fast-1" {
		t.Errorf("recorded as %q, model %q, with other tags (-want +got):\n%s", ev.Group, ev.Model, diff)
	}
}
