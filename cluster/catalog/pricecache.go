package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// priceKey is what decides the list price of a deployment.
type priceKey struct{ provider, model, base string }

// priceCache shares one Prices between the deployments that cost the same.
type priceCache struct {
	list   *PriceList
	shared map[string]shared
}

type shared struct {
	prices *Prices
	row    row
}

func newPriceCache(list *PriceList) *priceCache {
	return &priceCache{list: list, shared: make(map[string]shared)}
}

// get returns the prices: the list's, with the deployment's own in place of
// those of the same key.
func (c *priceCache) get(k priceKey, own []Price) (*Prices, row, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s", k.provider, k.model, k.base)
	for _, p := range own {
		fmt.Fprintf(&b, "\n%s=%s", p.Key, p.Value)
	}
	if s, ok := c.shared[b.String()]; ok {
		return s.prices, s.row, nil
	}
	r, _ := c.list.lookup(k.provider, k.model, k.base)
	entries := slices.DeleteFunc(r.entries(), func(e Price) bool {
		return slices.ContainsFunc(own, func(o Price) bool { return o.Key == e.Key })
	})
	prices, err := newPrices(k.provider, append(entries, own...))
	if err != nil {
		return nil, row{}, err
	}
	c.shared[b.String()] = shared{prices, r}
	return prices, r, nil
}
