package cluster_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/consensus"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link/memlink"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

var logLevel = flag.String("cluster.log", "", "show what the nodes log, from this level on")

const (
	// largest is how many hosts a lab can have.
	largest = 9
	// settleTime is how long a cluster may take to be one again once nothing is in
	// its way: elections, pauses between attempts, a snapshot.
	settleTime = 60 * time.Second
	// answerTime is how long a write or a read may take to be answered, whatever is
	// wrong.
	answerTime = 5 * time.Second
	// stragglers is how long what a library leaves running takes to end.
	stragglers = time.Minute
)

// lab is a cluster on a network and on disks in memory. It lives in a bubble, on
// virtual time.
type lab struct {
	t         *testing.T
	network   *memlink.Network
	random    *rand.Rand // of the goroutine that runs the test
	staleness time.Duration
	timing    consensus.Timing
	retention time.Duration // 0: the default
	hosts     []*host
	nodes     map[id.Node]birth // every node that there was
	dying     sync.WaitGroup    // nodes whose power was cut
}

// birth is where a node came to be, for the test's output to name it by.
type birth struct {
	on   *host
	disk int // of the machine's: which one, from 0
}

// String is the machine's name, with a mark for each disk that was replaced.
func (b birth) String() string { return b.on.name + strings.Repeat("'", b.disk) }

// host is a machine: an address, a disk, and a node while it is on.
type host struct {
	lab     *lab
	number  int
	name    string // in the test's output
	address string
	disks   int // how many it had before
	disk    *disk
	skew    atomic.Int64 // how far its clock is ahead, in nanoseconds
	expect  int
	alone   bool
	// configure changes how the node starts; nil: as all do.
	configure func(*cluster.Config)
	ring      *vault.Ring // if configure makes one

	mu struct {
		sync.Mutex
		node *cluster.Node // nil: it is off
	}
	stop context.CancelFunc
	ran  chan error
}

func newLab(t *testing.T, seed uint64) *lab {
	t.Helper()
	return &lab{
		t: t, network: memlink.New(seed), random: rand.New(rand.NewPCG(seed, 1)),
		staleness: 10 * time.Second, nodes: map[id.Node]birth{},
	}
}

// startedLab returns a lab with a cluster of so many nodes, all of them ready.
func startedLab(t *testing.T, seed uint64, nodes int) *lab {
	t.Helper()
	l := newLab(t, seed)
	for range nodes {
		l.add(nodes).start()
	}
	if err := l.ready(l.hosts, settleTime); err != nil {
		l.close()
		t.Fatal(err)
	}
	return l
}

// parts are what all labs share: making them takes a while, and they do not change.
var parts = sync.OnceValue(func() (p struct {
	catalog *catalog.Catalog
	keys    *tenancy.Set
	sealer  *vault.Sealer
},
) {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	var err error
	p.catalog, err = catalog.New(catalog.Spec{}, catalog.Providers{"openai": {DefaultBase: "https://api.openai.com/v1", NeedsKey: true}}, nil)
	must(err)
	p.keys, err = tenancy.New([]tenancy.Key{{Alias: "file", Hash: id.HashKey(text("file"))}}, vault.NewSecret(text("master")))
	must(err)
	k, err := vault.KeyFromSecret(vault.NewSecret("the secret that credentials are sealed with"))
	must(err)
	p.sealer, err = vault.NewSealer(k)
	must(err)
	return p
})

// text is the key that has an alias.
func text(alias string) string { return "sk-0123456789abcdef-" + alias }

func addressOf(number int) string { return fmt.Sprintf("10.0.0.%d:7400", number) }

// add puts up one more machine, which is off.
func (l *lab) add(expect int) *host {
	number := len(l.hosts) + 1
	h := &host{lab: l, number: number, name: fmt.Sprintf("node%d", number), address: addressOf(number), disk: newDisk(), expect: expect}
	l.hosts = append(l.hosts, h)
	return h
}

// start turns a machine on.
func (h *host) start() {
	h.lab.t.Helper()
	if err := h.tryStart(); err != nil {
		h.lab.t.Fatalf("node %d does not start: %v", h.number, err)
	}
}

