//go:build linux && nightly

package e2e

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/e2e/clustertest"
)

// pauseTime is how long a leader is held still: others lead meanwhile.
const pauseTime = 10 * time.Second

// A leader that is held still for some seconds, as a machine that swaps or moves does,
// is followed by another, and finds its books where it left them.
func TestClusterOnBadMachine(t *testing.T) {
	if !inLab(t) {
		return
	}
	b := startBooked(t, clusterOptions{})
	end := b.who.press(t, bookCallers, b.at)
	leader := b.awaitLeader()
	b.await(20)
	if err := b.node(leader).process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	b.hurt.Store(int64(leader))
	b.awaitLeader(b.others(leader)...)
	b.until("the leader is still for long enough", func() bool { return time.Since(since) > pauseTime })
	if err := b.node(leader).process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	b.awaitReady(leader)
	b.hurt.Store(0)
	b.awaitLeader()
	b.await(20)
	b.clean(end(), leader)
	b.agree()
}

// diskSize leaves a node some space above what it asks for to start.
const diskSize = 400

// A node whose disk is full serves nothing that it cannot write down, or ends; the
// others go on. When there is space again it goes on as well, and has the same books.
func TestClusterOnBadDisk(t *testing.T) {
	if !in(t, clustertest.RerunMounting) {
		return
	}
	b := startBooked(t, clusterOptions{disk: diskSize})
	end := b.who.press(t, bookCallers, b.at)
	hurt := []int{b.awaitLeader()}
	hurt = append(hurt, b.others(hurt...)[0])
	for _, i := range hurt {
		b.await(20)
		b.node(i).running = false // it may end
		filler := b.fill(i)
		for range 3 { // it notices when it writes
			b.await(20)
			b.fillMore(filler)
		}
		t.Logf("node %d has a full disk and is ready: %t", i, b.ready(i))
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if b.ended(i) {
			b.launch(i)
		}
		b.node(i).running = true
		b.awaitReady(i)
		b.awaitLeader()
	}
	b.await(20)
	b.clean(end(), hurt...)
	b.agree()
}

// clean checks what callers got: answers, or refusals that say when to come again.
// Nodes that were hurt may break connections and be late.
func (b *bookedCluster) clean(got map[outcome]int, hurt ...int) {
	b.t.Helper()
	for o, n := range got {
		b.t.Logf("%d requests: %+v", n, o)
		switch ours := false; {
		case o.status == http.StatusOK, o.status == http.StatusServiceUnavailable && o.code != "":
		default:
			for _, i := range hurt {
				ours = ours || o.url == b.node(i).url
			}
			if !ours {
				b.t.Errorf("%d requests: %+v", n, o)
			}
		}
	}
}

// fill fills a node's disk and returns the file that does.
func (b *bookedCluster) fill(i int) string {
	b.t.Helper()
	name := filepath.Join(filepath.Dir(b.node(i).data), "filler")
	b.fillMore(name)
	return name
}

// fillMore lets a file grow until its disk is full.
func (b *bookedCluster) fillMore(name string) {
	b.t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // what is in it nobody wants
	for size := 1 << 20; size > 0; {
		n, err := f.Write(make([]byte, size))
		switch {
		case errors.Is(err, syscall.ENOSPC) && n == 0:
			size /= 16
		case err != nil && !errors.Is(err, syscall.ENOSPC):
			b.t.Fatal(err)
		}
	}
}

// ended says whether a node has ended by itself.
func (b *bookedCluster) ended(i int) bool {
	n := b.node(i)
	select {
	case err := <-n.exited:
		n.exited <- err
		b.t.Logf("node %d ended: %v", i, err)
		return true
	default:
		return false
	}
}
