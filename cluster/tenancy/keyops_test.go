package tenancy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/modelgateway/modelgateway/cluster/access"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// key returns a key that has to be there.
func (o *office) key(name string) *tenancy.Key {
	o.TB.Helper()
	k, ok := o.Set.Key(nil, tenancytest.HashOf(name))
	if !ok {
		o.TB.Fatalf("there is no key %s", name)
	}
	return k
}

// changeKey updates a key as it is.
func changeKey(name string, ifRevision uint64, change func(*tenancy.Key)) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		k := tenancytest.Called(name, nil)
		if found, ok := s.Key(nil, tenancytest.HashOf(name)); ok {
			k = *found
		}
		change(&k)
		_, err := s.UpdateKey(tx, k, ifRevision)
		return err
	}
}

func deleteKeys(names ...string) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		var hashes []id.KeyHash
		for _, n := range names {
			hashes = append(hashes, tenancytest.HashOf(n))
		}
		return s.DeleteKeys(tx, hashes)
	}
}

func TestKeysThatAreRefused(t *testing.T) {
	t.Parallel()
	o := newKeys(newOffice(t))
	o.Must(tenancytest.CreateKey(tenancytest.Called("one", func(k *tenancy.Key) { k.Alias = "one" })))
	o.Must(tenancytest.CreateKey(tenancytest.Called("two", func(k *tenancy.Key) { k.Alias = "two" })))
	revision := o.key("one").Revision
	make := func(change func(*tenancy.Key)) func(*tenancy.Set, *record.Txn) error {
		return tenancytest.CreateKey(tenancytest.Called("new", change))
	}
	for _, test := range []struct {
		name string
		op   func(*tenancy.Set, *record.Txn) error
		want string
		kind fault.Kind
	}{
		{"taken", tenancytest.CreateKey(tenancytest.Called("one", nil)), "key already_exists", fault.Exists},
		{"of the file", tenancytest.CreateKey(tenancytest.Called("file", nil)), "key already_exists", fault.Exists},
		{"the master's", tenancytest.CreateKey(tenancy.Key{Hash: id.HashKey(tenancytest.Master)}), "key already_exists", fault.Exists},
		{"alias taken", make(func(k *tenancy.Key) { k.Alias = "one" }), "key_alias already_exists", fault.Exists},
		{"no team", make(func(k *tenancy.Key) { k.Team = "none" }), "team_id team_not_found", fault.NotFound},
		{"no user", make(func(k *tenancy.Key) { k.User = "none" }), "user_id user_not_found", fault.NotFound},
		{"no organization", make(func(k *tenancy.Key) { k.Organization = "none" }), "organization_id organization_not_found", fault.NotFound},
		{"no budget", make(func(k *tenancy.Key) { k.Limits.Budget = "none" }), "budget_id budget_not_found", fault.NotFound},
		{"another organization than the team's", make(func(k *tenancy.Key) { k.Team, k.Organization = "research", "zeta" }), "organization_id invalid_value", fault.Malformed},
		{"an organization, the team has none", make(func(k *tenancy.Key) { k.Team, k.Organization = "free", "acme" }), "organization_id invalid_value", fault.Malformed},
		{"no member", make(func(k *tenancy.Key) { k.Team, k.User = "research", "bob" }), "user_id invalid_value", fault.Malformed},
		{"valid for too long", make(func(k *tenancy.Key) {
			k.Team, k.User, k.Expires = "research", "ada", tenancytest.Now().AddDate(0, 0, 40)
		}), "duration invalid_value", fault.Malformed},
		{"pattern", make(func(k *tenancy.Key) { k.Models = []string{"a", "*/*"} }), "models[1] invalid_value", fault.Malformed},
		{"soft budget", make(func(k *tenancy.Key) { k.Limits = tenancy.Limits{MaxBudget: pico(1), SoftBudget: pico(1)} }), "soft_budget invalid_value", fault.Malformed},

		{"update: not there", changeKey("none", 0, func(*tenancy.Key) {}), "key key_not_found", fault.NotFound},
		{"update: of the file", changeKey("file", 0, func(*tenancy.Key) {}), "key defined_in_file", fault.Conflict},
		{"update: revision", changeKey("one", revision+1, func(*tenancy.Key) {}), "revision_conflict", fault.Conflict},
		{"update: alias taken", changeKey("one", 0, func(k *tenancy.Key) { k.Alias = "two" }), "key_alias already_exists", fault.Exists},
		{"update: no team", changeKey("one", 0, func(k *tenancy.Key) { k.Team = "none" }), "team_id team_not_found", fault.NotFound},
		{"update: no member", changeKey("one", 0, func(k *tenancy.Key) { k.Team, k.User = "research", "bob" }), "user_id invalid_value", fault.Malformed},
		{"update: no end", changeKey("one", 0, func(k *tenancy.Key) { k.Team, k.User = "research", "ada" }), "duration invalid_value", fault.Malformed},
		{"update: no budget", changeKey("one", 0, func(k *tenancy.Key) { k.Limits.Budget = "none" }), "budget_id budget_not_found", fault.NotFound},
		{"update: pattern", changeKey("one", 0, func(k *tenancy.Key) { k.Models = []string{"**"} }), "models[0] invalid_value", fault.Malformed},

		{"delete: not there", deleteKeys("one", "none"), "keys[1] key_not_found", fault.NotFound},
		{"delete: of the file", deleteKeys("file"), "keys[0] defined_in_file", fault.Conflict},
	} {
		_, err := o.Try(test.op)
		if got := tenancytest.Refusal(err); got != test.want || fault.KindOf(err) != test.kind || fault.From(err).Detail == "" {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
	if n := o.Set.Cluster(); n != 2 {
		t.Errorf("%d keys, want the two that were made", n)
	}
	o.check()
}

func TestKeysAreComplete(t *testing.T) {
	t.Parallel()
	o := newKeys(newOffice(t))
	full := tenancytest.Called("full", func(k *tenancy.Key) {
		*k = tenancy.Key{
			Hash: k.Hash, Name: k.Name, Alias: "full", Models: []string{"gpt-*", "claude"}, Expires: tenancytest.Now().Add(time.Hour), Blocked: true, Metadata: `{"a":1}`,
			Team: "research", User: "ada", Tags: []string{"batch"}, Aliases: map[string]string{"fast": "gpt-4o", "best": "claude"},
			AllowedRoutes: []string{"/v1/chat/completions"}, Type: access.TypeInference,
			Limits: tenancy.Limits{MaxBudget: pico(5), RPM: new(uint32(7)), Budget: "gold", Models: []tenancy.ModelLimits{{Model: "gpt-4o", TPM: new(uint32(9))}}},
		}
	})
	o.Must(tenancytest.CreateKey(full))
	full.Organization = "acme" // the team's
	ignore := cmp.Options{cmpopts.IgnoreUnexported(tenancy.Key{}), cmpopts.IgnoreFields(tenancy.Key{}, "Meta"), cmpopts.EquateApproxTime(0)}
	if diff := cmp.Diff(&full, o.key("full"), ignore); diff != "" {
		t.Errorf("the key differs (- want):\n%s", diff)
	}
	o.Must(tenancytest.CreateKey(tenancytest.Called("member", func(k *tenancy.Key) { k.Team, k.User = "research", "ada" })))
	if k := o.key("member"); !k.Expires.Equal(o.Time.AddDate(0, 0, 30)) {
		t.Errorf("a member's key is valid until %v, want for the team's 30 days", k.Expires)
	}
	o.Must(changeKey("full", o.key("full").Revision, func(k *tenancy.Key) { k.Team, k.Organization, k.User, k.Alias = "", "zeta", "bob", "moved" }))
	k := o.key("full")
	if k.Organization != "zeta" || k.User != "bob" || k.CreatedBy != "ada" || !k.UpdatedAt.After(k.CreatedAt) {
		t.Errorf("the key is %+v", k)
	}
	if _, ok := tenancytest.TheOne(o.Set, "full"); ok {
		t.Error("the alias that the key had is still taken")
	}
	o.Must(tenancytest.CreateKey(tenancytest.Called("heir", func(k *tenancy.Key) { k.Alias = "full" })))
	o.Must(deleteKeys("full", "heir", "full"))
	o.Must(tenancytest.CreateKey(tenancytest.Called("full", func(k *tenancy.Key) { k.Alias = "full" })))
	o.check()
}

func TestKeyChangesThatRevoke(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		change  func(*tenancy.Key)
		revokes bool
	}{
		{"nothing", func(*tenancy.Key) {}, false},
		{"alias, tags and metadata", func(k *tenancy.Key) { k.Alias, k.Tags, k.Metadata = "x", []string{"t"}, `{"a":2}` }, false},
		{"other names of models", func(k *tenancy.Key) { k.Aliases = map[string]string{"a": "b"} }, false},
		{"later end", func(k *tenancy.Key) { k.Expires = k.Expires.Add(time.Hour) }, false},
		{"no end", func(k *tenancy.Key) { k.Expires = time.Time{} }, false},
		{"all models", func(k *tenancy.Key) { k.Models = nil }, false},
		{"all routes", func(k *tenancy.Key) { k.AllowedRoutes = nil }, false},
		{"all types", func(k *tenancy.Key) { k.Type = access.TypeDefault }, false},
		{"no limits", func(k *tenancy.Key) { k.Limits = tenancy.Limits{} }, false},
		{"block", func(k *tenancy.Key) { k.Blocked = true }, true},
		{"earlier end", func(k *tenancy.Key) { k.Expires = k.Expires.Add(-time.Hour) }, true},
		{"other models", func(k *tenancy.Key) { k.Models = []string{"a"} }, true},
		{"other routes", func(k *tenancy.Key) { k.AllowedRoutes = []string{"/v1/models"} }, true},
		{"other type", func(k *tenancy.Key) { k.Type = access.TypeReadOnly }, true},
		{"lower limit", func(k *tenancy.Key) { k.Limits.RPM = new(uint32(1)) }, true},
		{"no user", func(k *tenancy.Key) { k.User = "" }, true},
		{"a team", func(k *tenancy.Key) { k.Team, k.User = "free", "" }, true},
		{"an organization", func(k *tenancy.Key) { k.Organization = "acme" }, true},
	} {
		o := newKeys(newOffice(t))
		o.Must(tenancytest.CreateKey(tenancytest.Called("one", func(k *tenancy.Key) {
			k.User, k.Models, k.AllowedRoutes, k.Type, k.Expires = "ada", []string{"a", "b"}, []string{"/v1/*"}, access.TypeInference, tenancytest.Now().Add(time.Hour*24)
			k.Limits.RPM = new(uint32(5))
		})))
		if got := o.Must(changeKey("one", 0, test.change)); got != test.revokes {
			t.Errorf("%s: revokes is %v, want %v", test.name, got, test.revokes)
		}
		o.check()
	}
}

// TestKeyBatch: what a batch has done it does not do again, and what one of its
// changes is refused by has changed nothing.
func TestKeyBatch(t *testing.T) {
	t.Parallel()
	o := newKeys(newOffice(t))
	for _, n := range []string{"one", "two", "three"} {
		o.Must(tenancytest.CreateKey(tenancytest.Called(n, func(k *tenancy.Key) { k.Alias = n })))
	}
	var got []string
	o.Must(func(s *tenancy.Set, tx *record.Txn) error {
		b := s.KeyBatch(tx)
		got = nil
		for _, step := range []struct{ name, alias, team string }{
			{"one", "x", "none"}, {"one", "x", ""}, {"one", "y", ""}, {"two", "x", ""}, {"two", "one", ""}, {"two", "z", ""}, {"three", "", ""},
		} {
			k := *o.key(step.name)
			k.Alias, k.Team = step.alias, id.Team(step.team)
			_, err := b.Update(k, 0)
			got = append(got, tenancytest.Refusal(err))
		}
		return nil
	})
	want := []string{"team_id team_not_found", "", "key duplicate_value", "key_alias duplicate_value", "key_alias already_exists", "", ""}
	if !slices.Equal(got, want) {
		t.Errorf("the batch answers %q, want %q", got, want)
	}
	if a, b, c := o.key("one").Alias, o.key("two").Alias, o.key("three").Alias; a != "x" || b != "z" || c != "" {
		t.Errorf("the aliases are %q, %q and %q", a, b, c)
	}
	o.check()
}

func TestStatus(t *testing.T) {
	t.Parallel()
	later, earlier := tenancytest.Now().Add(time.Second), tenancytest.Now()
	for _, test := range []struct {
		key  tenancy.Key
		want string
	}{
		{tenancy.Key{}, "active"},
		{tenancy.Key{Expires: later}, "active"},
		{tenancy.Key{Expires: earlier}, "expired"},
		{tenancy.Key{Blocked: true}, "blocked"},
		{tenancy.Key{Blocked: true, Expires: earlier}, "expired"},
		{tenancy.Key{Successor: tenancytest.HashOf("x"), Expires: later}, "rotated"},
		{tenancy.Key{Successor: tenancytest.HashOf("x"), Expires: later, Blocked: true}, "blocked"},
		{tenancy.Key{Successor: tenancytest.HashOf("x"), Expires: earlier}, "expired"},
	} {
		if got := test.key.Status(tenancytest.Now()); got != test.want {
			t.Errorf("%+v is %s, want %s", test.key, got, test.want)
		}
	}
}
