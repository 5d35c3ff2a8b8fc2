package strategy

import (
	"cmp"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
)

// LeastBusy returns all candidates, ordered by requests in flight. Equal ones are in random
// order, so that a burst on idle deployments spreads. It reads each count once.
func LeastBusy(candidates []*catalog.Deployment, inflight func(id.Deployment) int64, rnd Random) []*catalog.Deployment {
	counts := make(map[id.Deployment]int64, len(candidates))
	for _, d := range candidates {
		counts[d.ID] = inflight(d.ID)
	}
	return levels(candidates, func(level []*catalog.Deployment) {
		shuffle(level, rnd)
		slices.SortStableFunc(level, func(a, b *catalog.Deployment) int { return cmp.Compare(counts[a.ID], counts[b.ID]) })
	})
}
