package strategy

import (
	"cmp"
	"slices"

	"github.com/modelgateway/modelgateway/cluster/catalog"
)

// Random returns a uniformly distributed number in [0, n); n is at least 1.
type Random = func(n uint64) uint64

// levels orders the candidates by their `order` level, lowest first, and arranges each level
// separately. It works on a copy.
func levels(candidates []*catalog.Deployment, arrange func(level []*catalog.Deployment)) []*catalog.Deployment {
	all := slices.Clone(candidates)
	slices.SortStableFunc(all, func(a, b *catalog.Deployment) int { return cmp.Compare(a.Order, b.Order) })
	for rest := all; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Order == rest[0].Order {
			n++
		}
		arrange(rest[:n])
		rest = rest[n:]
	}
	return all
}

// shuffle makes every order equally likely (Fisher and Yates).
func shuffle(ds []*catalog.Deployment, rnd Random) {
	for i := len(ds) - 1; i > 0; i-- {
		j := rnd(uint64(i) + 1)
		ds[i], ds[j] = ds[j], ds[i]
	}
}
