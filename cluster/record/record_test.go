package record_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/record/recordtest"
	"github.com/modelgateway/modelgateway/cluster/store"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// The records of these tests are budgets: an id and a limit that serves as the value.

func budgetAt(id string) record.At { return record.At{Space: store.SpaceBudget, Key: []byte(id)} }

func budget(n int64) *clusterv1.Budget {
	return &clusterv1.Budget{Limits: &clusterv1.Limits{MaxBudgetPico: &n}}
}

// read returns the value and the stamp of a record, or 0 if it does not exist.
func read(t rapid.TB, s *recordtest.State, id string) (n int64, stamp *clusterv1.Stamp) {
	value, ok, err := s.Get(store.SpaceBudget, []byte(id))
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return 0, &clusterv1.Stamp{}
	}
	b := &clusterv1.Budget{}
	if err := proto.Unmarshal(value, b); err != nil {
		t.Fatal(err)
	}
	return b.GetLimits().GetMaxBudgetPico(), b.GetStamp()
}

// TestOperationsAreSerializable runs operations that each read two records and write their sum
// plus one to a third. Each decides on a state that is up to a few entries old. The committed
// operations must have the result that they have when they run one after the other.
func TestOperationsAreSerializable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		var s recordtest.State
		model := map[string]int64{}
		type pending struct {
			tx         *record.Txn
			from, with string
			to         string
			remove     bool
		}
		var waiting []pending
		committed := 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(waiting) == 0 || len(waiting) < 5 && rapid.Bool().Draw(t, "decide") {
				p := pending{tx: record.NewTxn(time.Unix(1, 0), "ada"), from: name.Draw(t, "from"), with: name.Draw(t, "with"), to: name.Draw(t, "to"), remove: rapid.Bool().Draw(t, "remove")}
				sum := int64(1)
				for _, of := range []string{p.from, p.with} {
					n, stamp := read(t, &s, of)
					p.tx.Require(budgetAt(of), stamp.GetRevision())
					sum += n
				}
				if p.remove {
					p.tx.Delete(budgetAt(p.to))
				} else {
					p.tx.Put(budgetAt(p.to), budget(sum%1000))
				}
				waiting = append(waiting, p)
				continue
			}
			i := rapid.IntRange(0, len(waiting)-1).Draw(t, "which")
			p := waiting[i]
			waiting = append(waiting[:i], waiting[i+1:]...)
			_, _, err := s.Commit(p.tx)
			if err != nil {
				if f := fault.From(err); f.Kind != fault.Conflict || f.Code != record.CodeStale {
					t.Fatalf("rejected with %v", err)
				}
				continue
			}
			committed++
			sum := (model[p.from] + model[p.with] + 1) % 1000
			if delete(model, p.to); !p.remove {
				model[p.to] = sum
			}
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			n, stamp := read(t, &s, id)
			want, there := model[id]
			if n != want || (stamp.GetRevision() != 0) != there {
				t.Fatalf("after %d commits %s is %d, want %d as in a serial run", committed, id, n, want)
			}
		}
	})
}

// TestRejectedTransactionChangesNothing: if one precondition fails, the state stays as it is.
func TestRejectedTransactionChangesNothing(t *testing.T) {
	var s recordtest.State
	first := record.NewTxn(time.Unix(1, 0), "ada")
	first.Put(budgetAt("a"), budget(1))
	if _, _, err := s.Commit(first); err != nil {
		t.Fatal(err)
	}
	second := record.NewTxn(time.Unix(2, 0), "grace")
	second.Put(budgetAt("b"), budget(2))
	second.Delete(budgetAt("a"))
	second.Require(budgetAt("a"), 99)
	_, _, err := s.Commit(second)
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != record.CodeStale {
		t.Fatalf("a transaction with a wrong precondition returned %v", err)
	}
	if n, _ := read(t, &s, "a"); n != 1 {
		t.Errorf("a is %d after a rejected transaction", n)
	}
	if _, ok, _ := s.Get(store.SpaceBudget, []byte("b")); ok {
		t.Error("a rejected transaction wrote b")
	}
}

