package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// world is a state and the catalogue that it comes to.
type world struct {
	state recordtest.State
	base  *catalog.Catalog // of the file
	now   *catalog.Catalog
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	c := build(tb, changeRouter(), deploy("f1", "fixed", "openai/gpt-4o"), deploy("f2", "second", "vllm/z"), deploy("f3", "second", "openai/x"))
	return &world{base: c, now: c}
}

func at(second int64) time.Time { return time.Unix(second, 5).UTC() }

// do runs an operation and commits it.
func (w *world) do(op func(tx *record.Txn) error) error {
	tx := record.NewTxn(at(9), "admin")
	if err := op(tx); err != nil {
		return err
	}
	return w.commit(tx)
}

func (w *world) commit(tx *record.Txn) error {
	changes, _, err := w.state.Commit(tx)
	if err == nil {
		w.now, _, _ = w.now.Apply(changes, open)
	}
	return err
}

// told is what is wrong, as "kind code param" of the first problem.
func told(err error) string {
	if err == nil {
		return ""
	}
	f := fault.From(err)
	return fmt.Sprint(f.Kind, " ", f.Code, " ", f.Param)
}

// borrowing is a deployment that has nothing of its own.
func borrowing(d string) catalog.DeploymentSpec {
	return catalog.DeploymentSpec{ID: d, ModelName: "m", Model: "openai/x", CredentialName: "c"}
}

// TestOperations: what each operation refuses, and by what.
func TestOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	create := func(s catalog.DeploymentSpec) func(*record.Txn) error {
		return func(tx *record.Txn) error { _, err := w.now.Create(tx, s, seal); return err }
	}
	update := func(s catalog.DeploymentSpec, revision uint64) func(*record.Txn) error {
		return func(tx *record.Txn) error { _, err := w.now.Update(tx, s, revision, seal); return err }
	}
	remove := func(d id.Deployment) func(*record.Txn) error {
		return func(tx *record.Txn) error { return w.now.Delete(tx, d) }
	}
	keep := func(c catalog.Credential) func(*record.Txn) error {
		return func(tx *record.Txn) error { _, err := w.now.CreateCredential(tx, c, seal); return err }
	}
	alter := func(c catalog.Credential, revision uint64) func(*record.Txn) error {
		return func(tx *record.Txn) error { _, err := w.now.UpdateCredential(tx, c, revision, seal); return err }
	}
	forget := func(name string) func(*record.Txn) error {
		return func(tx *record.Txn) error { return w.now.DeleteCredential(tx, name) }
	}
	router := func(p catalog.RouterSpec, revision uint64) func(*record.Txn) error {
		return func(tx *record.Txn) error { return w.now.UpdateRouter(tx, p, revision) }
	}
	reset := func(name string) func(*record.Txn) error {
		return func(tx *record.Txn) error { return w.now.ResetRouter(tx, name, 0) }
	}
	key := vault.NewSecret("k")
	for i, test := range []struct {
		op   func(*record.Txn) error
		want string
	}{
		{remove("d"), "not_found model_not_found id"},
		{update(deploy("d", "m", "openai/x"), 0), "not_found model_not_found model_id"},
		{create(deploy("d", "m", "openai/x")), ""}, // revision 1
		{create(deploy("d", "m", "openai/x")), "exists already_exists model_info.id"},
		{create(deploy("f1", "m", "openai/x")), "exists already_exists model_info.id"},
		{create(catalog.DeploymentSpec{}), "malformed missing_required_parameter model_name"},
		{create(deploy("e", "m", "nobody/x")), "malformed unknown_provider gateway_params.model"},
		{update(deploy("d", "n", "openai/x"), 2), "conflict revision_conflict "},
		{update(deploy("d", "n", "nobody/x"), 1), "malformed unknown_provider gateway_params.model"},
		{update(deploy("d", "n", "openai/x"), 1), ""}, // 2
		{update(deploy("f1", "n", "openai/x"), 0), "conflict defined_in_file model_id"},
		{remove("f1"), "conflict defined_in_file id"},

		{create(borrowing("c1")), "not_found credential_not_found gateway_params.credential_name"},
		{forget("c"), "not_found credential_not_found credential_name"},
		{alter(catalog.Credential{Name: "c"}, 0), "not_found credential_not_found credential_name"},
		{keep(catalog.Credential{Name: "c", APIBase: "ftp://x"}), "malformed invalid_api_base credential_values.api_base"},
		{keep(catalog.Credential{Name: "c", Organization: "a b"}), "malformed invalid_value credential_values.organization"},
		{keep(catalog.Credential{Name: "c", APIKey: key}), ""}, // 3
		{keep(catalog.Credential{Name: "c", APIKey: key}), "exists already_exists credential_name"},
		{create(borrowing("c1")), ""}, // 4
		{forget("c"), "conflict credential_in_use "},
		{alter(catalog.Credential{Name: "c", APIKey: key}, 4), "conflict revision_conflict "},
		{alter(catalog.Credential{Name: "c", APIKey: key, Organization: "o"}, 3), ""}, // 5
		{update(deploy("c1", "m", "openai/x"), 0), ""},                                // 6
		{forget("c"), ""}, // 7

		{router(catalog.RouterSpec{NumRetries: new(1)}, 3), "conflict revision_conflict "},
		{router(catalog.RouterSpec{NumRetries: new(99)}, 0), "malformed invalid_value router_settings.num_retries"},
		{router(catalog.RouterSpec{NumRetries: new(1)}, 0), ""}, // 8
		{router(catalog.RouterSpec{AllowedFails: new(1)}, 8), ""},
		{reset("nothing"), "not_found setting_not_found field_name"},
		{reset("stamp"), "not_found setting_not_found field_name"},
		{reset("num_retries"), ""},
		{remove("d"), ""},
		{remove("d"), "not_found model_not_found id"},
	} {
		if got := told(w.do(test.op)); got != test.want {
			t.Errorf("operation %d: %q, want %q", i, got, test.want)
		}
	}
	if p, revision := w.now.Patch(); p.NumRetries != nil || *p.AllowedFails != 1 || revision != 10 {
		t.Errorf("settings of revision %d: %+v", revision, p)
	}
}

