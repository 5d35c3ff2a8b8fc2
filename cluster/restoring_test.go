package cluster_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/event"
	records "github.com/modelgateway/modelgateway/cluster/record"
)

// chain is what an audit log said: the hashes of its records, from the first.
type chain [][32]byte

func chainOf(ctx context.Context, node *cluster.Node) (out chain, err error) {
	err = node.Audit(func(r audit.Reader) error {
		return audit.From(ctx, r, audit.DefaultWorkspace, 1, func(x audit.Record) bool {
			out = append(out, x.Hash)
			return true
		})
	})
	return out, err
}

// startsWith reports whether c is what an earlier one has become.
func (c chain) startsWith(earlier chain) bool {
	if len(c) < len(earlier) {
		return false
	}
	for i := range earlier {
		if c[i] != earlier[i] {
			return false
		}
	}
	return true
}

// restoredWhileServing has a cluster spend, take a backup, change its keys, spend on,
// and restore the backup while a node loses its power. It returns an error for what an
// operator would notice.
func restoredWhileServing(t *testing.T, seed uint64, nodes int) {
	t.Helper()
	l := newLab(t, 100+seed)
	defer l.close()
	for range nodes {
		h := l.add(nodes)
		h.alone = nodes == 1
		h.start()
	}
	if err := l.ready(l.hosts, settleTime); err != nil {
		t.Fatal(err)
	}
	l.network.Delay(2*time.Millisecond, 3*time.Millisecond)
	spenders := []*spender{newSpender(l, "s1", 0), newSpender(l, "s2", 400*perRequest), newSpender(l, "s3", 0)}
	end := time.Now().Add(30 * time.Second)
	var wait sync.WaitGroup
	for _, c := range spenders {
		wait.Go(func() { c.work(end, l.hosts) })
	}
	ctx, on := t.Context(), func(i uint64) *cluster.Node { return l.hosts[i%uint64(nodes)].node() }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(createKey(ctx, on(0), newKey("stays")))
	must(createKey(ctx, on(1), newKey("deleted")))
	tick(5 * time.Second)
	var backup bytes.Buffer
	must(on(seed).Backup(ctx, &backup))
	must(createKey(ctx, on(2), newKey("later")))
	must(deleteKeys(ctx, on(0), hashOf("deleted")))
	tick(5 * time.Second)
	before, err := chainOf(ctx, on(0))
	must(err)

	victim := l.hosts[seed%uint64(nodes)]
	if seed%3 == 0 {
		victim = l.leader(settleTime)
	}
	tried := make(chan error, 1)
	through := on(seed / 2)
	go func() { tried <- restore(ctx, through, backup.Bytes()) }()
	if seed > 0 { // the first one goes undisturbed
		tick(time.Duration(seed*3) * time.Millisecond)
		victim.cut(int(seed*37) % 101)
		tick(2 * time.Second)
		victim.start()
	}
	first := <-tried
	must(l.ready(l.hosts, settleTime))
	if first != nil {
		must(restore(ctx, on(seed+1), backup.Bytes()))
	} else if seed%2 == 0 {
		for _, h := range l.hosts {
			if h.node() == through && accepts(h.node(), "later") {
				t.Errorf("%s accepts a key that the backup does not have, after the answer", h.name)
			}
		}
	}
	wait.Wait()
	must(l.drained(l.hosts, settleTime))
	for _, h := range l.hosts {
		if err := l.audit(h, spenders); err != nil {
			t.Errorf("%s: %v", h.name, err)
		}
		if got := contentOf(h.node().View()); got != "keys [deleted stays], deployments [], retries 2" {
			t.Errorf("%s has %s", h.name, got)
		}
		now, err := chainOf(ctx, h.node())
		must(err)
		if !now.startsWith(before) {
			t.Errorf("%s: the audit log is not what it was before the restore, and more", h.name)
		}
		if status, err := h.node().Status(ctx, false); err != nil || len(status.Problems) > 0 {
			t.Errorf("%s: %v %v", h.name, err, status.Problems)
		}
	}
	if err := l.same(); err != nil {
		t.Error(err)
	}
}

var restores = flag.Uint64("cluster.restores", usualRestores, "how many restores TestRestoreKeepsTheBooks makes, each disturbed at another moment")

// TestRestoreKeepsTheBooks: what is spent before, during and after a restore is in the
// ledger once, and the audit log goes on, whichever node loses its power at what moment.
func TestRestoreKeepsTheBooks(t *testing.T) {
	for seed := range *restores {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { restoredWhileServing(t, seed, 3) })
		})
	}
}

// TestRestoreOfOneKeepsTheBooks is the same for a node that is alone.
func TestRestoreOfOneKeepsTheBooks(t *testing.T) {
	for _, seed := range []uint64{0, 1} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { restoredWhileServing(t, seed, 1) })
		})
	}
}

