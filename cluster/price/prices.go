package price

import (
	"cmp"
	"slices"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Entry is one entry of a model's prices: a key of the price table and an exact
// decimal amount of dollars.
type Entry struct{ Key, Value string }

// Prices are the prices of one model. They are immutable, and the deployments of the model share
// them. The nil Prices and the zero Prices are those of a model without prices: everything costs
// 0 and Known is false.
type Prices struct {
	list      []Entry     // sorted by key
	tables    []rateTable // by tier, and within one from the highest threshold down
	units     unitRates
	inclusive bool // a prompt of exactly the threshold has the price above it
}

// rateTable has the price of every part for requests of one tier above one threshold.
type rateTable struct {
	tier  Tier
	above int64
	rates [parts]rate
}

// keyCacheHit is an older spelling of the cache-read price.
const keyCacheHit = "input_cost_per_token_cache_hit"

// newPrices compiles a list of prices. The provider decides whether the price above a threshold
// applies to a prompt of exactly that length: only xAI's does. pixels is the size of the images
// that the list is for; 0 for any.
func newPrices(provider string, list []Entry, pixels int64) (*Prices, error) {
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	p := &Prices{list: list, inclusive: provider == "xai"}
	set, byKey := make(map[slot]rate, len(list)), make(map[string]rate, len(list))
	tiers, levels := []Tier{Standard}, []int64{0}
	for _, entry := range list {
		r, err := parseRate(entry.Value)
		if err != nil {
			return nil, err
		}
		byKey[entry.Key] = r
		if base := (slot{part: partCacheRead}); entry.Key == keyCacheHit {
			if _, own := set[base]; !own { // "cache_read…" sorts before "input…"
				set[base] = r
			}
		}
		if s, ok := parseKey(entry.Key); ok {
			set[s] = r
			tiers, levels = append(tiers, s.tier), append(levels, s.above)
		}
	}
	p.units = newUnitRates(byKey, pixels)
	if len(set) == 0 {
		return p, nil
	}
	slices.Sort(tiers)
	slices.SortFunc(levels, func(a, b int64) int { return cmp.Compare(b, a) })
	levels = slices.Compact(levels)
	for _, tier := range slices.Compact(tiers) {
		for i, above := range levels {
			p.tables = append(p.tables, newTable(set, tier, above, levels[i:]))
		}
	}
	return p, nil
}

// newTable returns the prices of all parts, including those that the list leaves out. levels are
// the thresholds that apply, the highest first and 0 last.
func newTable(set map[slot]rate, tier Tier, above int64, levels []int64) rateTable {
	t := rateTable{tier: tier, above: above}
	if _, text := set[slot{part: partOutput}]; !text {
		// A model that has a price for written images and none for text writes only images.
		if image, ok := set[slot{part: partOutputImage}]; ok {
			t.rates[partOutput] = image
		}
	}
	for p := range parts { // parents come before their children
		parent := p.parent()
		r, at, found := pick(set, slot{part: p, tier: tier}, levels)
		switch {
		case !found:
			t.rates[p] = t.rates[parent] // its own, for Input and Output
		case at == slot{part: p} && r == set[slot{part: parent}] && p != parent:
			// Its base price only repeats the parent's, so it follows the parent at
			// thresholds and in tiers, too.
			t.rates[p] = t.rates[parent]
		default:
			t.rates[p] = r
		}
	}
	return t
}

// pick returns the price for a part and a tier: the highest level first, at each level the
// tier's own price before the standard one.
func pick(set map[slot]rate, want slot, levels []int64) (r rate, at slot, found bool) {
	for _, level := range levels {
		for _, tier := range []Tier{want.tier, Standard} {
			at = slot{part: want.part, above: level, tier: tier}
			if r, found = set[at]; found {
				return r, at, true
			}
		}
	}
	return rate{}, slot{}, false
}

// Known reports whether the model has a price: for tokens or for another unit that Cost bills.
func (p *Prices) Known() bool { return p.ByToken() || p != nil && p.units.known }

// ByToken reports whether tokens of the model have a price. A model that is sold only by other
// units (images, seconds) has none.
func (p *Prices) ByToken() bool { return p != nil && len(p.tables) > 0 }

// List returns every price, sorted by key. The caller must not change it.
func (p *Prices) List() []Entry {
	if p == nil {
		return nil
	}
	return p.list
}

// PerUnit returns the cost of a count of one unit, even if Cost bills another unit. The key is
// that of the price table, such as `output_cost_per_image`. It is false if the model has no such
// price.
func (p *Prices) PerUnit(key string, count int64) (cost money.Pico, ok bool) {
	list := p.List()
	i, ok := slices.BinarySearchFunc(list, key, func(e Entry, k string) int { return strings.Compare(e.Key, k) })
	if !ok {
		return 0, false
	}
	r, err := parseRate(list[i].Value)
	return r.times(count).pico(), err == nil
}

// Cost returns the cost of an attempt. It bills every token once, at the price of its part. A
// prompt above a threshold changes the prices of the whole request. A tier without its own
// prices has those of Standard. Other units are billed too, images and time only if their tokens
// are not. Negative counts count as 0, and parts are clamped to their total, so that a wrong
// report of a provider cannot make the cost negative. The sum saturates.
func (p *Prices) Cost(t usage.Tokens, tier Tier) money.Pico {
	if p == nil {
		return 0
	}
	var sum rate
	rates := p.at(t.Input, tier)
	if rates != nil {
		input := bill(rates, partInput, t.Input, share{partCacheRead, t.CacheRead}, share{partCacheWrite, t.CacheWrite},
			share{partCacheWrite1h, t.CacheWrite1h}, share{partInputAudio, t.InputAudio}, share{partInputImage, t.InputImage})
		sum = input.plus(bill(rates, partOutput, t.Output,
			share{partReasoning, t.Reasoning}, share{partOutputAudio, t.OutputAudio}, share{partOutputImage, t.OutputImage}))
	}
	whole, thousandths := p.units.cost(t, rates)
	return sum.plus(whole).times(1000).plus(thousandths).over(1000 * yoctoPerPico)
}

// at returns the rates for a prompt with a number of tokens.
func (p *Prices) at(input int64, tier Tier) *[parts]rate {
	if !slices.ContainsFunc(p.tables, func(t rateTable) bool { return t.tier == tier }) {
		tier = Standard
	}
	for i := range p.tables {
		t := &p.tables[i]
		if t.tier == tier && (t.above == 0 || input > t.above || p.inclusive && input == t.above) {
			return &t.rates
		}
	}
	return nil
}

// share is the number of tokens of one part.
type share struct {
	part  part
	count int64
}

// bill bills a number of tokens: the shares at their own prices, and the rest at that of whole.
// If shares overlap (such as audio from the cache), the first one gets the token: providers set
// cache prices with the modality in mind.
func bill(rates *[parts]rate, whole part, total int64, shares ...share) rate {
	rest := max(total, 0)
	var sum rate
	for _, s := range shares {
		n := min(max(s.count, 0), rest)
		rest -= n
		sum = sum.plus(rates[s.part].times(n))
	}
	return sum.plus(rates[whole].times(rest))
}