func (h *host) tryStart() error {
	l := h.lab
	h.disk.mend() // nothing starts on a full disk
	node, err := cluster.Open(h.config(h.disk))
	if err != nil {
		return err
	}
	l.nodes[node.Identity().Node] = birth{h, h.disks}
	ctx, cancel := context.WithCancel(context.Background())
	h.stop, h.ran = cancel, make(chan error, 1)
	go func(ran chan<- error) { ran <- node.Run(ctx) }(h.ran)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.node = node
	return nil
}

// config is what the machine's node is to be, with its data on a disk.
func (h *host) config(d *disk) cluster.Config {
	l := h.lab
	cfg := cluster.Config{
		Dir: "data", FS: d.fs(), BallastBytes: 4096, MinFreeBytes: 1, Now: h.clock,
		Catalog: parts().catalog, Keys: parts().keys, Sealer: parts().sealer,
		Logger: h.logger(), Expect: h.expect, KeyStaleness: l.staleness, Version: "test", Timing: l.timing, Retention: l.retention,
		Fatal: func(err error) { panic(fmt.Sprintf("node %d: %v", h.number, err)) },
	}
	if !h.alone {
		for i := range largest {
			cfg.Join = append(cfg.Join, addressOf(i+1))
		}
		cfg.Connect = func(node id.Node) (cluster.Link, []byte, error) {
			return l.network.Node(h.address, node), []byte("this is a secret of thirty-two b"), nil
		}
	}
	if h.configure != nil {
		h.configure(&cfg)
	}
	return cfg
}

// clock is what the machine's clock says.
func (h *host) clock() time.Time { return time.Now().Round(0).Add(time.Duration(h.skew.Load())) }

func (h *host) logger() *slog.Logger {
	var level slog.Level
	if level.UnmarshalText([]byte(*logLevel)) != nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(h.lab.t.Output(), &slog.HandlerOptions{Level: level})).With("host", h.number)
}

// node returns what runs on the machine; nil if it is off.
func (h *host) node() *cluster.Node {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.node
}

// off takes the node from the machine. From then on nothing that it answers
// counts: nobody would have heard it.
func (h *host) off() *cluster.Node {
	h.mu.Lock()
	defer h.mu.Unlock()
	node := h.mu.node
	h.mu.node = nil
	return node
}

// shut stops the node as a process that is asked to.
func (h *host) shut() {
	h.lab.t.Helper()
	node := h.off()
	if node == nil {
		return
	}
	h.disk.mend()
	h.stop()
	if err := errors.Join(<-h.ran, node.Close()); err != nil {
		h.lab.t.Errorf("node %d: %v", h.number, err)
	}
}

// cut cuts the machine's power: what was not synced is lost, or a part of it is.
func (h *host) cut(lostPercent int) {
	node := h.off()
	if node == nil {
		return
	}
	h.lab.network.Crash(h.address)
	seed := h.lab.random.Uint64()
	before := h.disk
	h.disk = diskOf(before.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100 - lostPercent, RNG: rand.New(rand.NewPCG(seed, 2))}))
	before.mend()
	// The goroutines have to end all the same. They write to the disk as it was.
	h.stop()
	ran := h.ran
	h.lab.dying.Go(func() { _ = errors.Join(<-ran, node.Close()) })
}

// wipe replaces the disk of a machine that is off.
func (h *host) wipe() {
	h.disk = newDisk()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.disks++
}

// now returns what runs on the machine, and where it came to be; nil if it is off.
func (h *host) now() (*cluster.Node, birth) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.node, birth{h, h.disks}
}

// expelReplaced does what an operator does when a disk was replaced.
func (l *lab) expelReplaced(when string) {
	for node, born := range l.nodes {
		if born.disk == born.on.disks {
			continue
		}
		var last string
		if !until(settleTime, func() bool {
			leader := l.leader(settleTime)
			if leader == nil {
				last = "nobody leads"
				return false
			}
			last = codeOf(leader.node().RemoveMember(l.t.Context(), node))
			return last == "ok" || last == "node_not_found"
		}) {
			l.t.Errorf("%s: %s cannot be taken out: %s", when, born, l.readable(last))
		}
	}
}