// TestLostRaces: a deployment and the end of the credential that it names cannot
// both be, whoever is first.
func TestLostRaces(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"deployment", "credential"} {
		w := newWorld(t)
		if err := w.do(func(tx *record.Txn) error {
			_, err := w.now.CreateCredential(tx, catalog.Credential{Name: "c", APIKey: vault.NewSecret("k")}, seal)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		made, gone := record.NewTxn(at(1), "a"), record.NewTxn(at(1), "b")
		if _, err := w.now.Create(made, borrowing("d"), seal); err != nil {
			t.Fatal(err)
		}
		if err := w.now.DeleteCredential(gone, "c"); err != nil || !gone.NeedsFence() {
			t.Fatal(err)
		}
		order := []*record.Txn{made, gone}
		if first == "credential" {
			slices.Reverse(order)
		}
		if err := w.commit(order[0]); err != nil {
			t.Fatal(err)
		}
		if err := w.commit(order[1]); fault.From(err).Code != record.CodeStale {
			t.Errorf("the %s was first, and the other is %v", first, err)
		}
	}
}

// TestCredentialsAreBorrowed: a deployment has what it says itself, and the rest from
// its credential as that is now.
func TestCredentialsAreBorrowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := borrowing("own")
	own.APIBase, own.APIKey, own.Organization = "https://own.example/v2", vault.NewSecret("own-key"), "own-org"
	wild := borrowing("wild")
	wild.ModelName, wild.Model = "o/*", "openai/*"
	must := func(op func(tx *record.Txn) error) {
		t.Helper()
		if err := w.do(op); err != nil {
			t.Fatal(err)
		}
	}
	must(func(tx *record.Txn) error {
		_, err := w.now.CreateCredential(tx, catalog.Credential{Name: "c", APIKey: vault.NewSecret("k1"), APIBase: "https://one.example/v1", Organization: "org"}, seal)
		return err
	})
	for _, s := range []catalog.DeploymentSpec{borrowing("bare"), own, wild, deploy("other", "m", "openai/x")} {
		must(func(tx *record.Txn) error { _, err := w.now.Create(tx, s, seal); return err })
	}
	look := func() string {
		var out []string
		for _, name := range []id.Deployment{"bare", "own", "wild", "other"} {
			d, _ := w.now.Deployment(name)
			out = append(out, fmt.Sprint(d.Endpoint.Host, d.BasePath, " ", d.APIKey.Reveal(), " ", len(d.ExtraHeaders)))
			if len(d.ExtraHeaders) > 0 {
				out = append(out, d.ExtraHeaders[0].Name+"="+d.ExtraHeaders[0].Value.Reveal())
			}
			for _, in := range []id.ModelName{"m", "o/1"} {
				g, _ := w.now.Group(in)
				for _, member := range g.Deployments {
					if member.ID == name && (member.APIKey != d.APIKey || member.Endpoint != d.Endpoint) {
						t.Errorf("%s is another in its group", name)
					}
				}
			}
			for _, target := range w.now.Endpoints() {
				if target == d.Endpoint {
					out = append(out, "ok")
				}
			}
		}
		return strings.Join(out, ", ")
	}
	if got, want := look(), "one.example/v1 k1 1, openai-organization=org, ok, own.example/v2 own-key 1, openai-organization=own-org, ok, one.example/v1 k1 1, openai-organization=org, ok, 127.0.0.1/v1 sk-provider 0, ok"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	before := w.now
	must(func(tx *record.Txn) error {
		c, err := w.now.FindCredential(tx, "c")
		if err != nil {
			return err
		}
		next := *c
		next.APIKey, next.APIBase, next.Organization = vault.NewSecret("k2"), "http://two.example", ""
		_, err = w.now.UpdateCredential(tx, next, c.Revision, seal)
		return err
	})
	if got, want := look(), "two.example k2 0, ok, own.example/v2 own-key 1, openai-organization=own-org, ok, two.example k2 0, ok, 127.0.0.1/v1 sk-provider 0, ok"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if d, _ := before.Deployment("bare"); d.APIKey.Reveal() != "k1" || len(before.Endpoints()) != len(w.now.Endpoints()) {
		t.Error("the catalogue before has changed, or an endpoint is left over")
	}
	if got := fmt.Sprint(w.now.Namers("c")); got != "[bare own wild]" {
		t.Error(got)
	}
}

