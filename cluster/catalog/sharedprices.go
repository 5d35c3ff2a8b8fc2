package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// priceKey is what decides the list price of a deployment.
type priceKey struct{ provider, model, base string }

// text is equal for deployments that cost the same: those of one priceKey with
// the same prices of their own, which are sorted.
func (k priceKey) text(own []Price) string {
	if len(own) == 0 {
		return k.provider + "\n" + k.model + "\n" + k.base
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s", k.provider, k.model, k.base)
	for _, p := range own {
		fmt.Fprintf(&b, "\n%s=%s", p.Key, p.Value)
	}
	return b.String()
}

// sharedPrices are one Prices of all deployments that cost the same.
type sharedPrices struct {
	prices *Prices
	row    row
	users  int // how many deployments have it; at 0 it goes
}

// prices returns the prices of a deployment: the list's, with its own in place of
// those of the same key. The error is that of an own price that is not a number.
func (l *PriceList) prices(k priceKey, own []Price) (sharedPrices, error) {
	r, _ := l.lookup(k.provider, k.model, k.base)
	entries := slices.DeleteFunc(r.entries(), func(e Price) bool {
		return slices.ContainsFunc(own, func(o Price) bool { return o.Key == e.Key })
	})
	prices, err := newPrices(k.provider, append(entries, own...))
	if err != nil {
		return sharedPrices{}, err
	}
	return sharedPrices{prices: prices, row: r}, nil
}
