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

// priced returns the prices of a deployment: the table's, with its own in place of
// those of the same key. The error is that of a price that is not a number.
func priced(find finder, k priceKey, own []Price) (sharedPrices, error) {
	r := lookup(find, k.provider, k.model, k.base)
	entries := slices.DeleteFunc(r.entries(), func(e Price) bool {
		return slices.ContainsFunc(own, func(o Price) bool { return o.Key == e.Key })
	})
	prices, err := newPrices(k.provider, append(entries, own...), pixelsOf(r.model))
	if err != nil {
		return sharedPrices{}, err
	}
	return sharedPrices{prices: prices, row: r}, nil
}