// TestStamps: the creator of a record stays, its last editor is replaced, and a stamp that the
// writer supplies is ignored.
func TestStamps(t *testing.T) {
	var s recordtest.State
	for i, by := range []string{"ada", "grace", "edsger"} {
		tx := record.NewTxn(time.Unix(int64(10+i), 5), by)
		b := budget(int64(i))
		b.Stamp = &clusterv1.Stamp{CreatedBy: "mallory", Revision: 1 << 40}
		tx.Put(budgetAt("a"), b)
		if _, _, err := s.Commit(tx); err != nil {
			t.Fatal(err)
		}
	}
	_, stamp := read(t, &s, "a")
	want := &clusterv1.Stamp{
		CreatedUnixNano: time.Unix(10, 5).UnixNano(), CreatedBy: "ada",
		UpdatedUnixNano: time.Unix(12, 5).UnixNano(), UpdatedBy: "edsger", Revision: 3,
	}
	if !proto.Equal(stamp, want) {
		t.Errorf("stamp is %v, want %v", stamp, want)
	}
}

// TestNewerFieldsStay: a node stores and stamps a record with a field that it does not know.
func TestNewerFieldsStay(t *testing.T) {
	newer := &clusterv1.Team{Id: "t", Alias: "later"} // has more fields than Mark, which decodes it below
	tx := record.NewTxn(time.Unix(1, 0), "ada")
	at := record.At{Space: store.SpaceGrown, Key: []byte("t")}
	tx.Put(at, newer)
	var s recordtest.State
	if _, _, err := s.Commit(tx); err != nil {
		t.Fatal(err)
	}
	value, _, _ := s.Get(at.Space, at.Key)
	older, back := &clusterv1.Mark{}, &clusterv1.Team{}
	if err := proto.Unmarshal(value, older); err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(value, back); err != nil {
		t.Fatal(err)
	}
	if older.GetStamp().GetRevision() != 1 || back.GetAlias() != "later" {
		t.Errorf("stored as %v", back)
	}
}

// TestClaims: only one of two transactions gets a name. One transaction can move a name to
// another owner.
func TestClaims(t *testing.T) {
	var s recordtest.State
	claim := func(owner string, release bool) error {
		tx := record.NewTxn(time.Unix(1, 0), owner)
		if release {
			tx.Release(store.SpaceKeyAlias, []byte("name"))
		}
		tx.Claim(store.SpaceKeyAlias, []byte("name"), []byte(owner))
		_, _, err := s.Commit(tx)
		return err
	}
	if err := claim("ada", false); err != nil {
		t.Fatal(err)
	}
	if err := claim("grace", false); err == nil {
		t.Error("two owners have the same name")
	}
	if err := claim("grace", true); err != nil {
		t.Errorf("a name did not move to its new owner: %v", err)
	}
}

// TestWireIsDeterministic: a transaction has the same bytes in whatever order it is filled,
// because a node that retries must propose the same bytes.
func TestWireIsDeterministic(t *testing.T) {
	var first []byte
	for range 20 {
		tx := record.NewTxn(time.Unix(1, 0), "ada")
		for i := range 10 {
			tx.Put(budgetAt(fmt.Sprint(i)), budget(int64(i)))
			tx.Require(budgetAt(fmt.Sprint(20+i)), uint64(i))
			tx.Delete(budgetAt(fmt.Sprint(40 + i)))
			tx.Touch(record.At{Space: store.SpaceGrown, Key: []byte(fmt.Sprint(i))})
		}
		m, err := tx.Message()
		if err != nil {
			t.Fatal(err)
		}
		text, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = text
		}
		if string(text) != string(first) {
			t.Fatal("the same transaction has other bytes")
		}
	}
}