// TestWhatCannotBeUsed: what this node cannot use is neither served nor forgotten: its
// name is taken, it can be deleted, and it is used as soon as that is possible.
func TestWhatCannotBeUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must := func(op func(tx *record.Txn) error) {
		t.Helper()
		if err := w.do(op); err != nil {
			t.Fatal(err)
		}
	}
	shut := func(plain vault.Secret, of string) ([]byte, error) { return seal(vault.NewSecret(locked), of) }
	must(func(tx *record.Txn) error { _, err := w.now.Create(tx, deploy("d", "m", "openai/x"), seal); return err })
	must(func(tx *record.Txn) error {
		s := deploy("d", "m", "openai/x")
		s.APIKey = vault.NewSecret("another")
		_, err := w.now.Update(tx, s, 0, shut)
		return err
	})
	must(func(tx *record.Txn) error {
		_, err := w.now.CreateCredential(tx, catalog.Credential{Name: "c", APIKey: vault.NewSecret("k")}, seal)
		return err
	})
	must(func(tx *record.Txn) error { _, err := w.now.Create(tx, borrowing("n"), seal); return err })
	must(func(tx *record.Txn) error {
		_, err := w.now.UpdateCredential(tx, catalog.Credential{Name: "c", APIKey: vault.NewSecret("k2")}, 0, shut)
		return err
	})
	if _, ok := w.now.Group("m"); ok || w.now.Len() != 3 {
		t.Errorf("%d deployments are served", w.now.Len())
	}
	loaded, broken, err := w.base.Load(context.Background(), &w.state, open)
	if err != nil || len(broken) != 3 || !errors.Is(errors.Join(broken...), vault.ErrOtherKey) {
		t.Errorf("error %v, broken %v", err, broken)
	}
	if diff := cmp.Diff(describe(loaded, changeAsks), describe(w.now, changeAsks)); diff != "" {
		t.Error(diff)
	}
	for name, got := range map[string]string{
		"create": told(w.do(func(tx *record.Txn) error { _, err := w.now.Create(tx, deploy("d", "m", "openai/x"), seal); return err })),
		"update": told(w.do(func(tx *record.Txn) error {
			_, err := w.now.Update(tx, deploy("d", "m", "openai/x"), 0, seal)
			return err
		})),
		"name":   told(w.do(func(tx *record.Txn) error { _, err := w.now.Create(tx, borrowing("n2"), seal); return err })),
		"forget": told(w.do(func(tx *record.Txn) error { return w.now.DeleteCredential(tx, "c") })),
	} {
		if want := map[string]string{
			"create": "exists already_exists model_info.id", "update": "conflict unusable model_id",
			"name": "conflict cannot_open gateway_params.credential_name", "forget": "conflict credential_in_use ",
		}[name]; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	must(func(tx *record.Txn) error { return w.now.Delete(tx, "d") })
	must(func(tx *record.Txn) error {
		_, err := w.now.UpdateCredential(tx, catalog.Credential{Name: "c", APIKey: vault.NewSecret("k3")}, 0, seal)
		return err
	})
	if d, ok := w.now.Deployment("n"); !ok || d.APIKey.Reveal() != "k3" || fmt.Sprint(w.now.Namers("c")) != "[n]" {
		t.Error("what can be used again is not")
	}
}

