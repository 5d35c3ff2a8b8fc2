//go:build linux

package clustertest

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// Config says what a Lab is made of.
type Config struct {
	// Hosts is how many there are beside the test's own process, 1 to 99. They
	// are numbered from 1.
	Hosts int
	// Seed is where chance begins.
	Seed uint64
}

// maxHosts leaves the addresses from 10.77.0.100 on to the test.
const maxHosts = 99

// Lab is a network of hosts. Its methods may be called from any goroutine.
type Lab struct {
	hosts  []*Host // 0 is this process
	byAddr map[netip.Addr]int
	sooner chan struct{} // a packet was scheduled before all others

	mu struct {
		sync.Mutex
		links    [][]*link // from, to
		group    []int     // of a host in a partition; 0: it reaches all
		oneWay   map[[2]int]bool
		underWay schedule
		seq      uint64
	}
}

// New makes the hosts and their interfaces; nothing goes between them before Run.
// The calling process gets an interface too, so it should be in a network
// namespace of its own, where it has the rights to make others: see Rerun. Close
// must be called.
func New(config Config) (*Lab, error) {
	if config.Hosts < 1 || config.Hosts > maxHosts {
		return nil, fmt.Errorf("clustertest: %d hosts, must be 1 to %d", config.Hosts, maxHosts)
	}
	l := &Lab{byAddr: map[netip.Addr]int{}, sooner: make(chan struct{}, 1)}
	n := config.Hosts + 1
	l.mu.group = make([]int, n)
	l.mu.oneWay = map[[2]int]bool{}
	for from := range n {
		row := make([]*link, n)
		for to := range n {
			row[to] = newLink(config.Seed, from, to)
		}
		l.mu.links = append(l.mu.links, row)
	}
	for i := range n {
		h, err := newHost(i)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("clustertest: host %d: %w", i, err), l.Close())
		}
		l.hosts = append(l.hosts, h)
		l.byAddr[h.addr] = i
	}
	return l, nil
}

// Host returns host i: 0 is the test's own process.
func (l *Lab) Host(i int) *Host { return l.hosts[i] }

// Stop kills all processes that were started on the hosts and returns when they
// have ended.
func (l *Lab) Stop() {
	for _, h := range l.hosts {
		h.stop()
	}
}

// Close stops all processes and takes the network away. Run must have returned.
func (l *Lab) Close() error {
	l.Stop()
	var errs []error
	for _, h := range l.hosts {
		errs = append(errs, h.close())
	}
	return errors.Join(errs...)
}

// Partition cuts the network into groups: hosts of different groups do not reach
// each other. A host that is in no group reaches all, and so does the test's own
// process unless it is named. It replaces the partition before; without groups
// there is none.
func (l *Lab) Partition(groups [][]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.mu.group)
	for i, hosts := range groups {
		for _, h := range hosts {
			l.mu.group[h] = i + 1
		}
	}
}

// OneWay takes all packets from one host to another, and leaves the way back.
func (l *Lab) OneWay(from, to int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.oneWay[[2]int{from, to}] = true
}

// Delay sets the delay and jitter between all hosts but the test's own process:
// that one watches, and is to see what the hosts do without a delay of its own.
func (l *Lab) Delay(delay, jitter time.Duration) {
	l.change(func(r *Rule) { r.Delay, r.Jitter = delay, jitter })
}

// Loss sets the share of packets that is lost between all hosts but the test's
// own process.
func (l *Lab) Loss(share float64) {
	l.change(func(r *Rule) { r.Loss = share })
}

// Set gives all links but those of the test's own process the same rule.
func (l *Lab) Set(rule Rule) {
	l.change(func(r *Rule) { *r = rule })
}

// SetLink gives the packets from one host to another a rule of their own, until
// the next call that is for all.
func (l *Lab) SetLink(from, to int, rule Rule) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.links[from][to].rule = rule
}

func (l *Lab) change(f func(*Rule)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, row := range l.mu.links[1:] {
		for _, line := range row[1:] {
			f(&line.rule)
		}
	}
}

// Heal takes all cuts and all rules away, those of the test's own process as
// well. What is under way with a delay still takes its time.
func (l *Lab) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.mu.group)
	clear(l.mu.oneWay)
	for _, row := range l.mu.links {
		for _, line := range row {
			line.rule = Rule{}
		}
	}
}

// Count returns the counts of the packets from one host to another.
func (l *Lab) Count(from, to int) Count {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.links[from][to].count
}

// cutLocked says whether nothing gets from one host to another.
func (l *Lab) cutLocked(from, to int) bool {
	a, b := l.mu.group[from], l.mu.group[to]
	return l.mu.oneWay[[2]int{from, to}] || a != b && a != 0 && b != 0
}
