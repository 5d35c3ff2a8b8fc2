package cluster

import (
	"maps"
	"slices"
	"sync"
)

// problems are what an operator should know of and a node cannot mend by itself.
type problems struct {
	mu struct {
		sync.Mutex
		texts map[string]string // by what they are about
	}
}

// What problems are about.
const (
	problemFormation = "formation"
	problemClock     = "clock"
)

func (p *problems) init() { p.mu.texts = make(map[string]string) }

// set notes what is wrong with something; nil: nothing any more. It reports
// whether that is news.
func (p *problems) set(about string, err error) (news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		delete(p.mu.texts, about)
		return false
	}
	news = p.mu.texts[about] != err.Error()
	p.mu.texts[about] = err.Error()
	return news
}

// all returns the problems in a fixed order.
func (p *problems) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]string, 0, len(p.mu.texts))
	for _, about := range slices.Sorted(maps.Keys(p.mu.texts)) {
		out = append(out, about+": "+p.mu.texts[about])
	}
	return out
}

// Report notes what is wrong with something outside the cluster that the node serves; nil means
// nothing any more. It is in the problems of this node's Status.
func (n *Node) Report(about string, err error) { n.problems.set(about, err) }
