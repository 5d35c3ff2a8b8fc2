package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// TestReseal: everything is sealed again, also what this node cannot use, in as many
// transactions as that takes.
func TestReseal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must := func(op func(tx *record.Txn) error) {
		t.Helper()
		if err := w.do(op); err != nil {
			t.Fatal(err)
		}
	}
	must(func(tx *record.Txn) error {
		_, err := w.now.CreateCredential(tx, catalog.Credential{Name: "c", APIKey: vault.NewSecret("k"), Cloud: map[string]vault.Secret{
			cloud.AzureTenant: vault.NewSecret("t"), cloud.AzureClientSecret: vault.NewSecret("s"),
		}}, seal)
		return err
	})
	for i := range 60 {
		s := deploy(fmt.Sprint("d", i), "m", "openai/x")
		s.APIKey = vault.NewSecret(strings.Repeat("k", 16<<10))
		must(func(tx *record.Txn) error { _, err := w.now.Create(tx, s, seal); return err })
	}
	again := func(sealed []byte, of string) ([]byte, bool, error) {
		if strings.HasPrefix(string(sealed), "again") {
			return sealed, false, nil
		}
		if !strings.HasPrefix(string(sealed), of+"\n") {
			return nil, false, vault.ErrDamaged
		}
		return append([]byte("again"), sealed...), true, nil
	}
	rounds, done := 0, 0
	for more := true; more; rounds++ {
		var r catalog.Resealed
		must(func(tx *record.Txn) (err error) {
			r, err = w.now.Reseal(tx, again)
			return err
		})
		done, more = done+r.Done, r.More
	}
	if done != 62 || rounds < 2 || w.now.Len() != 3 { // open does not know the new form
		t.Errorf("%d sealed again in %d rounds", done, rounds)
	}
	var r catalog.Resealed
	must(func(tx *record.Txn) (err error) {
		r, err = w.now.Reseal(tx, again)
		if !tx.Empty() {
			t.Error("what needs nothing is written")
		}
		return err
	})
	if r != (catalog.Resealed{Already: 62}) {
		t.Errorf("%+v", r)
	}
	damaged := func([]byte, string) ([]byte, bool, error) { return nil, false, vault.ErrDamaged }
	if got := told(w.do(func(tx *record.Txn) error { _, err := w.now.Reseal(tx, damaged); return err })); got != "conflict cannot_open " {
		t.Error(got)
	}
}
