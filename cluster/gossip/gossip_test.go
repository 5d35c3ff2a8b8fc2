package gossip_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/gossip"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// hinted returns whose hints of a deployment a node has in force.
func hinted(p *peer, d id.Deployment) []string {
	out := []string{}
	for _, h := range p.state.Hints(time.Now()) {
		if h.Deployment == d {
			out = append(out, string(h.Observer))
		}
	}
	return out
}

func TestHintReachesEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 5)
		defer c.end()
		until := time.Now().Add(10 * time.Minute)
		c.peers[3].state.Cool("d", 3, until)
		c.until("everybody has the hint", func() bool {
			return !slices.ContainsFunc(c.peers, func(p *peer) bool { return len(hinted(p, "d")) == 0 })
		})
		c.pass(time.Minute) // with several full exchanges, which repeat it
		for i, p := range c.peers {
			heard := p.hints()
			if i == 3 {
				if len(heard) != 0 {
					t.Errorf("the node is told of its own hint: %v", heard)
				}
				continue
			}
			if len(heard) != 1 || heard[0].Deployment != "d" || heard[0].Observer != "node3" || heard[0].Reason != 3 || heard[0].Until.Before(until.Add(-time.Millisecond)) {
				t.Errorf("%s is told of %v", p.name, heard)
			}
		}
		c.pass(10 * time.Minute)
		for _, p := range c.peers {
			if all := p.state.Hints(time.Now()); len(all) != 0 {
				t.Errorf("%s: %v after their end", p.name, all)
			}
		}
	})
}

func TestMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 3)
		defer c.end()
		var want []gossip.Member
		for i := range 3 {
			want = append(want, gossip.Member{Node: id.Node(name(i)), Address: at(i), Alive: true, Version: "v" + name(i)})
		}
		for _, p := range c.peers {
			if diff := cmp.Diff(want, p.Members()); diff != "" || p.Problems() != nil {
				t.Errorf("%s, problems %v: (-want +got)\n%s", p.name, p.Problems(), diff)
			}
		}
		c.stop(c.peers[2])
		c.pass(time.Second)
		want[2].Alive = false
		for _, p := range c.peers {
			if diff := cmp.Diff(want, p.Members()); diff != "" {
				t.Errorf("%s after one has left (-want +got)\n%s", p.name, diff)
			}
		}
		c.pass(2 * time.Minute)
		for _, p := range c.peers {
			if diff := cmp.Diff(want[:2], p.Members()); diff != "" {
				t.Errorf("%s for long after one has left (-want +got)\n%s", p.name, diff)
			}
		}
	})
}

func TestNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 3)
		defer c.end()
		for i, p := range c.peers {
			p.state.SetCounter("applied", int64(100*(i+1)))
			c.busy(p, "d", int64(i+1))
		}
		all := map[id.Node]map[string]int64{"node0": {"applied": 100}, "node1": {"applied": 200}, "node2": {"applied": 300}}
		c.until("everybody has the numbers", func() bool {
			for i, p := range c.peers {
				if p.state.Sum("applied") != 600 || p.state.InFlight("d") != int64(6-(i+1)) || !cmp.Equal(all, p.state.Counters()) {
					return false
				}
			}
			return true
		})
		c.pass(10 * time.Minute) // unchanged, they stay
		for _, p := range c.peers {
			if p.state.Sum("applied") != 600 {
				t.Errorf("%s: the sum is %d", p.name, p.state.Sum("applied"))
			}
		}
		c.busy(c.peers[0], "d", 0)
		c.peers[0].state.SetCounter("applied", 0)
		c.until("the change is known", func() bool { return c.peers[1].state.InFlight("d") == 3 && c.peers[2].state.Sum("applied") == 500 })
	})
}

// TestNumbersAreRelayed: in a cluster too large for one round of packets.
func TestNumbersAreRelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 9)
		defer c.end()
		for _, p := range c.peers {
			p.state.SetCounter("n", 1)
		}
		for range 20 {
			c.pass(5 * time.Second)
		}
		c.until("all are counted", func() bool {
			return !slices.ContainsFunc(c.peers, func(p *peer) bool { return p.state.Sum("n") != 9 })
		})
	})
}

// TestNumbersOfTheGone: those of a node that left, died or fell silent are not
// counted any longer.
func TestNumbersOfTheGone(t *testing.T) {
	for name, goes := range map[string]func(*cluster){
		"leaves": func(c *cluster) { c.stop(c.peers[2]) },
		"dies":   func(c *cluster) { c.cut([]string{at(0), at(1)}) },
		"is silent, though it is reached by streams": func(c *cluster) {
			c.let(func(from, _ string) bool { return from != at(2) }, nothing)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, 3)
				defer c.end()
				all := c.peers
				for _, p := range all {
					p.state.SetCounter("n", 1)
					c.busy(p, "d", 5)
				}
				c.until("the numbers are there", func() bool { return all[0].state.Sum("n") == 3 && all[1].state.InFlight("d") == 10 })
				goes(c)
				c.until("they are gone", func() bool { return all[0].state.InFlight("d") <= 5 && all[1].state.Sum("n") <= 2 })
				c.heal()
			})
		})
	}
}