// TestRestoreSaysWhatItDid: the counts name the keys that come back and those that go,
// records that are the same keep their revision, and an operation that was decided
// before the restore is decided again after it.
func TestRestoreSaysWhatItDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 3)
		defer l.close()
		h := l.add(1)
		h.alone = true
		h.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		ctx, node := t.Context(), h.node()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, alias := range []string{"same", "deleted", "blocked"} {
			must(createKey(ctx, node, newKey(alias)))
		}
		var backup bytes.Buffer
		must(node.Backup(ctx, &backup))
		must(deleteKeys(ctx, node, hashOf("deleted")))
		must(createKey(ctx, node, newKey("new")))
		_, err := node.Change(ctx, actor, func(v *cluster.View, tx *records.Txn) error {
			k, _ := v.Keys.Get(hashOf("blocked"))
			next := *k
			next.Blocked = true
			_, err := v.Keys.UpdateKey(tx, next, 0)
			return err
		})
		must(err)
		k, _ := node.View().Keys.Get(hashOf("same"))
		revision := k.Revision
		done, err := node.Restore(ctx, bytes.NewReader(backup.Bytes()), cluster.RestoreRequest{Actor: actor, Audit: records.Audit{Type: event.TypeManagement}})
		must(err)
		c := done.Counts[0]
		back, gone, free := hashOf("deleted"), hashOf("new"), hashOf("blocked")
		if c.Name != "keys" || c.Returned != 1 || c.Removed != 1 || c.Changed != 1 || c.Kept != 1 || c.Unblocked != 1 ||
			!bytes.Equal(c.ReturnedKeys[0], back[:]) || !bytes.Equal(c.RemovedKeys[0], gone[:]) || !bytes.Equal(c.UnblockedKeys[0], free[:]) {
			t.Errorf("%+v", c)
		}
		if k, _ := node.View().Keys.Get(hashOf("same")); k.Revision != revision {
			t.Errorf("a key that is the same is of revision %d, and was of %d", k.Revision, revision)
		}
		if k, _ := node.View().Keys.Get(back); k.Revision != done.Index || node.View().Revision != done.Index {
			t.Errorf("a key that is back is of revision %d, and the View of %d, want %d", k.Revision, node.View().Revision, done.Index)
		}
		// The same backup again changes nothing, and says so.
		again, err := node.Restore(ctx, bytes.NewReader(backup.Bytes()), cluster.RestoreRequest{Actor: actor, Audit: records.Audit{Type: event.TypeManagement}})
		must(err)
		if c := again.Counts[0]; c.Returned+c.Removed+c.Changed != 0 || c.Kept != 3 {
			t.Errorf("%+v", c)
		}
	})
}

// TestRestoreIntoANewCluster: a backup as a whole goes into a cluster with empty disks
// and into no other. What was leased in the old one can be spent again, the books go
// on, and a data directory of the old cluster does not come in.
func TestRestoreIntoANewCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 5)
		defer l.close()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			l.add(3).start()
		}
		must(l.ready(l.hosts, settleTime))
		ctx := t.Context()
		must(createKey(ctx, l.hosts[0].node(), newKey("kept")))
		spenders := []*spender{newSpender(l, "s1", 40*perRequest), newSpender(l, "s2", 0)}
		work := func(d time.Duration) {
			end := time.Now().Add(d)
			var wait sync.WaitGroup
			for _, c := range spenders {
				wait.Go(func() { c.work(end, l.hosts[:3]) })
			}
			wait.Wait()
			must(l.drained(l.hosts[:3], settleTime))
		}
		work(5 * time.Second)
		var backup bytes.Buffer
		must(l.hosts[1].node().Backup(ctx, &backup))
		if err := l.hosts[0].node().RestoreAll(ctx, bytes.NewReader(backup.Bytes())); codeOf(err) != "cluster_in_use" {
			t.Errorf("a cluster that has spent is replaced: %v", err)
		}
		for _, h := range l.hosts {
			h.shut()
		}
		old := l.hosts[2].disk
		for _, h := range l.hosts {
			h.disk = newDisk() // not wipe: what the books have of the old disks is in the backup
			h.start()
		}
		must(l.ready(l.hosts, settleTime))
		leader := l.leader(settleTime)
		through := l.hosts[0]
		if through == leader {
			through = l.hosts[1]
		}
		must(through.node().RestoreAll(ctx, bytes.NewReader(backup.Bytes())))
		must(l.ready(l.hosts, settleTime))
		if !until(settleTime, func() bool { return accepts(l.hosts[2].node(), "kept") }) {
			t.Error("a key of the backup is not accepted")
		}
		work(15 * time.Second)
		for _, h := range l.hosts {
			if err := l.audit(h, spenders); err != nil {
				t.Errorf("%s: %v", h.name, err)
			}
		}
		if last := spenders[0].book; len(last) < 40 {
			t.Errorf("%d requests of a budget for 40: what was leased in the old cluster is lost", len(last))
		}
		if err := l.hosts[0].node().RestoreAll(ctx, bytes.NewReader(backup.Bytes())); codeOf(err) != "cluster_in_use" {
			t.Errorf("restored twice: %v", err)
		}
		late := l.add(0)
		late.disk = old
		late.start()
		if !until(settleTime, func() bool {
			status, err := late.node().Status(ctx, false)
			return err == nil && strings.Contains(strings.Join(status.Problems, " "), "part of another cluster; empty the data directory")
		}) {
			status, err := late.node().Status(ctx, false)
			t.Errorf("a data directory of the old cluster has no problem in the new one: %v %q", err, status.Problems)
		}
		if late.node().Ready() == nil {
			t.Error("and it is ready")
		}
	})
}