// installed reports whether the state on the disk came from another node: only then
// is it not the first that there was.
func (h *host) installed() (bool, error) {
	f, err := h.disk.Open("data/state/current")
	if err != nil {
		return false, err
	}
	generation, err := io.ReadAll(f)
	return string(generation) != "1", errors.Join(err, f.Close())
}

// running returns the machines that are on.
func (l *lab) running() []*host {
	return slices.DeleteFunc(slices.Clone(l.hosts), func(h *host) bool { return h.node() == nil })
}

// close turns everything off and waits until nothing runs any more.
func (l *lab) close() {
	l.t.Helper()
	l.network.Heal()
	l.network.Delay(0, 0)
	l.network.Loss(0)
	var wait sync.WaitGroup
	for _, h := range l.hosts {
		wait.Go(h.shut)
	}
	wait.Wait()
	l.dying.Wait()
	tick(stragglers)
}

// tick lets time go by.
func tick(d time.Duration) { <-time.After(d) }

// until waits until a condition holds, for so long at most, and reports whether
// it does.
func until(limit time.Duration, holds func() bool) bool {
	for deadline := time.Now().Add(limit); ; tick(20 * time.Millisecond) {
		if holds() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// leader returns the machine that leads, as a majority confirms; nil if there is
// none within limit.
func (l *lab) leader(limit time.Duration) *host {
	var found *host
	until(limit, func() bool {
		for _, h := range l.running() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			status, err := h.node().Status(ctx, false)
			if err == nil && status.State == "leader" {
				// That it can read what is current shows that the others follow it.
				_, err = findKey(ctx, h.node(), id.KeyHash{})
				if err == nil {
					found = h
				}
			}
			cancel()
			if found != nil {
				return true
			}
		}
		return false
	})
	return found
}

// ready waits until every one of some machines is, and says what is the matter
// with one that is not.
func (l *lab) ready(hosts []*host, limit time.Duration) error {
	var err error
	until(limit, func() bool {
		err = nil
		for _, h := range hosts {
			if node := h.node(); node == nil {
				err = fmt.Errorf("%s is off", h.name)
			} else if not := node.Ready(); not != nil {
				err = fmt.Errorf("%s: %s", h.name, codeOf(not))
			}
		}
		return err == nil
	})
	return err
}

// codeOf is what a refusal says, in a word.
func codeOf(err error) string {
	if err == nil {
		return "ok"
	}
	f := fault.From(err)
	if f.Code == "" || f.Kind == fault.Internal {
		return err.Error()
	}
	return f.Code
}

// identify presents a key to a node.
func identify(node *cluster.Node, alias string) error {
	var p credential.Presented
	p.Add(credential.HeaderAuthorization, "Bearer "+text(alias))
	_, err := node.Identify(node.View(), p, time.Now())
	return err
}

func accepts(node *cluster.Node, alias string) bool { return identify(node, alias) == nil }

// readable has names in place of ids and addresses.
func (l *lab) readable(text string) string {
	for node, born := range l.nodes {
		text = strings.ReplaceAll(text, string(node), born.String())
	}
	for _, h := range l.hosts {
		text = strings.ReplaceAll(text, h.address, h.name+"'s address")
	}
	return text
}

// same checks that all running machines have the same state, once they are
// equally far, and returns what differs.
func (l *lab) same() error {
	var err error
	until(settleTime, func() bool {
		err = l.sameNow()
		return err == nil
	})
	return err
}

func (l *lab) sameNow() error {
	asked := l.leader(settleTime)
	if asked == nil {
		return errors.New("nobody leads")
	}
	status, err := asked.node().Status(context.Background(), true)
	if err != nil {
		return err
	}
	of := map[id.Node]cluster.MemberStatus{}
	for _, m := range status.Members {
		of[m.Node] = m
	}
	first := of[status.Node]
	for _, h := range l.running() {
		node := h.node().Identity().Node
		switch m, member := of[node]; {
		case !member || !m.Alive:
			return fmt.Errorf("%s is no member or does not answer", h.name)
		case m.StateIndex != first.StateIndex:
			return fmt.Errorf("%s is at %d and %s at %d", h.name, m.StateIndex, asked.name, first.StateIndex)
		case m.StateHash != first.StateHash:
			l.t.Errorf("%s and %s have different states at %d", h.name, asked.name, m.StateIndex)
		}
	}
	return nil
}
