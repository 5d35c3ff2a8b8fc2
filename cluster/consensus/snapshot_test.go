package consensus_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

// short truncates the log at each snapshot.
func short() consensus.Timing {
	return consensus.Timing{SnapshotInterval: time.Hour, TrailingLogs: 1}
}

// fill proposes some commands and takes a snapshot, twice.
func fill(tb testing.TB, n *node) {
	tb.Helper()
	for range 2 {
		for i := range 20 {
			n.must(tb, fmt.Sprint("fill", n.Applied()), "append l%d x%d", i%4, i)
		}
		if err := n.TakeSnapshot(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
}

// TestSnapshotInstall: a node that was down too long, and a new one, receive a snapshot and
// then entries.
func TestSnapshotInstall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, short(), "a", "b", "c")
		leader := g.leader()
		leader.must(t, "0", "append l0 begin")
		lagging := g.others(leader)[0]
		g.stop(lagging)
		fill(t, leader)
		back := g.start(lagging, nil)
		for _, add := range []func() error{
			func() error { return leader.AddNonvoter(t.Context(), "d", "d") },
			func() error { g.start("d", nil); return nil },
		} {
			if err := add(); err != nil {
				t.Fatal(err)
			}
		}
		leader.must(t, "last", "append l0 end")
		g.same()
		d := g.nodes["d"]
		if got := back.machine.get("l0"); got != d.machine.get("l0") || !strings.HasPrefix(got, "begin ") || !strings.HasSuffix(got, "end ") {
			t.Errorf("the state is %q", got)
		}
		for _, n := range []*node{back, d} {
			if n.machine.mu.restored != 2 {
				t.Errorf("%s: the state was read %d times", n.cfg.Node, n.machine.mu.restored)
			}
		}
		// The new node becomes a voter, and is removed again.
		if err := leader.AddVoter(t.Context(), "d", "d"); err != nil {
			t.Fatal(err)
		}
		if servers, err := d.Servers(); err != nil || len(servers) != 4 {
			t.Errorf("servers %v: %v", servers, err)
		}
		if err := leader.Demote(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		if err := leader.Remove(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Second)
		// The node may or may not learn of its removal, because no other node has to notify it.
		if leader.Removed() || d.IsLeader() || !leader.IsLeader() {
			t.Errorf("the removed node is %s; the leader is %s", d.State(), leader.State())
		}
		g.stop("d")
		// All nodes restart from their disks.
		for _, name := range []string{"a", "b", "c"} {
			g.stop(name)
			g.start(name, nil)
		}
		g.leader().must(t, "again", "append l1 again")
		g.same()
	})
}

// TestLeaderRemovesItself: the others continue, and the removed node requests no votes.
func TestLeaderRemovesItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, consensus.Timing{}, "a", "b", "c")
		leader := g.leader()
		if err := leader.Remove(t.Context(), leader.cfg.Node); err != nil {
			t.Fatal(err)
		}
		next := g.leader(g.others(leader)...)
		next.must(t, "1", "append l 1")
		<-time.After(time.Minute)
		if !leader.Removed() || leader.IsLeader() || !next.IsLeader() {
			t.Errorf("removed %v, %s, %s", leader.Removed(), leader.State(), next.State())
		}
	})
}

func TestBackup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, consensus.Timing{}, "a", "b", "c")
		leader := g.leader()
		for i := range 20 {
			leader.must(t, fmt.Sprint(i), "append l%d %d", i%3, i)
		}
		var file bytes.Buffer
		if err := leader.Backup(&file); err != nil {
			t.Fatal(err)
		}
		_, before, err := leader.Checksum(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		info, err := consensus.CheckBackup(bytes.NewReader(file.Bytes()))
		if err != nil || info.Index != leader.Applied() || info.Term != leader.Term() || !info.Time.Equal(leader.Clock()) {
			t.Errorf("the backup is of %+v: %v", info, err)
		}
		follower := g.nodes[g.others(leader)[0]]
		if err := follower.RestoreBackup(t.Context(), bytes.NewReader(file.Bytes()), consensus.Adoption{}); !errors.Is(err, consensus.ErrNotLeader) {
			t.Errorf("a follower restored: %v", err)
		}
		for i := range 20 {
			leader.must(t, fmt.Sprint("later", i), "append l%d later", i%3)
		}
		at := leader.Applied()
		if err := leader.RestoreBackup(t.Context(), bytes.NewReader(file.Bytes()), consensus.Adoption{}); err != nil {
			t.Fatal(err)
		}
		if leader.Applied() <= at {
			t.Errorf("the log went back from %d to %d", at, leader.Applied())
		}
		g.same()
		for _, n := range g.nodes {
			_, after, err := n.Checksum(t.Context())
			if err != nil || after != before {
				t.Errorf("%s has another state: %v", n.cfg.Node, err)
			}
			if got := n.machine.get("l0"); got != "0 3 6 9 12 15 18 " {
				t.Errorf("%s publishes %q", n.cfg.Node, got)
			}
		}
		// Commands from before the backup are recognized again; later ones are not.
		leader.must(t, "0", "append l0 0")
		leader.must(t, "later0", "append l0 later")
		if got := leader.machine.get("l0"); got != "0 3 6 9 12 15 18 later " {
			t.Errorf("it publishes %q", got)
		}
		for _, name := range []string{"a", "b", "c"} {
			g.stop(name)
			g.start(name, nil)
		}
		g.leader().must(t, "again", "append l1 again")
		g.same()
	})
}

