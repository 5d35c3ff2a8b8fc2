package consensus

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"

	"github.com/modelgateway/modelgateway/cluster/store"
)

func testStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(store.Config{Dir: "data", FS: vfs.NewMem(), BallastBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestLogStore uses the log like Raft.
func TestLogStore(t *testing.T) {
	s := testStore(t)
	l, err := openLog(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	ends := func(l *logStore, first, last uint64) {
		t.Helper()
		gotFirst, err1 := l.FirstIndex()
		gotLast, err2 := l.LastIndex()
		if gotFirst != first || gotLast != last || err1 != nil || err2 != nil {
			t.Errorf("the log is from %d to %d, want %d to %d", gotFirst, gotLast, first, last)
		}
	}
	entry := func(index uint64) *raft.Log {
		return &raft.Log{Index: index, Term: index / 3, Type: raft.LogCommand, Data: []byte{byte(index)}}
	}
	ends(l, 0, 0)
	var got raft.Log
	if err := l.GetLog(1, &got); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("an empty log: %v", err)
	}
	for i := uint64(1); i <= 10; i += 2 {
		if err := l.StoreLogs([]*raft.Log{entry(i), entry(i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	ends(l, 1, 10)
	for _, index := range []uint64{9, 10, 12} {
		if err := l.StoreLog(entry(index)); err == nil {
			t.Errorf("entry %d was accepted after 10", index)
		}
	}
	if err := l.DeleteRange(3, 5); err == nil {
		t.Error("a hole was accepted")
	}
	if err := errors.Join(l.DeleteRange(1, 4), l.DeleteRange(9, 10), l.DeleteRange(20, 30)); err != nil {
		t.Error(err)
	}
	ends(l, 5, 8)
	if err := l.GetLog(7, &got); err != nil || !cmp.Equal(&got, entry(7)) {
		t.Errorf("entry 7 is %+v: %v", got, err)
	}
	if l, err = openLog(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	ends(l, 5, 8)
	if err := errors.Join(l.DeleteRange(0, 100), l.Set([]byte("name"), []byte("value")), l.SetUint64([]byte("number"), 1<<60)); err != nil {
		t.Error(err)
	}
	ends(l, 0, 0)
	l.setBase(20, 6)
	if l.beginsBehind(20, 6) {
		t.Error("an empty log has a first entry")
	}
	if err := l.StoreLog(entry(9)); err == nil {
		t.Error("an entry from before the snapshot was accepted")
	}
	if err := l.StoreLog(entry(21)); err != nil {
		t.Error(err)
	}
	ends(l, 21, 21)
	if !l.beginsBehind(20, 6) || l.beginsBehind(20, 5) || l.beginsBehind(21, 7) {
		t.Error("it does not know the entry before its first")
	}
	if v, err := l.Get([]byte("name")); string(v) != "value" || err != nil {
		t.Errorf("got %q, %v", v, err)
	}
	if v, err := l.GetUint64([]byte("number")); v != 1<<60 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
	if v, err := l.GetUint64([]byte("other")); v != 0 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
}
