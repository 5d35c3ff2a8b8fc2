package catalog

import (
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/record"
)

// leastPriceRows is how small a price map is believed. The table of the world's
// models has thousands; one of a handful is a file that was cut short or an error
// page, and would make every model cost what it did before, or nothing.
const leastPriceRows = 100

// SetPrices puts rows in place of the whole price map that was loaded before, in a
// transaction that is decided by this catalogue. It refuses rows that make no sense,
// each by its model and key, and a map that is too small or lacks most of the models
// that are in use: such a map is a mistake, and would make requests free.
// It returns how many models have other prices then.
func (c *Catalog) SetPrices(tx *record.Txn, rows []price.MapRow) (changed int, err error) {
	next, err := checkPriceRows(rows)
	if err != nil {
		return 0, err
	}
	if err := c.plausible(next); err != nil {
		return 0, err
	}
	return c.replacePrices(tx, next), nil
}

// ResetPrices drops the price map that was loaded, in a transaction that is decided
// by this catalogue: the built-in prices are back. It faults with NotFound if none
// was loaded.
func (c *Catalog) ResetPrices(tx *record.Txn) error {
	if c.loaded.len() == 0 {
		tx.Require(priceMarkAt(), c.priceMark)
		return fault.New(fault.NotFound, "price_map_not_found", "No price map was loaded; the built-in prices are in force.")
	}
	c.replacePrices(tx, nil)
	return nil
}

// PriceMap returns the price map that was loaded, sorted by model, and its revision;
// 0 if none ever was. It makes a new list.
func (c *Catalog) PriceMap() (rows []price.MapRow, revision uint64) {
	for _, r := range c.loaded.all() {
		rows = append(rows, price.MapRow{
			Model: r.Model, Provider: r.Provider, MaxInputTokens: r.MaxInput, MaxOutputTokens: r.MaxOutput, Prices: r.Entries(),
		})
	}
	return rows, c.priceMark
}

// replacePrices writes what differs between the map in force and the next, and returns
// how many models differ.
func (c *Catalog) replacePrices(tx *record.Txn, next map[string]price.Row) (changed int) {
	tx.Require(priceMarkAt(), c.priceMark)
	for model := range c.loaded.all() {
		if _, stays := next[model]; !stays {
			tx.Delete(priceRowAt(model))
			changed++
		}
	}
	for model, r := range next {
		if before, there := c.loaded.get(model); !there || before != r {
			tx.Put(priceRowAt(model), priceRecord(r))
			changed++
		}
	}
	if changed > 0 {
		tx.Touch(priceMarkAt())
	}
	return changed
}

// checkPriceRows checks rows, each by itself, and returns them by model.
func checkPriceRows(rows []price.MapRow) (map[string]price.Row, error) {
	var p problems
	if len(rows) < leastPriceRows {
		p.add(price.Param, codeInvalid, "a price map of %d models is too small to be one, %d are the least; send the whole map, and prices of single models with their deployments", len(rows), leastPriceRows)
	}
	next := make(map[string]price.Row, len(rows))
	for i := range rows {
		r := &rows[i]
		if !validName(r.Model) {
			p.add(price.Param, codeInvalid, "the model %s is longer than %d bytes, is empty, starts or ends with a space, or holds a control character", quote(r.Model), maxName)
		}
		if r.Provider != "" && !validName(r.Provider) {
			p.add(price.Param, codeInvalid, "the provider of the model %s is no name", quote(r.Model))
		}
		if r.MaxInputTokens < 0 || r.MaxOutputTokens < 0 {
			p.add(price.Param, codeInvalid, "a token limit of the model %s is negative; write 0 for none", quote(r.Model))
		}
		if _, twice := next[r.Model]; twice {
			p.add(price.Param, codeInvalid, "the model %s is there twice", quote(r.Model))
		}
		next[r.Model] = price.Row{
			Provider: r.Provider, Model: r.Model, MaxInput: r.MaxInputTokens, MaxOutput: r.MaxOutputTokens,
			Prices: p.prices(r),
		}
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return next, nil
}

// prices checks the prices of a row and returns them as a row has them.
func (p *problems) prices(r *price.MapRow) string {
	list := slices.Clone(r.Prices)
	slices.SortFunc(list, func(a, b price.Entry) int { return strings.Compare(a.Key, b.Key) })
	for i, e := range list {
		if !price.IsKey(e.Key) {
			p.add(price.Param, codeInvalid, "%s of the model %s is not a price; the keys are those of the price table, such as input_cost_per_token", quote(e.Key), quote(r.Model))
		}
		if err := price.Check(e.Value); err != nil {
			p.add(price.Param, codeInvalid, "%s of the model %s is %s, which is %v; write dollars per unit, such as 0.0000025", quote(e.Key), quote(r.Model), quote(e.Value), err)
		}
		if i > 0 && list[i-1].Key == e.Key {
			p.add(price.Param, codeInvalid, "%s of the model %s is there twice", quote(e.Key), quote(r.Model))
		}
	}
	return price.Join(list)
}

// plausible refuses a map that lacks more than half of the models that deployments
// have list prices of now.
func (c *Catalog) plausible(next map[string]price.Row) error {
	find := func(model string) (price.Row, bool) { r, ok := next[model]; return r, ok }
	used, lacking := make(map[string]bool), 0
	example := ""
	for _, d := range c.byID.all() {
		if !d.Listed() || used[d.origin.row.Model] {
			continue
		}
		used[d.origin.row.Model] = true
		if price.Lookup(find, price.Source{Provider: d.Provider, Model: d.Model, Base: d.BaseModel}).Prices == "" {
			lacking++
			example = d.origin.row.Model
		}
	}
	if 2*lacking > len(used) {
		return fault.Field(price.Param, codeInvalid, "the price map has no prices for %d of the %d models that deployments use, such as %s; send a whole one", lacking, len(used), quote(example))
	}
	return nil
}
