package cluster_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/id"
)

var (
	seeds     = flag.Int("cluster.seeds", usualSeeds, "how many random schedules to play")
	firstSeed = flag.Uint64("cluster.seed", 1, "the first one; the others follow")
)

const (
	rounds     = 3
	roundTime  = 12 * time.Second
	clients    = 4
	enoughDone = 30 // changes that a schedule has to get through to say anything
)

// TestRandomSchedules plays schedules of faults while clients make changes. After
// each round everything is mended, and then:
//
//   - what was acknowledged is there, what was refused is not (and what was neither
//     may be either);
//   - no node has accepted a key for longer after its deletion than it may, nor any
//     while nothing was wrong;
//   - no View went back to an older revision;
//   - what requests cost is in the ledger of each, once, and within the budgets; the
//     audit log has no broken link;
//   - all nodes have the same state, and the same View;
//   - each takes changes again.
//
// That nothing runs on when everything is shut is the bubble's to check.
func TestRandomSchedules(t *testing.T) {
	var acknowledged, counted, installed atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		for i := range *seeds {
			seed := *firstSeed + uint64(i)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := playSchedule(t, seed)
					acknowledged.Add(s.mu.done)
					if s.mu.done >= enoughDone {
						counted.Add(1)
					}
					installed.Add(s.installed())
				})
			})
		}
	})
	t.Logf("%d changes acknowledged; %d of %d schedules got through enough of them; %d nodes had the whole state sent",
		acknowledged.Load(), counted.Load(), *seeds, installed.Load())
	if 2*counted.Load() < int64(*seeds) {
		t.Error("most schedules got through too few changes to say anything")
	}
}

// schedule is one of them, under way.
type schedule struct {
	*lab
	hosts []*host
	// spenders make requests that cost money, and crowds spend the last of a budget.
	spenders []*spender
	crowds   *crowds

	wrong   atomic.Int64 // counts the changes of what is wrong; odd: something is
	formed  bool         // the cluster has begun; before, no node can be replaced
	replace bool         // a disk is yet to be replaced
	mu      struct {
		sync.Mutex
		deleted map[string]time.Time // when that was answered, by alias
		done    int64
	}
}

// playSchedule plays one. Nothing of it runs any more when it returns.
func playSchedule(t *testing.T, seed uint64) *schedule {
	t.Helper()
	s := &schedule{lab: newLab(t, seed)}
	defer s.close()
	// Clocks are wrong by ten years here, also that of the only voter, or of a node that is
	// restarted and reaches nobody: what it records then is filed ten years ago. The books
	// are to be complete all the same, so nothing is dropped for being that old.
	s.retention = 3 * tenYears
	s.staleness = 2 * time.Second // short, so that who is cut off for a while passes it
	s.mu.deleted = map[string]time.Time{}
	s.timing.SnapshotThreshold, s.timing.TrailingLogs, s.timing.SnapshotInterval = 20, 60, 2*time.Second
	s.replace = s.random.IntN(4) == 0
	voters := 3 + 2*s.random.IntN(2)
	for range voters {
		s.add(voters).start()
	}
	for range s.random.IntN(2) {
		s.add(0).start()
	}
	s.hosts = s.lab.hosts
	if s.random.IntN(3) > 0 { // else they begin in the storm
		s.mend("beginning")
	}
	watched := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { s.watch(watched) })
	people := make([]*client, clients)
	for i := range people {
		people[i] = &client{s: s, name: fmt.Sprintf("c%d", i), random: rand.New(rand.NewPCG(seed, uint64(100+i))), known: map[string]state{}}
	}
	s.spenders = []*spender{newSpender(s.lab, "s1", 0), newSpender(s.lab, "s2", 60*perRequest), newSpender(s.lab, "s3", 1000*perRequest)}
	s.spenders[1].window = "1m"
	s.crowds = newCrowds(s.lab, seed)
	for round := range rounds {
		end := time.Now().Add(roundTime)
		var wait sync.WaitGroup
		for _, c := range people {
			wait.Go(func() { c.work(end) })
		}
		for _, c := range s.spenders {
			wait.Go(func() { c.work(end, s.hosts) })
		}
		wait.Go(func() { s.crowds.work(end, s.hosts) })
		s.storm(end)
		wait.Wait()
		s.mend(fmt.Sprintf("round %d", round))
		s.check(people)
		if t.Failed() {
			break
		}
	}
	close(watched)
	watch.Wait()
	return s
}

// installed counts the nodes whose state was sent to them as a whole.
func (s *schedule) installed() int64 {
	var n int64
	for _, h := range s.hosts {
		installed, err := h.installed()
		if err != nil {
			s.t.Error(err)
		}
		if installed {
			n++
		}
	}
	return n
}