// TestPartition: who was cut off, for long enough to be forgotten, is found
// again and gets what it has missed.
func TestPartition(t *testing.T) {
	for _, long := range []time.Duration{10 * time.Second, 10 * time.Minute} {
		t.Run(long.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := start(t, 4)
				defer c.end()
				c.cut([]string{at(0), at(1)}, []string{at(2), at(3)})
				c.pass(long)
				c.peers[0].state.Cool("d", 0, time.Now().Add(50*time.Minute))
				c.peers[3].state.Cool("e", 0, time.Now().Add(50*time.Minute))
				c.pass(5 * time.Second)
				if len(hinted(c.peers[2], "d"))+len(hinted(c.peers[1], "e")) != 0 {
					t.Fatal("there is no partition")
				}
				c.heal()
				c.until("everybody has both hints", func() bool {
					return !slices.ContainsFunc(c.peers, func(p *peer) bool { return len(hinted(p, "d")) == 0 || len(hinted(p, "e")) == 0 })
				})
				c.until("everybody knows everybody", func() bool {
					return !slices.ContainsFunc(c.peers, func(p *peer) bool { return c.alive(p) != 4 })
				})
			})
		})
	}
}

// TestBlockedPackets: where UDP is blocked and TCP is not, nobody is taken for dead, hints
// arrive by full exchanges, and it is said.
func TestBlockedPackets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 2)
		defer c.end()
		c.let(nil, nothing)
		c.peers[0].state.Cool("d", 0, time.Now().Add(50*time.Minute))
		c.until("the hint arrives", func() bool { return len(hinted(c.peers[1], "d")) == 1 })
		c.until("it is a problem", func() bool {
			return strings.Contains(strings.Join(c.peers[1].Problems(), " "), "node0 at "+at(0)+" answers over TCP but not over UDP")
		})
		if c.alive(c.peers[0]) != 2 {
			t.Error("a member is taken for dead")
		}
		c.heal()
		c.until("the problem is gone", func() bool { return c.peers[1].Problems() == nil })
	})
}

func TestNobodyToJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{network: newNetwork(), t: t}
		defer c.end()
		c.add("late", "late.example:1", nil).cancel()
		c.stop(c.peers[0])
		alone := c.add("alone", "host-a.example:7000", func(cfg *gossip.Config) { cfg.Join = []string{"host-a.example:7000", "host-b.example:7000"} })
		c.until("it is a problem", func() bool {
			return strings.Contains(strings.Join(alone.Problems(), " "), "none of 1 addresses can be joined")
		})
		alone.state.Cool("d", 0, time.Now().Add(time.Hour))
		c.pass(30 * time.Minute)
		b := c.add("b", "host-b.example:7000", nil)
		c.until("they have found each other", func() bool { return c.alive(alone) == 2 && alone.Problems() == nil })
		c.until("the hint arrives", func() bool { return len(b.hints()) == 1 })
		if left := time.Until(b.hints()[0].Until); left > 30*time.Minute {
			t.Errorf("of an hour, half of which is over, %v are left", left)
		}
	})
}

// TestComesBackElsewhere: a node is known by its name and not by its address.
func TestComesBackElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 3)
		defer c.end()
		c.stop(c.peers[2])
		back := c.add(name(2), "elsewhere.example:9", func(cfg *gossip.Config) { cfg.Join = []string{at(1)} })
		c.until("everybody knows where", func() bool {
			return !slices.ContainsFunc(c.peers, func(p *peer) bool {
				return c.alive(p) != 3 || !slices.Contains(p.Members(), gossip.Member{Node: "node2", Address: "elsewhere.example:9", Alive: true, Version: "vnode2"})
			})
		})
		back.state.Cool("d", 0, time.Now().Add(time.Minute))
		c.until("it is heard", func() bool { return len(hinted(c.peers[0], "d")) == 1 })
	})
}

func TestTwoOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 2)
		defer c.end()
		c.add(name(1), "copy.example:9", func(cfg *gossip.Config) { cfg.Join = []string{at(0)} })
		c.until("it is a problem", func() bool {
			return strings.Contains(strings.Join(c.peers[0].Problems(), " "), "node1 is announced from "+at(1)+" and from copy.example:9")
		})
	})
}

// TestNetworkIsClosed: a Network that is closed too early is an error, not silence.
func TestNetworkIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 2)
		p := c.peers[0]
		_ = p.port.Close()
		if err := <-p.ran; err == nil {
			t.Error("no error")
		}
		p.ran <- nil
		if err := p.Run(t.Context()); err == nil {
			t.Error("it ran twice")
		}
		c.stop(p)
		c.end()
	})
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	state := gossip.NewState(gossip.StateConfig{Node: "n"})
	good := func() gossip.Config {
		return gossip.Config{Node: "n", Network: newNetwork().port("a.example:1"), Key: key(), State: state}
	}
	if _, err := gossip.New(good()); err != nil {
		t.Errorf("refused: %v", err)
	}
	for name, change := range map[string]func(*gossip.Config){
		"no network":     func(c *gossip.Config) { c.Network = nil },
		"no state":       func(c *gossip.Config) { c.State = nil },
		"no node":        func(c *gossip.Config) { c.Node = "" },
		"a strange node": func(c *gossip.Config) { c.Node = "a/b" },
		"no key":         func(c *gossip.Config) { c.Key = nil },
		"a short key":    func(c *gossip.Config) { c.Key = key()[:16] },
		"a long label":   func(c *gossip.Config) { c.Label = strings.Repeat("x", 256) },
		"no port":        func(c *gossip.Config) { c.Address = "a.example" },
		"port 0":         func(c *gossip.Config) { c.Address = "a.example:0" },
		"a long address": func(c *gossip.Config) { c.Address = strings.Repeat("x", 512) + ":1" },
		"a strange join": func(c *gossip.Config) { c.Join = []string{"a.example:1", "b.example"} },
	} {
		c := good()
		change(&c)
		if _, err := gossip.New(c); err == nil || strings.Contains(err.Error(), string(key())) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
