package catalog

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/table"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// priceRowAt is where a row is kept.
func priceRowAt(model string) record.At {
	return record.At{Space: store.SpacePriceMap, Key: []byte(model)}
}

// priceMarkAt is the mark that changes whenever the map does.
func priceMarkAt() record.At { return record.At{Space: store.SpacePriceMap, Key: []byte{0}} }

// record is the row as the state has it.
func priceRecord(r price.Row) *clusterv1.PriceRow {
	out := &clusterv1.PriceRow{Model: r.Model, Provider: r.Provider, MaxInputTokens: r.MaxInput, MaxOutputTokens: r.MaxOutput}
	for _, e := range r.Entries() {
		out.Prices = append(out.GetPrices(), &clusterv1.PriceEntry{Name: e.Key, Value: e.Value})
	}
	return out
}

// readPriceRow reads a row of the state. One that this node cannot read in full is
// left out as a whole: half a row would be a price that nobody has set.
func readPriceRow(value []byte) (price.Row, error) {
	m := &clusterv1.PriceRow{}
	if err := proto.Unmarshal(value, m); err != nil {
		return price.Row{}, err
	}
	list := make([]price.Entry, 0, len(m.GetPrices()))
	for _, e := range m.GetPrices() {
		if err := price.Check(e.GetValue()); err != nil || strings.ContainsAny(e.GetName(), ";=") {
			return price.Row{}, fmt.Errorf("price %s of the model %s: %w", quote(e.GetName()), quote(m.GetModel()), price.ErrSyntax)
		}
		list = append(list, price.Entry{Key: e.GetName(), Value: e.GetValue()})
	}
	return price.Row{
		Provider: m.GetProvider(), Model: m.GetModel(), MaxInput: m.GetMaxInputTokens(), MaxOutput: m.GetMaxOutputTokens(),
		Prices: price.Join(list),
	}, nil
}

// sharedPrices are one Prices of all deployments that cost the same.
type sharedPrices struct {
	prices *price.Prices
	row    price.Row
	users  int // how many deployments have it; at 0 it goes
}

// find finds the row of a model: the one that was loaded at run time before the one
// that the gateway was built with.
func (s *state) find(model string) (price.Row, bool) {
	if r, ok := s.loaded.get(model); ok {
		return r, true
	}
	return s.list.Find(model)
}

func (b *builder) find(model string) (price.Row, bool) {
	if r, ok := b.loaded.get(model); ok {
		return r, true
	}
	return b.base.list.Find(model)
}

// takePrice takes a row of the state or the mark; nil removes it.
func (b *builder) takePrice(key, value []byte) error {
	if string(key) == string(priceMarkAt().Key) {
		m := &clusterv1.Mark{}
		if err := proto.Unmarshal(value, m); err != nil {
			return err
		}
		b.base.priceMark = m.GetStamp().GetRevision()
		return nil
	}
	b.loaded.delete(string(key))
	if value == nil {
		return nil
	}
	r, err := readPriceRow(value)
	if err == nil {
		b.loaded.set(string(key), r)
	}
	return err
}

// applyPrices takes the changes of the price map, all of them at once: what is made
// again costs what there are deployments, and not what there are rows.
func (c *Catalog) applyPrices(changes []record.Change) (next *Catalog, broken []error) {
	var b *builder
	for _, change := range changes {
		if change.Space != store.SpacePriceMap {
			continue
		}
		if b == nil {
			b = c.change()
		}
		if err := b.takePrice(change.Key, change.Value); err != nil {
			broken = append(broken, err)
		}
	}
	if b == nil {
		return c, nil
	}
	b.reprice(c)
	return b.catalog(), broken
}

// loadPrices takes the price map of the state, before there are deployments of it.
func (b *builder) loadPrices(ctx context.Context, c *Catalog, state table.Scanner) (broken []error, err error) {
	found := false
	err = state.Scan(ctx, store.Range{Space: store.SpacePriceMap}, func(key, value []byte) bool {
		found = true
		if err := b.takePrice(key, value); err != nil {
			broken = append(broken, err)
		}
		return true
	})
	if found {
		b.reprice(c)
	}
	return broken, err
}

// reprice makes those deployments of c again of which the table has another row now.
func (b *builder) reprice(c *Catalog) {
	fresh, seen := make(map[id.Deployment]*Deployment), make(map[string]sharedPrices)
	for _, d := range c.byID.all() {
		key := price.Source{Provider: d.Provider, Model: d.Model, Base: d.BaseModel}
		if price.Lookup(b.find, key) == d.origin.row {
			continue
		}
		p, ok := seen[d.origin.priced]
		if !ok {
			p.prices, p.row, _ = price.Of(b.find, key, d.origin.own) // all that it parses was parsed before
			before, _ := b.prices.get(d.origin.priced)
			p.users = before.users
			b.prices.set(d.origin.priced, p)
			seen[d.origin.priced] = p
		}
		again, o := *d, *d.origin
		o.row = p.row
		again.origin, again.Prices = &o, p.prices
		again.limit(p.row)
		fresh[d.ID] = &again
	}
	b.renew(fresh)
}