// storm does harm until end.
func (s *schedule) storm(end time.Time) {
	s.wrong.Add(1)
	for time.Now().Before(end) {
		s.harm(s.any())
		tick(time.Duration(200+s.random.IntN(2500)) * time.Millisecond)
		if s.random.IntN(3) == 0 {
			s.network.Heal()
		}
		for _, h := range s.hosts {
			if h.node() == nil && s.random.IntN(2) == 0 {
				h.start()
			}
		}
	}
}

func (s *schedule) any() *host { return s.hosts[s.random.IntN(len(s.hosts))] }

// harm does harm, to one host or all.
func (s *schedule) harm(h *host) {
	switch s.random.IntN(13) {
	case 0, 1:
		h.cut(s.random.IntN(101))
	case 2:
		h.shut()
	case 3:
		for range 1 + s.random.IntN(len(s.hosts)) {
			s.any().cut(s.random.IntN(101))
		}
	case 4:
		var side []string
		for _, other := range s.hosts {
			if s.random.IntN(2) == 0 {
				side = append(side, other.address)
			}
		}
		s.network.Partition(side)
	case 5:
		s.network.Isolate(h.address)
	case 6:
		s.network.OneWay(h.address, s.any().address)
	case 7:
		s.network.Delay(time.Duration(s.random.IntN(150))*time.Millisecond, time.Duration(1+s.random.IntN(100))*time.Millisecond)
		s.network.Loss(s.random.Float64() * 0.3)
	case 8:
		if s.formed { // a promise is written under a lock, which would stop the bubble's time
			h.disk.slow(s.random.Uint64())
		}
	case 9:
		h.disk.fill()
	case 10, 11:
		if s.formed { // before, nobody knows better
			s.setClock(h)
		}
	case 12:
		if s.replace && s.formed && h.expect > 0 && h.node() != nil {
			s.replace = false
			h.cut(100)
			h.wipe()
			h.start()
		}
	}
}

// setClock sets a clock wrong. More than one at a time would be a majority.
func (s *schedule) setClock(h *host) {
	for _, other := range s.hosts {
		other.skew.Store(0)
	}
	steps := wrongBy()
	h.skew.Store(int64(steps[s.random.IntN(len(steps))]))
}

// mend takes back all that is wrong, and waits until the cluster is one.
func (s *schedule) mend(when string) {
	s.network.Heal()
	s.network.Delay(time.Millisecond, time.Millisecond)
	s.network.Loss(0)
	for _, h := range s.hosts {
		h.disk.mend()
		h.skew.Store(0)
		if h.node() == nil {
			h.start()
		}
	}
	s.expelReplaced(when)
	if err := s.ready(s.hosts, settleTime); err != nil {
		s.t.Errorf("%s: %v", when, err)
	}
	s.formed = true
	// What was held up somewhere has come to its end by now.
	tick(2 * answerTime)
	if s.wrong.Load()%2 == 1 {
		s.wrong.Add(1)
	}
}

// check is what has to hold once everything is mended.
func (s *schedule) check(people []*client) {
	for _, h := range s.hosts {
		alias := fmt.Sprintf("check-%d-%d", h.number, time.Now().UnixNano())
		if err := createKey(s.t.Context(), h.node(), newKey(alias)); err != nil {
			s.t.Errorf("%s takes no changes: %s", h.name, s.readable(err.Error()))
		}
	}
	for _, c := range people {
		c.check()
	}
	if err := s.drained(s.hosts, settleTime); err != nil {
		s.t.Error(err)
	}
	for _, h := range s.hosts {
		if err := s.audit(h, s.crowds.and(s.spenders)); err != nil {
			s.t.Errorf("the books of %s: %s", h.name, s.readable(err.Error()))
		}
	}
	if err := s.same(); err != nil {
		s.t.Errorf("the states: %s", s.readable(err.Error()))
	}
	want := contentOf(s.hosts[0].node().View())
	for _, h := range s.hosts[1:] {
		if got := contentOf(h.node().View()); got != want {
			s.t.Errorf("%s has %s\n%s has %s", s.hosts[0].name, want, h.name, got)
		}
	}
}