// TestStepByStepIsLoad: a catalogue that followed random operations is the one that a
// node that begins now makes of the state.
func TestStepByStepIsLoad(t *testing.T) {
	t.Parallel()
	first := newWorld(t)
	rapid.Check(t, func(t *rapid.T) {
		w := &world{base: first.base, now: first.base}
		ids, names := rapid.SampledFrom([]string{"a", "b", "c", "f1"}), rapid.SampledFrom([]string{"c1", "c2"})
		keyOf := rapid.SampledFrom([]string{"k1", "k2", locked})
		for range rapid.IntRange(1, 20).Draw(t, "operations") {
			s := drawStored(t).Spec
			s.ID = ids.Draw(t, "id")
			if rapid.Bool().Draw(t, "borrows") {
				s.CredentialName, s.APIKey, s.APIBase = names.Draw(t, "credential"), vault.Secret{}, ""
			} else {
				s.APIKey = vault.NewSecret(keyOf.Draw(t, "key"))
			}
			c := catalog.Credential{Name: names.Draw(t, "name"), APIKey: vault.NewSecret(keyOf.Draw(t, "key")), APIBase: "http://c" + keyOf.Draw(t, "base")}
			err := w.do(func(tx *record.Txn) error {
				var err error
				switch rapid.IntRange(0, 6).Draw(t, "operation") {
				case 0, 1:
					_, err = w.now.Create(tx, s, seal)
				case 2:
					_, err = w.now.Update(tx, s, 0, seal)
				case 3:
					err = w.now.Delete(tx, id.Deployment(s.ID))
				case 4:
					_, err = w.now.CreateCredential(tx, c, seal)
				case 5:
					_, err = w.now.UpdateCredential(tx, c, 0, seal)
				case 6:
					err = w.now.DeleteCredential(tx, c.Name)
				}
				return err
			})
			if err != nil && fault.KindOf(err) == fault.Internal {
				t.Fatal(err)
			}
		}
		loaded, _, err := w.base.Load(context.Background(), &w.state, open)
		if err != nil {
			t.Fatal(err)
		}
		more := func(c *catalog.Catalog) []string {
			out := describe(c, changeAsks)
			for _, d := range c.Deployments() {
				out = append(out, fmt.Sprint(d.ID, " ", d.APIKey.Reveal(), " ", d.Endpoint.ID, len(d.Stored().Sealed.APIKey)))
			}
			for _, one := range c.Credentials() {
				out = append(out, fmt.Sprint(one.Name, one.APIKey.Reveal(), one.APIBase, one.Revision, one.Locked(), c.Namers(one.Name)))
			}
			return out
		}
		if diff := cmp.Diff(more(loaded), more(w.now)); diff != "" {
			t.Fatalf("(-loaded +step by step)\n%s", diff)
		}
		n := 0
		_ = w.state.Scan(context.Background(), store.Range{Space: store.SpaceCredential}, func(key, _ []byte) bool {
			if _, ok := w.now.Credential(strings.TrimPrefix(string(key), "\x00")); !ok {
				n++
			}
			return true
		})
		if n > 0 {
			t.Fatalf("%d marks are left of credentials that are gone", n)
		}
	})
}

