package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

const (
	// crowdBudget is how many requests the budget of a crowd pays for.
	crowdBudget = 3
	// crowdSize is how many come at once.
	crowdSize = 6
	// crowdPause is how long nobody comes then.
	crowdPause = 1500 * time.Millisecond
)

// crowds are people who share a budget and ask for the last of it at once, each at
// whatever node. Every crowd has an account of its own, and each request costs what
// was estimated: a grant too many is spent.
type crowds struct {
	lab    *lab
	random *rand.Rand

	came []*spender // one for each crowd
}

func newCrowds(l *lab, seed uint64) *crowds {
	return &crowds{lab: l, random: rand.New(rand.NewPCG(seed, 50))}
}

// work has one crowd come after the other until end.
func (c *crowds) work(end time.Time, hosts []*host) {
	for time.Now().Before(end) {
		s := newSpender(c.lab, fmt.Sprintf("crowd%d", len(c.came)+1), crowdBudget*perRequest)
		s.exact = true
		c.came = append(c.came, s)
		var wait sync.WaitGroup
		for range crowdSize {
			if node, at := hosts[c.random.IntN(len(hosts))].now(); node != nil {
				wait.Go(func() { s.spend(at, node) })
			}
		}
		wait.Wait()
		tick(crowdPause)
	}
}

// and returns some spenders, and those of all crowds.
func (c *crowds) and(others []*spender) []*spender { return slices.Concat(others, c.came) }