// watch looks at every node's View all the time.
func (s *schedule) watch(done <-chan struct{}) {
	revisions := map[any]uint64{} // by node, for a node that starts again may have to catch up
	for {
		select {
		case <-done:
			return
		case <-time.After(200 * time.Millisecond):
		}
		s.mu.Lock()
		deleted := maps.Clone(s.mu.deleted)
		s.mu.Unlock()
		for _, h := range s.hosts {
			node := h.node()
			if node == nil {
				continue
			}
			revision := node.View().Revision
			if before := revisions[node]; revision < before {
				s.t.Errorf("%s went back from revision %d to %d", h.name, before, revision)
			}
			revisions[node] = revision
			for alias, at := range deleted {
				if ago := time.Since(at); ago > s.staleness && accepts(node, alias) {
					s.t.Errorf("%s accepts %s, which was deleted %s ago", h.name, alias, ago)
				}
			}
		}
	}
}

// everywhere checks that no node accepts a key whose deletion was just answered,
// if nothing was wrong since before it began.
func (s *schedule) everywhere(alias string, wrong int64) {
	for _, h := range s.hosts {
		node := h.node()
		if node == nil || s.wrong.Load() != wrong || wrong%2 == 1 {
			continue
		}
		if accepts(node, alias) {
			s.t.Errorf("%s accepts %s, whose deletion was answered", h.name, alias)
		}
	}
}

// state is what a client knows of something that it alone changes.
type state int

const (
	absent state = iota
	present
	either // it was not told
)

// client makes changes to keys and deployments of its own.
type client struct {
	s      *schedule
	name   string
	random *rand.Rand
	made   int
	known  map[string]state // by alias; deployments begin with d
}

func (c *client) work(end time.Time) {
	for time.Now().Before(end) {
		h := c.s.hosts[c.random.IntN(len(c.s.hosts))]
		if node := h.node(); node != nil {
			c.change(h)
		}
		tick(time.Duration(20+c.random.IntN(400)) * time.Millisecond)
	}
}

// change makes one at a host.
func (c *client) change(h *host) {
	name, want := c.choose()
	node, before, wrong := h.node(), c.known[name], c.s.wrong.Load()
	if node == nil {
		return
	}
	start := time.Now()
	var err error
	ctx := c.s.t.Context()
	switch {
	case name[0] == 'd' && want == present:
		err = createDeployment(ctx, node, newDeployment(name))
	case name[0] == 'd':
		err = deleteDeployment(ctx, node, id.Deployment(name))
	case want == present:
		err = createKey(ctx, node, newKey(name))
	default:
		err = deleteKeys(ctx, node, hashOf(name))
	}
	if took := time.Since(start); err != nil && took > answerTime {
		c.s.t.Errorf("%s took %s to refuse", h.name, took)
	}
	if h.node() != node {
		// It was shut or crashed meanwhile, and its answer reached nobody.
		c.known[name] = either
		return
	}
	switch code := codeOf(err); code {
	case "ok":
		c.known[name] = want
		c.s.note(name, want)
		if want == absent {
			c.s.everywhere(name, wrong)
		}
	case "no_leader":
		c.known[name] = before // for certain
	case "outcome_unknown":
		c.known[name] = either
	default:
		c.s.t.Errorf("%s: %s of %s: %s", h.name, map[state]string{present: "creation", absent: "deletion"}[want], name, c.s.readable(err.Error()))
	}
}

// choose says what to change: something new, or something that is there.
func (c *client) choose() (name string, want state) {
	var there []string
	for name, st := range c.known {
		if st == present {
			there = append(there, name)
		}
	}
	if len(there) > 0 && c.random.IntN(2) == 0 {
		slices.Sort(there)
		return there[c.random.IntN(len(there))], absent
	}
	c.made++
	kind := "k"
	if c.random.IntN(4) == 0 {
		kind = "d"
	}
	return fmt.Sprintf("%s-%s-%d", kind, c.name, c.made), present
}

// note counts what was acknowledged.
func (s *schedule) note(name string, want state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.done++
	if want == absent && name[0] == 'k' {
		s.mu.deleted[name] = time.Now()
	}
}

// check compares what the client knows with what a node says that is asked for
// what is current.
func (c *client) check() {
	for name, want := range c.known {
		h := c.s.hosts[c.random.IntN(len(c.s.hosts))]
		found, err := findKey(c.s.t.Context(), h.node(), hashOf(name))
		if err != nil {
			c.s.t.Errorf("%s cannot read what is current: %s", h.name, c.s.readable(err.Error()))
			return
		}
		if name[0] == 'd' {
			_, found = h.node().View().Catalog.Deployment(id.Deployment(name))
		}
		got := absent
		if found {
			got = present
		}
		if want != either && got != want {
			c.s.t.Errorf("%s is there on %s: %t", name, h.name, found)
		}
		c.known[name] = got
		if got == absent && name[0] == 'd' {
			delete(c.known, name)
		}
	}
}
