package price

import (
	"fmt"
	"slices"
	"strings"
)

// Source is what decides the list price of a deployment. Base is the model that the
// deployment says it is; empty if it does not.
type Source struct{ Provider, Model, Base string }

// Text is equal for deployments that cost the same: those of one Source with
// the same prices of their own, which are sorted.
func (k Source) Text(own []Entry) string {
	if len(own) == 0 {
		return k.Provider + "\n" + k.Model + "\n" + k.Base
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s", k.Provider, k.Model, k.Base)
	for _, p := range own {
		fmt.Fprintf(&b, "\n%s=%s", p.Key, p.Value)
	}
	return b.String()
}

// Of returns the prices of a deployment, and its row of the table: the table's, with its own in place of
// those of the same key. The error is that of a price that is not a number.
func Of(find Finder, k Source, own []Entry) (*Prices, Row, error) {
	r := Lookup(find, k)
	entries := slices.DeleteFunc(r.Entries(), func(e Entry) bool {
		return slices.ContainsFunc(own, func(o Entry) bool { return o.Key == e.Key })
	})
	prices, err := newPrices(k.Provider, append(entries, own...), pixelsOf(r.Model))
	return prices, r, err
}