// TestBackupIntoAnotherCluster restores a backup into an empty cluster.
func TestBackupIntoAnotherCluster(t *testing.T) {
	one := alone(t, vfs.NewMem(), consensus.Config{})
	fill(t, one)
	var file bytes.Buffer
	if err := one.Backup(&file); err != nil {
		t.Fatal(err)
	}
	disk := vfs.NewMem()
	two := alone(t, disk, consensus.Config{Node: "two"})
	if err := two.RestoreBackup(t.Context(), bytes.NewReader(file.Bytes()), consensus.Adoption{}); err != nil {
		t.Fatal(err)
	}
	two.must(t, "more", "append l0 more")
	one.must(t, "more", "append l0 more")
	want := one.machine.get("l0")
	if got := two.machine.get("l0"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := errors.Join(one.shut(), two.shut()); err != nil {
		t.Fatal(err)
	}
	two = alone(t, disk, consensus.Config{Node: "two"})
	if got := two.machine.get("l0"); got != want {
		t.Errorf("after a restart got %q, want %q", got, want)
	}
	if err := two.shut(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedBackup changes each byte and truncates at each length: nothing is restored.
func TestDamagedBackup(t *testing.T) {
	n := alone(t, vfs.NewMem(), consensus.Config{})
	n.must(t, "1", "append l 1")
	var out bytes.Buffer
	if err := n.Backup(&out); err != nil {
		t.Fatal(err)
	}
	file := out.Bytes()
	refused := func(what string, b []byte, err error) {
		t.Helper()
		if fault.KindOf(err) != fault.Malformed {
			t.Errorf("%s of %d bytes: %v", what, len(b), err)
		}
	}
	for i := range file {
		for _, flip := range []byte{1, 0x80} {
			b := bytes.Clone(file)
			b[i] ^= flip
			_, err := consensus.CheckBackup(bytes.NewReader(b))
			refused("changed", b, err)
		}
		_, err := consensus.CheckBackup(bytes.NewReader(file[:i]))
		refused("cut", file[:i], err)
	}
	_, err := consensus.CheckBackup(bytes.NewReader(append(bytes.Clone(file), 0)))
	refused("lengthened", file, err)
	at := n.Applied()
	for _, b := range [][]byte{nil, file[:len(file)-1], append(bytes.Clone(file[:len(file)-40]), file[len(file)-39:]...)} {
		refused("restored", b, n.RestoreBackup(t.Context(), bytes.NewReader(b), consensus.Adoption{}))
	}
	if n.Applied() != at || n.machine.mu.restored != 1 {
		t.Error("the state changed")
	}
	n.must(t, "2", "append l 2")
	if got := n.machine.get("l"); got != "1 2 " {
		t.Errorf("got %q", got)
	}
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
}

// files lists all files below dir.
func files(tb testing.TB, fsys vfs.FS, dir string) []string {
	tb.Helper()
	names, err := fsys.List(dir)
	if err != nil {
		tb.Fatal(err)
	}
	slices.Sort(names) // an in-memory file system returns them in any order
	var out []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := fsys.Stat(path)
		if err != nil {
			tb.Fatal(err)
		}
		if info.IsDir() {
			out = append(out, files(tb, fsys, path)...)
		} else if info.Size() > 0 {
			out = append(out, path)
		}
	}
	return out
}

// damage changes a byte of a file.
func damage(tb testing.TB, fsys vfs.FS, path string, rng *rand.Rand) {
	tb.Helper()
	f, err := fsys.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		tb.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	at := rng.Int64N(info.Size())
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, at); err != nil {
		tb.Fatal(err)
	}
	b[0] ^= 0x10
	if _, err := f.WriteAt(b, at); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

// TestDamagedSnapshot: a snapshot with one wrong byte is neither sent to another node nor used
// to repair the node's own state.
func TestDamagedSnapshot(t *testing.T) {
	disk := vfs.NewMem()
	n := alone(t, disk, consensus.Config{Timing: func() consensus.Timing {
		timing := quick()
		timing.TrailingLogs = 1
		return timing
	}()})
	fill(t, n)
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
	// The state is lost and must come from a snapshot. The older one does not suffice, because
	// the log after it is gone.
	if err := disk.RemoveAll("data/state"); err != nil {
		t.Fatal(err)
	}
	all := files(t, disk, "data/snapshots")
	if len(all) < 10 {
		t.Fatalf("files: %q", all)
	}
	newest := filepath.Dir(all[len(all)-1])
	rng := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for _, path := range all {
		if !strings.HasPrefix(path, newest) {
			continue
		}
		tried++
		hurt := vfs.NewMem()
		if _, err := vfs.Clone(disk, hurt, "data", "data"); err != nil {
			t.Fatal(err)
		}
		damage(t, hurt, path, rng)
		if _, err := open(hurt, consensus.Config{}); fault.KindOf(err) != fault.StorageUnavailable {
			t.Errorf("%s is damaged, but the node opens: %v", path, err)
		}
	}
	if tried < 3 {
		t.Errorf("%d files of %q only", tried, newest)
	}
	n = alone(t, disk, consensus.Config{})
	if got := n.machine.get("l0"); !strings.HasSuffix(got, "x12 x16 ") {
		t.Errorf("the intact one has %q", got)
	}
	if err := n.shut(); err != nil {
		t.Fatal(err)
	}
}
