package history_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/event"
	"github.com/modelgateway/modelgateway/cluster/history"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/vault"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// node has a state, and commits what a Keeper changes at once.
type node struct {
	t     *testing.T
	state *store.Store
	index uint64

	mu     sync.Mutex
	leads  bool
	steady bool
}

func newNode(t *testing.T) *node {
	t.Helper()
	s, err := store.Open(store.Config{Dir: "state", Kind: store.StateStore, FS: vfs.NewMem(), BallastBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	return &node{t: t, state: s, leads: true, steady: true}
}

func (n *node) config() history.Config {
	return history.Config{
		Leads:  func() bool { n.mu.Lock(); defer n.mu.Unlock(); return n.leads },
		Steady: func() bool { n.mu.Lock(); defer n.mu.Unlock(); return n.steady },
		View:   func(fn func(*store.Store) error) error { return fn(n.state) },
		Change: n.change, Trim: n.trim, Now: time.Now, Retention: time.Hour, Logger: slog.New(slog.DiscardHandler),
		// The seal is the value backwards, so that one that is not opened is no key.
		Seal: func(plain vault.Secret, _ string) ([]byte, error) { return reversed([]byte(plain.Reveal())), nil },
		Open: func(sealed []byte, _ string) (vault.Secret, error) {
			return vault.NewSecret(string(reversed(sealed))), nil
		},
	}
}

func reversed(b []byte) []byte {
	out := bytes.Clone(b)
	for i := range b {
		out[len(b)-1-i] = b[i]
	}
	return out
}

// commit runs fn on the state, as an entry of the log would.
func (n *node) commit(fn func(tx *store.Tx, by record.Stamp) error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.index++
	tx := n.state.NewTx()
	defer tx.Close()
	if err := fn(tx, record.Stamp{Index: n.index, Actor: "gateway", Time: time.Now()}); err != nil {
		return err
	}
	return tx.CommitReplayable()
}

func (n *node) change(_ context.Context, fn func(*record.Txn) error) error {
	txn := record.NewTxn(time.Now(), "gateway")
	if err := fn(txn); err != nil {
		return err
	}
	m, err := txn.Message()
	if err != nil {
		return err
	}
	return n.commit(func(tx *store.Tx, by record.Stamp) error {
		if _, f := record.Apply(tx, m, by); f != nil {
			return f
		}
		return nil
	})
}

func (n *node) trim(_ context.Context, t *clusterv1.TrimHistory) error {
	return n.commit(func(tx *store.Tx, by record.Stamp) error {
		if f := history.Trim(tx, t, by.Time); f != nil {
			return f
		}
		return nil
	})
}

// grow appends records to the audit log.
func (n *node) grow(count int) {
	n.t.Helper()
	err := n.commit(func(tx *store.Tx, by record.Stamp) error {
		var events []*clusterv1.AuditEvent
		for range count {
			events = append(events, &clusterv1.AuditEvent{Type: event.TypeManagement, TimeUnixNano: by.Time.UnixNano()})
		}
		if f := audit.AppendAll(tx, audit.DefaultWorkspace, events, by.Time); f != nil {
			return f
		}
		return nil
	})
	if err != nil {
		n.t.Fatal(err)
	}
}

// look returns the head of the log, and how much of it the last checkpoint signs.
func (n *node) look() (head audit.ChainHead, signed uint64) {
	n.t.Helper()
	head, err := audit.Head(n.state, audit.DefaultWorkspace)
	if err != nil {
		n.t.Fatal(err)
	}
	last, _, err := audit.LastCheckpoint(n.t.Context(), n.state, audit.DefaultWorkspace)
	if err != nil {
		n.t.Fatal(err)
	}
	return head, last.Size
}

// keep runs a Keeper of the node in virtual time, and act meanwhile.
func keep(t *testing.T, act func(n *node, k *history.Keeper)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t)
		defer func() { _ = n.state.Close() }()
		k := history.New(n.config())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- k.Run(ctx) }()
		act(n, k)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestCheckpoints: a log that has grown is signed within a minute or so, a log that has grown
// much at once, and one that has not grown not again. All are signed with one key.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	keep(t, func(n *node, k *history.Keeper) {
		if v, err := k.Verifiers(); err != nil || len(v) != 0 {
			t.Errorf("before the first checkpoint: %v %v", v, err)
		}
		signed := func(what string, after time.Duration, want uint64) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if _, got := n.look(); got != want {
				t.Errorf("%s: %d records are signed, want %d", what, got, want)
			}
		}
		n.grow(3)
		signed("the first", 15*time.Second, 3)
		before, err := k.Verifiers()
		if err != nil || len(before) != 1 {
			t.Fatalf("%v %v", before, err)
		}
		n.grow(1)
		signed("less than a minute later", 40*time.Second, 3)
		signed("more than a minute later", 40*time.Second, 4)
		n.grow(10_000)
		signed("many at once", 15*time.Second, 10_004)
		index := n.index
		signed("nothing new", time.Hour, 10_004)
		if n.index != index {
			t.Errorf("%d entries for a log that has not grown", n.index-index)
		}
		if after, err := k.Verifiers(); err != nil || len(after) != 1 || after[0].String() != before[0].String() {
			t.Errorf("signed with %v, then with %v (%v)", before, after, err)
		}
	})
}

// TestOnlyTheLeaderKeeps: other nodes sign and delete nothing, and no node deletes anything
// while the time is not reliable.
func TestOnlyTheLeaderKeeps(t *testing.T) {
	t.Parallel()
	keep(t, func(n *node, _ *history.Keeper) {
		be := func(leads, steady bool) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.leads, n.steady = leads, steady
		}
		be(false, true)
		n.grow(2000)
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if head, signed := n.look(); signed != 0 || head.First != 1 {
			t.Errorf("a follower signed %d records, and the log begins with %d", signed, head.First)
		}
		be(true, false)
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if head, signed := n.look(); signed != 2000 || head.First != 1 {
			t.Errorf("without the time the leader signed %d records, and the log begins with %d", signed, head.First)
		}
		be(true, true)
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if head, _ := n.look(); head.First <= 1 {
			t.Error("records older than the retention stay")
		}
	})
}

// TestExchangedVerifier: a public key that does not belong to the private one is an error,
// and verifies nothing.
func TestExchangedVerifier(t *testing.T) {
	t.Parallel()
	keep(t, func(n *node, k *history.Keeper) {
		n.grow(1)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		at := record.At{Space: store.SpaceAuditSigner, Key: []byte("signer")}
		own := &clusterv1.AuditSigner{}
		if ok, f := record.Load(n.state, at.Space, at.Key, own); !ok || f != nil {
			t.Fatal(ok, f)
		}
		_, own.Verifier = audit.NewSigner()
		if err := n.change(t.Context(), func(tx *record.Txn) error {
			tx.Put(at, own)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if v, err := k.Verifiers(); err == nil || !strings.Contains(err.Error(), "exchanged") {
			t.Errorf("%v %v", v, err)
		}
	})
}
