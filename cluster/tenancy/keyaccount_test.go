package tenancy_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/tenancy/tenancytest"
)

// pays are the accounts that bound what a key asks for, those of the key alone.
func (o *office) pays(name string) []id.Account {
	o.TB.Helper()
	p, err := o.Set.Authenticate(tenancytest.Present("x-api-key", "sk-"+name), o.Time)
	if err != nil {
		o.TB.Fatalf("the key %s: %v", name, err)
	}
	if p.Account() != o.key(name).Account() {
		o.TB.Fatalf("the key %s asks with the account %v, and has %v", name, p.Account(), o.key(name).Account())
	}
	var out []id.Account
	for _, b := range p.Bounds(nil, "", "m", o.Time, nil) {
		out = append(out, b.Account)
	}
	return out
}

// ofKey are the accounts of a key that has an account of its own.
func ofKey(name string) []id.Account {
	owner := tenancytest.HashOf(name).Hex()
	return []id.Account{{Kind: id.AccountKey, Owner: owner}, {Kind: id.AccountKeyModel, Owner: owner, Part: "m"}}
}

// TestOneAccountForLife: whatever hash a key has, and whichever of its hashes in grace
// is used, its budgets and rates are those of one account.
func TestOneAccountForLife(t *testing.T) {
	t.Parallel()
	o := newKeys(newOffice(t))
	limits := tenancy.Limits{MaxBudget: pico(1), RPM: new(uint32(1)), Models: []tenancy.ModelLimits{{Model: "m", MaxBudget: pico(1)}}}
	o.Must(tenancytest.CreateKey(tenancytest.Called("a", func(k *tenancy.Key) { k.Limits = limits })))
	steps := []struct {
		name string
		op   func(*tenancy.Set, *record.Txn) error
		live []string // the hashes that it has, the last one is its own
	}{
		{"grace", rotateKey("a", "b", 10*time.Hour, nil), []string{"a", "b"}},
		{"grace again", rotateKey("b", "c", time.Hour, nil), []string{"a", "b", "c"}},
		{"an update says nothing of it", changeKey("c", 0, func(k *tenancy.Key) { k.Origin, k.Tags = tenancytest.HashOf("taken"), []string{"t"} }), []string{"a", "b", "c"}},
		{"the first is gone", deleteKeys("a"), []string{"b", "c"}},
		{"at once", rotateKey("c", "d", 0, func(k *tenancy.Key) { k.Origin = id.KeyHash{} }), []string{"d"}},
		{"its first hash again", rotateKey("d", "a", time.Hour, nil), []string{"d", "a"}},
		{"and on", rotateKey("a", "e", time.Hour, nil), []string{"d", "a", "e"}},
	}
	for _, step := range steps {
		o.Must(step.op)
		for _, name := range step.live {
			if diff := cmp.Diff(ofKey("a"), o.pays(name)); diff != "" {
				t.Errorf("%s: %s pays from (- want):\n%s", step.name, name, diff)
			}
		}
		last := step.live[len(step.live)-1]
		if k, ok := o.Set.OfAccount(tenancytest.HashOf("a")); !ok || k.Hash != tenancytest.HashOf(last) {
			t.Errorf("%s: the account is that of %v, want %s", step.name, k, last)
		}
		for _, name := range step.live {
			if k, ok := o.Set.OfAccount(tenancytest.HashOf(name)); ok && name != "a" {
				t.Errorf("%s: the account of %s is that of %s", step.name, name, k.Name)
			}
		}
	}
	o.Must(deleteKeys("e"))
	if k, ok := o.Set.OfAccount(tenancytest.HashOf("a")); ok {
		t.Errorf("the account of what is gone is that of %s", k.Name)
	}
	o.check()
}

// TestAccountIsOfOneKey: nobody gets the hash under which another key's account is kept.
// When that key is gone, who has the hash has the account, as who has a deleted key's.
func TestAccountIsOfOneKey(t *testing.T) {
	t.Parallel()
	o := newKeys(newOffice(t))
	again := tenancytest.CreateKey(tenancytest.Called("a", func(k *tenancy.Key) { k.Origin = tenancytest.HashOf("b") }))
	stale := o.Begin()
	if err := again(o.Set, stale); err != nil {
		t.Fatal(err)
	}
	o.Must(tenancytest.CreateKey(tenancytest.Called("a", nil)))
	o.Must(tenancytest.CreateKey(tenancytest.Called("other", nil)))
	o.Must(rotateKey("a", "b", 0, nil))
	if _, err := o.Commit(stale); tenancytest.Refusal(err) != record.CodeStale {
		t.Errorf("a key that was decided on before the account was another's: %v", err)
	}
	for name, op := range map[string]func(*tenancy.Set, *record.Txn) error{"new": again, "rotation": rotateKey("other", "a", time.Hour, nil)} {
		if _, err := o.Try(op); tenancytest.Refusal(err) != "key already_exists" {
			t.Errorf("%s: %v", name, err)
		}
	}
	o.Must(deleteKeys("b"))
	o.Must(tenancytest.CreateKey(tenancytest.Called("b", nil)))
	o.Must(again)
	for _, name := range []string{"a", "b"} {
		if k := o.key(name); k.Account() != k.Hash {
			t.Errorf("%s, which is new, has the account %v", name, k.Account())
		}
	}
	o.check()
}
