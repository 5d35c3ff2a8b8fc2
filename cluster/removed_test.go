package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
)

// TestNewMemberGetsASnapshot: a node that joins between two snapshots gets the state as a
// whole when the log since the last one is long, and not entry by entry.
func TestNewMemberGetsASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 32)
		defer l.close()
		l.timing.SnapshotThreshold, l.timing.TrailingLogs, l.timing.SnapshotInterval = 20, 5, time.Hour
		for range 3 {
			l.add(3).start()
		}
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			if err := createKey(t.Context(), l.hosts[0].node(), newKey(fmt.Sprint("k", i))); err != nil {
				t.Fatal(err)
			}
		}
		late := l.add(0)
		late.start()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		if whole, err := late.installed(); err != nil || !whole {
			t.Errorf("the new node got the log entry by entry: %v", err)
		}
		if err := l.same(); err != nil {
			t.Error(err)
		}
	})
}

// TestNewIsNotRemoved: a new node that has the state, and not yet the entry behind it
// that makes it a member, does not tell its operator that it was taken out. One that
// was does.
func TestNewIsNotRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, 31)
		defer l.close()
		l.timing.SnapshotThreshold, l.timing.TrailingLogs, l.timing.SnapshotInterval = 5, 1, time.Second
		for range 3 {
			l.add(3).start()
		}
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		for _, alias := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			if err := createKey(t.Context(), l.hosts[0].node(), tenancy.Key{Alias: alias, Hash: hashOf(alias)}); err != nil {
				t.Fatal(err)
			}
		}
		tick(5 * time.Second) // there is a snapshot
		l.network.Delay(10*time.Millisecond, 0)
		late := l.add(0)
		late.start()
		of := func() cluster.Status {
			status, err := late.node().Status(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			return status
		}
		name := late.node().Identity().Node
		for has := false; !has; tick(time.Millisecond) {
			var err error
			if has, err = late.installed(); err != nil {
				t.Fatal(err)
			}
		}
		l.network.Isolate(late.address)
		tick(10 * time.Second)
		// It finds out itself, or is told when it asks to be a member again.
		told := func() bool {
			return slices.ContainsFunc(of().Problems, func(p string) bool { return strings.Contains(p, "was taken out of ") })
		}
		if slices.ContainsFunc(of().Members, func(m cluster.MemberStatus) bool { return m.Node == name }) {
			t.Fatal("it is a member already, so this shows nothing")
		}
		if told() {
			t.Errorf("a new node says %q", of().Problems)
		}
		l.network.Heal()
		if err := l.ready(l.hosts, settleTime); err != nil {
			t.Fatal(err)
		}
		if err := l.hosts[0].node().RemoveMember(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if !until(settleTime, told) {
			t.Errorf("a node that was taken out says %q", of().Problems)
		}
	})
}
