package gossip_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/gossip"
	"github.com/modelgateway/modelgateway/cluster/id"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// rates says what it is told to say, and notes what it hears.
type rates struct {
	mu      sync.Mutex
	changed []gossip.RateUse
	recent  []gossip.RateUse
	most    int // that it was asked for
	heard   map[id.Node][]gossip.RateUse
	version map[id.Node]uint64
}

func (r *rates) Changed(_ time.Time, most int) []gossip.RateUse {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.changed[:min(most, len(r.changed))]
	r.changed, r.most = r.changed[len(out):], most
	return out
}

func (r *rates) Recent(time.Time, int) []gossip.RateUse {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recent
}

func (r *rates) Hear(_ time.Time, from id.Node, version uint64, uses []gossip.RateUse) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.heard == nil {
		r.heard, r.version = map[id.Node][]gossip.RateUse{}, map[id.Node]uint64{}
	}
	r.heard[from], r.version[from] = append(r.heard[from], uses...), version
}

func (r *rates) told() map[id.Node][]gossip.RateUse {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.heard)
}

// uses are what a busy node might say of so many buckets.
func uses(n int) []gossip.RateUse {
	out := make([]gossip.RateUse, n)
	for i := range out {
		out[i] = gossip.RateUse{
			Bucket: [16]byte{1: byte(i >> 8), 2: byte(i)}, What: 2, Limit: 1 << 31, Born: 1 << 62, Used: 1 << 59, Level: 1 << 33, InFlight: 1 << 20,
		}
	}
	return out
}

func TestRatesTravel(t *testing.T) {
	t.Parallel()
	now := time.Now()
	of, there := &rates{changed: uses(100)}, &rates{}
	a := gossip.NewState(gossip.StateConfig{Node: "a", Rates: of})
	b := gossip.NewState(gossip.StateConfig{Node: "b", Rates: there})
	mute := gossip.NewState(gossip.StateConfig{Node: "c"})
	messages := a.ChangedRates(now, 60)
	for _, m := range messages {
		if len(m) > 1300 {
			t.Errorf("a message of %d bytes does not fit into a packet", len(m))
		}
		for _, s := range []*gossip.State{a, b, mute} { // a hears itself, c has no rates
			if err := s.Merge(m, now); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(map[id.Node][]gossip.RateUse{"a": uses(60)}, there.told()); diff != "" {
		t.Error(diff)
	}
	if of.told() != nil {
		t.Errorf("a node was told of itself: %v", of.told())
	}
	first := there.version["a"]
	_ = b.Merge(a.ChangedRates(now, 60)[0], now)
	if again := there.version["a"]; again <= first {
		t.Errorf("version %d after %d", again, first)
	}
}

func TestRatesInFullExchange(t *testing.T) {
	t.Parallel()
	now := time.Now()
	there := &rates{}
	a := gossip.NewState(gossip.StateConfig{Node: "a", Rates: &rates{recent: uses(2000)}})
	b := gossip.NewState(gossip.StateConfig{Node: "b", Rates: there})
	full := a.Full(now)
	if len(full) > 200<<10 {
		t.Errorf("%d bytes", len(full))
	}
	if err := b.Merge(full, now); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[id.Node][]gossip.RateUse{"a": uses(2000)}, there.told()); diff != "" {
		t.Error(diff)
	}
}

// TestRecordedRates: what was recorded is not believed when it comes again.
func TestRecordedRates(t *testing.T) {
	t.Parallel()
	now := time.Now()
	of, there := &rates{}, &rates{}
	a := gossip.NewState(gossip.StateConfig{Node: "a", Rates: of})
	b := gossip.NewState(gossip.StateConfig{Node: "b", Rates: there})
	var first []byte
	for range 100 {
		of.changed = uses(1)
		m := a.ChangedRates(now, 1)[0]
		if first == nil {
			first = m
		}
		_ = b.Merge(m, now)
	}
	_ = b.Merge(first, now.Add(time.Hour))
	if n := len(there.told()["a"]); n != 100 {
		t.Errorf("%d words were heard of 100", n)
	}
}

// TestMalformedRates: what makes no sense is not heard.
func TestMalformedRates(t *testing.T) {
	t.Parallel()
	good := func() *clusterv1.RateUse {
		return &clusterv1.RateUse{Bucket: make([]byte, 16), What: 1, Limit: 1, Born: 1, Used: 1, Level: 1}
	}
	for name, change := range map[string]func(*clusterv1.NodeRates){
		"no node":         func(r *clusterv1.NodeRates) { r.Node = "" },
		"node":            func(r *clusterv1.NodeRates) { r.Node = "a/b" },
		"itself":          func(r *clusterv1.NodeRates) { r.Node = "b" },
		"no version":      func(r *clusterv1.NodeRates) { r.Version = 0 },
		"last version":    func(r *clusterv1.NodeRates) { r.Version = 1 << 63 },
		"no bucket":       func(r *clusterv1.NodeRates) { r.Uses[0].Bucket = nil },
		"long bucket":     func(r *clusterv1.NodeRates) { r.Uses[0].Bucket = make([]byte, 17) },
		"what":            func(r *clusterv1.NodeRates) { r.Uses[0].What = 256 },
		"less than none":  func(r *clusterv1.NodeRates) { r.Uses[0].Used = -1 },
		"negative level":  func(r *clusterv1.NodeRates) { r.Uses[0].Level = -1 },
		"negative flight": func(r *clusterv1.NodeRates) { r.Uses[0].InFlight = -1 },
	} {
		r := &clusterv1.NodeRates{Node: "a", Version: 5, Uses: []*clusterv1.RateUse{good()}}
		change(r)
		m, err := proto.Marshal(&clusterv1.GossipDelta{Version: 1, Rates: []*clusterv1.NodeRates{r}})
		if err != nil {
			t.Fatal(err)
		}
		there := &rates{}
		b := gossip.NewState(gossip.StateConfig{Node: "b", Rates: there})
		if err := b.Merge(m, time.Now()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for who, heard := range there.told() {
			if len(heard) > 0 {
				t.Errorf("%s: heard %v of %q", name, heard, who)
			}
		}
	}
}

// TestRatesReachEverybody: over the network, a busy node's thousand buckets are known
// everywhere within seconds, and those of who joins later as well.
func TestRatesReachEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{network: newNetwork(), t: t}
		all := []*rates{{}, {}, {}, {}, {}}
		add := func(i int) {
			c.add(name(i), at(i), func(cfg *gossip.Config) {
				cfg.Join = []string{at(0)}
				c.rates(cfg, all[i])
			})
		}
		for i := range 4 {
			add(i)
		}
		defer c.end()
		c.until("everybody knows everybody", func() bool {
			return !slices.ContainsFunc(c.peers, func(p *peer) bool { return c.alive(p) != 4 })
		})
		all[1].mu.Lock()
		all[1].changed, all[1].recent = uses(1000), uses(1000)
		all[1].mu.Unlock()
		c.pass(3 * time.Second)
		for i, r := range all[:4] {
			if i == 1 {
				continue
			}
			if n := len(r.told()["node1"]); n < 1000 {
				t.Errorf("%s heard of %d buckets", name(i), n)
			}
		}
		if all[1].most != 400 {
			t.Errorf("asked for %d buckets five times a second", all[1].most)
		}
		add(4)
		c.until("who joins hears of them", func() bool { return len(all[4].told()["node1"]) >= 1000 })
	})
}
