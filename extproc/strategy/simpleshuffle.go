package strategy

import (
	"slices"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

// SimpleShuffle returns all candidates in a weighted random order: the probability to come next
// is a deployment's share of the remaining weights. The weights are `weight` if any deployment
// of the level has one, else `rpm`, else `tpm`, else all are equal. If weights apply, a
// deployment without one comes last: it has no share, but it is better than no response.
func SimpleShuffle(candidates []*catalog.Deployment, rnd Random) []*catalog.Deployment {
	return levels(candidates, func(level []*catalog.Deployment) {
		weight := weigher(level)
		shuffle(level, rnd)
		if weight == nil || len(level) < 2 {
			return
		}
		draw(level, weight, rnd)
	})
}

// weigher returns the level's source of weights; nil if it has none.
func weigher(level []*catalog.Deployment) func(*catalog.Deployment) uint64 {
	for _, weight := range []func(*catalog.Deployment) int64{
		func(d *catalog.Deployment) int64 { return d.Weight },
		func(d *catalog.Deployment) int64 { return d.RPM },
		func(d *catalog.Deployment) int64 { return d.TPM },
	} {
		if slices.ContainsFunc(level, func(d *catalog.Deployment) bool { return weight(d) > 0 }) {
			return func(d *catalog.Deployment) uint64 { return uint64(max(weight(d), 0)) }
		}
	}
	return nil
}

// draw orders the level by drawing without replacement. The remaining weights are in a Fenwick
// tree, so a level of n costs n log n: each request draws, and a model group may have thousands
// of deployments. Sorting by random keys (Efraimidis and Spirakis) is as fast but needs
// floating-point logarithms.
func draw(level []*catalog.Deployment, weight func(*catalog.Deployment) uint64, rnd Random) {
	n := len(level)
	tree := make([]uint64, n+1) // tree[i] is the sum of the i&-i weights that end at i, counted from 1
	var total uint64
	for i, d := range level {
		w := weight(d)
		total += w
		tree[i+1] += w
		if up := i + 1 + (i+1)&-(i+1); up <= n {
			tree[up] += tree[i+1]
		}
	}
	top := 1
	for top*2 <= n {
		top *= 2
	}
	drawn := make([]*catalog.Deployment, 0, n)
	taken := make([]bool, n)
	for total > 0 {
		i := find(tree, top, rnd(total))
		w := weight(level[i])
		total -= w
		for at := i + 1; at <= n; at += at & -at {
			tree[at] -= w
		}
		taken[i] = true
		drawn = append(drawn, level[i])
	}
	for i, d := range level {
		if !taken[i] {
			drawn = append(drawn, d)
		}
	}
	copy(level, drawn)
}

// find returns the index at which the running sum of the weights passes x.
func find(tree []uint64, top int, x uint64) int {
	at := 0
	for step := top; step > 0; step /= 2 {
		if next := at + step; next < len(tree) && tree[next] <= x {
			at = next
			x -= tree[next]
		}
	}
	return at
}
