package tenancy_test

import (
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// rotateKey replaces a key by another; a grace of zero is none.
func rotateKey(old, name string, grace time.Duration, change func(*tenancy.Key)) func(*tenancy.Set, *record.Txn) error {
	return func(s *tenancy.Set, tx *record.Txn) error {
		k := tenancytest.Called(name, nil)
		if found, ok := s.Key(nil, tenancytest.HashOf(old)); ok {
			k = *found
			k.Hash, k.Name = tenancytest.HashOf(name), "sk-..."+name
		}
		if change != nil {
			change(&k)
		}
		until := time.Time{}
		if grace > 0 {
			until = tx.Time().Add(grace)
		}
		_, err := s.RegenerateKey(tx, tenancytest.HashOf(old), k, until, 0)
		return err
	}
}

// gone fails where anything is left of a key.
func (o *office) gone(name string) {
	o.TB.Helper()
	if k, ok := o.Set.Key(nil, tenancytest.HashOf(name)); ok {
		o.TB.Fatalf("there is a key %s still: %+v", name, k)
	}
	if _, err := o.Set.Authenticate(tenancytest.Present("x-api-key", "sk-"+name), o.Time); fault.From(err).Code != "invalid_api_key" {
		o.TB.Fatalf("the key %s that is gone: %v", name, err)
	}
}

// answers fails where a key is accepted and should not be, or the other way round.
func (o *office) answers(name, code string, at time.Time) {
	o.TB.Helper()
	_, err := o.Set.Authenticate(tenancytest.Present("x-api-key", "sk-"+name), at)
	got := ""
	if err != nil {
		got = fault.From(err).Code
	}
	if got != code {
		o.TB.Fatalf("the key %s at %v: %q, want %q", name, at, got, code)
	}
}

func TestRotationAtOnce(t *testing.T) {
	t.Parallel()
	o := newKeys(newOffice(t))
	o.Must(tenancytest.CreateKey(tenancytest.Called("a", func(k *tenancy.Key) {
		k.Alias, k.Models, k.Metadata, k.Limits, k.Team, k.User = "ci", []string{"gpt-4o"}, `{"a":1}`, tenancy.Limits{RPM: new(uint32(5)), Budget: "gold"}, "research", "ada"
	})))
	before := *o.key("a")
	if !o.Must(rotateKey("a", "b", 0, nil)) {
		t.Error("a rotation does not revoke")
	}
	o.gone("a")
	after := o.key("b")
	if after.Alias != "ci" || after.Models[0] != "gpt-4o" || after.Metadata != before.Metadata || *after.Limits.RPM != 5 || after.Limits.Budget != "gold" ||
		after.Team != "research" || after.User != "ada" || after.Organization != "acme" || !after.Expires.Equal(before.Expires) ||
		after.Rotations != 1 || !after.Rotated.Equal(o.Time) || !after.GraceUntil.IsZero() || after.Replaced() {
		t.Errorf("the new key is %+v", after)
	}
	if k, ok := tenancytest.TheOne(o.Set, "ci"); !ok || k.Hash != after.Hash {
		t.Error("the alias is not the new key's")
	}
	o.Must(rotateKey("b", "c", 0, func(k *tenancy.Key) { k.Alias, k.Blocked = "cd", true }))
	if k := o.key("c"); k.Rotations != 2 || k.Alias != "cd" || !k.Blocked {
		t.Errorf("the new key is %+v", k)
	}
	o.Must(tenancytest.CreateKey(tenancytest.Called("b", func(k *tenancy.Key) { k.Alias = "ci" })))
	o.check()
}

func TestRotationWithGrace(t *testing.T) {
	t.Parallel()
	o := newKeys(newOffice(t))
	o.Must(tenancytest.CreateKey(tenancytest.Called("a", func(k *tenancy.Key) { k.Alias, k.Expires = "ci", tenancytest.Now().Add(10*time.Hour) })))
	o.Must(rotateKey("a", "b", time.Hour, func(k *tenancy.Key) { k.Models = []string{"gpt-4o"} }))
	end := o.Time.Add(time.Hour)
	old, k := o.key("a"), o.key("b")
	if old.Alias != "" || old.Successor != k.Hash || !old.Expires.Equal(end) || old.Rotations != 0 || old.Name != "sk-...a" || len(old.Models) != 1 {
		t.Errorf("the old key is %+v", old)
	}
	if k.Alias != "ci" || !k.GraceUntil.Equal(end) || k.Rotations != 1 || !k.Expires.Equal(tenancytest.Now().Add(10*time.Hour)) {
		t.Errorf("the new key is %+v", k)
	}
	o.answers("a", "", end.Add(-1))
	o.answers("a", "expired_api_key", end)
	for name, op := range map[string]func(*tenancy.Set, *record.Txn) error{
		"update": changeKey("a", 0, func(k *tenancy.Key) { k.Blocked = true }), "rotation": rotateKey("a", "c", 0, nil),
	} {
		if _, err := o.Try(op); tenancytest.Refusal(err) != "key key_rotated" {
			t.Errorf("%s of a key that was replaced: %v", name, err)
		}
	}
	o.Must(changeKey("b", 0, func(k *tenancy.Key) { k.Blocked, k.Limits.RPM = true, new(uint32(3)) }))
	o.answers("a", "key_blocked", o.Time) // a block applies to both texts of the key
	if old := o.key("a"); *old.Limits.RPM != 3 || old.Name != "sk-...a" || !old.Expires.Equal(end) {
		t.Errorf("the old key does not follow the new one: %+v", old)
	}
	o.Must(changeKey("b", 0, func(k *tenancy.Key) { k.Blocked, k.Expires = false, o.Time.Add(time.Minute) }))
	if old := o.key("a"); old.Blocked || !old.Expires.Equal(o.key("b").Expires) {
		t.Errorf("the old key outlasts the new one: %+v", old)
	}
	o.Must(deleteKeys("b"))
	o.gone("a")
	o.gone("b")
	o.check()
}

func TestRotationAgain(t *testing.T) {
	t.Parallel()
	chain := func() *office {
		o := newKeys(newOffice(t))
		o.Must(tenancytest.CreateKey(tenancytest.Called("a", func(k *tenancy.Key) { k.Alias = "ci" })))
		o.Must(rotateKey("a", "b", 10*time.Hour, nil))
		o.Must(rotateKey("b", "c", time.Hour, nil))
		return o
	}
	o := chain()
	end := o.Time.Add(time.Hour)
	for _, name := range []string{"a", "b"} {
		if k := o.key(name); k.Successor != tenancytest.HashOf("c") || !k.Expires.Equal(end) {
			t.Errorf("the key %s is %+v", name, k)
		}
	}
	o.Must(deleteKeys("b"))
	if k := o.key("c"); !k.GraceUntil.Equal(end) {
		t.Errorf("with one left, the grace ends %v", k.GraceUntil)
	}
	o.Must(deleteKeys("a"))
	if k := o.key("c"); !k.GraceUntil.IsZero() || k.Alias != "ci" {
		t.Errorf("with none left, the key is %+v", k)
	}
	o.check()

	o = chain()
	o.Must(rotateKey("c", "d", 0, nil)) // at once: none of them is accepted any more
	for _, name := range []string{"a", "b", "c"} {
		o.gone(name)
	}
	o.check()

	o = chain()
	o.Must(deleteKeys("a", "c", "b"))
	for _, name := range []string{"a", "b", "c"} {
		o.gone(name)
	}
	o.check()

	o = chain()
	n := 0
	sweep := func(at time.Time, limit int) {
		tx := record.NewTxn(at, "")
		n = o.Set.DeleteRetired(tx, limit)
		if _, err := o.Commit(tx); err != nil {
			t.Fatal(err)
		}
	}
	if sweep(end, 10); n != 0 {
		t.Errorf("%d keys are swept that are accepted until now", n)
	}
	if sweep(end.Add(1), 1); n != 1 {
		t.Errorf("%d keys are swept, want as many as may be", n)
	}
	if sweep(end.Add(1), 10); n != 1 || o.Set.Cluster() != 1 {
		t.Errorf("%d keys are swept, and %d are left", n, o.Set.Cluster())
	}
	o.check()
}

func TestRotationsThatAreRefused(t *testing.T) {
	t.Parallel()
	o := newKeys(newOffice(t))
	o.Must(tenancytest.CreateKey(tenancytest.Called("a", func(k *tenancy.Key) { k.Alias, k.Expires = "ci", tenancytest.Now().Add(time.Hour) })))
	o.Must(tenancytest.CreateKey(tenancytest.Called("taken", func(k *tenancy.Key) { k.Alias = "taken" })))
	for _, test := range []struct {
		name string
		op   func(*tenancy.Set, *record.Txn) error
		want string
	}{
		{"not there", rotateKey("none", "b", 0, nil), "key key_not_found"},
		{"of the file", rotateKey("file", "b", 0, nil), "key defined_in_file"},
		{"itself", rotateKey("a", "a", 0, nil), "key already_exists"},
		{"a key that there is", rotateKey("a", "taken", 0, nil), "key already_exists"},
		{"the file's", rotateKey("a", "file", 0, nil), "key already_exists"},
		{"the master's", rotateKey("a", "b", 0, func(k *tenancy.Key) { k.Hash = id.HashKey(tenancytest.Master) }), "key already_exists"},
		{"an alias that is taken", rotateKey("a", "b", 0, func(k *tenancy.Key) { k.Alias = "taken" }), "key_alias already_exists"},
		{"no team", rotateKey("a", "b", time.Hour, func(k *tenancy.Key) { k.Team = "none" }), "team_id team_not_found"},
		{"expired", rotateKey("a", "b", 0, func(k *tenancy.Key) { k.Expires = tenancytest.Now() }), "duration missing_required_parameter"},
	} {
		if _, err := o.Try(test.op); tenancytest.Refusal(err) != test.want {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	revision := o.key("a").Revision
	for _, wanted := range []uint64{revision + 1, revision} {
		_, err := o.Try(func(s *tenancy.Set, tx *record.Txn) error {
			k := *o.key("a")
			k.Hash = tenancytest.HashOf("b")
			_, err := s.RegenerateKey(tx, tenancytest.HashOf("a"), k, time.Time{}, wanted)
			return err
		})
		if (err == nil) != (wanted == revision) {
			t.Errorf("if the revision is %d: %v", wanted, err)
		}
	}
	o.check()
}