// TestUpdateKeepsWhatIsSealed: a secret that stays is not sealed again.
func TestUpdateKeepsWhatIsSealed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := deploy("d", "m", "openai/x")
	s.ExtraHeaders = map[string]vault.Secret{"x-a": vault.NewSecret("1"), "x-b": vault.NewSecret("2")}
	if err := w.do(func(tx *record.Txn) error { _, err := w.now.Create(tx, s, seal); return err }); err != nil {
		t.Fatal(err)
	}
	var sealed []string
	s.RPM, s.ExtraHeaders = 7, map[string]vault.Secret{"x-a": vault.NewSecret("1"), "x-b": vault.NewSecret("3")}
	if err := w.do(func(tx *record.Txn) error {
		_, err := w.now.Update(tx, s, 1, func(plain vault.Secret, of string) ([]byte, error) {
			sealed = append(sealed, of)
			return seal(plain, of)
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	stored, _ := w.now.Stored("d")
	if diff := cmp.Diff(s, stored.Spec, cmp.AllowUnexported(vault.Secret{})); diff != "" || fmt.Sprint(sealed) != "[deployment/d/header/x-b]" {
		t.Errorf("sealed again %v, stored (-want +got)\n%s", sealed, diff)
	}
	if stored.CreatedBy != "admin" || stored.Revision != 2 {
		t.Errorf("%+v", stored)
	}
}

// TestFallbackOperations: a fallback takes the place of the one before, and what was
// broken before does not stand in its way.
func TestFallbackOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const class = catalog.GeneralFallbacks
	set := func(from string, to ...string) string {
		return told(w.do(func(tx *record.Txn) error {
			return w.now.SetFallback(tx, catalog.Fallback{Class: class, From: from, To: to}, 0)
		}))
	}
	for i, step := range []struct{ got, want string }{
		{told(w.do(func(tx *record.Txn) error {
			_, err := w.now.Create(tx, deploy("d", "gone", "openai/y"), seal)
			return err
		})), ""},
		{set("gone", "fixed"), ""},
		{told(w.do(func(tx *record.Txn) error { return w.now.Delete(tx, "d") })), ""},
		{set("vllm/z", "fixed"), "malformed fallback_cycle fallback_models"},
		{set("openai/x", "f2", "vllm/z"), ""},
		{set("second", "f1"), ""},
		{set("fixed", "fixed"), "malformed fallback_cycle fallback_models[0]"},
		{set("nobody", "fixed"), "not_found model_not_found model"},
		{told(w.do(func(tx *record.Txn) error { return w.now.DeleteFallback(tx, class, "nobody", 0) })), "not_found fallback_not_found model"},
		{told(w.do(func(tx *record.Txn) error { return w.now.DeleteFallback(tx, class, "fixed", 1) })), "conflict revision_conflict "},
		{told(w.do(func(tx *record.Txn) error { return w.now.DeleteFallback(tx, class, "fixed", 0) })), ""},
	} {
		if step.got != step.want {
			t.Errorf("step %d: %q, want %q", i, step.got, step.want)
		}
	}
	var all []string
	for _, f := range w.now.FallbackList(class) {
		all = append(all, fmt.Sprint(f.From, f.To))
	}
	if got := strings.Join(all, " "); got != "second[f1] gone[fixed] openai/x[f2 vllm/z]" {
		t.Error(got)
	}
}
