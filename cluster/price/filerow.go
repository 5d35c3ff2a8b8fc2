package price

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// priceFileRow reads one model of LiteLLM's file.
type priceFileRow struct {
	wrong     *problems
	row       MapRow
	prices    map[string]string
	maxTokens int64 // an older name of MaxOutputTokens
	tiers     []priceTier
}

// priceTier is an entry of tiered_pricing: the prices of requests whose prompt is longer than
// from. from is negative if the entry has no range.
type priceTier struct {
	from   int64
	prices map[string]string
}

// keyTiers is the member of a model with prices by the length of the prompt.
const keyTiers = "tiered_pricing"

// reject records the error for a member that cannot be read.
func (f *priceFileRow) reject(key string, v jsontext.Value, remedy string) {
	f.wrong.add("%s of the model %s is %s; %s", fault.Quote(key), fault.Quote(f.row.Model), fault.Quote(string(v)), remedy)
}

// read reads the model.
func (f *priceFileRow) read(dec *jsontext.Decoder) error {
	if dec.PeekKind() != jsontext.KindBeginObject {
		v, err := dec.ReadValue()
		if err == nil {
			f.wrong.add("the model %s is %s; write an object of its prices and limits", fault.Quote(f.row.Model), fault.Quote(string(v)))
		}
		return err
	}
	seen := map[string]bool{}
	return members(dec, func(key string) error {
		if seen[key] {
			f.wrong.add("%s of the model %s is there twice", fault.Quote(key), fault.Quote(f.row.Model))
		}
		seen[key] = true
		return f.member(dec, key)
	})
}

// member reads one member of the model.
func (f *priceFileRow) member(dec *jsontext.Decoder, key string) error {
	if key == keyTiers && dec.PeekKind() == jsontext.KindBeginArray {
		return f.readTiers(dec)
	}
	v, err := dec.ReadValue()
	if err != nil || v.Kind() == jsontext.KindNull {
		return err
	}
	switch key {
	case "litellm_provider":
		if v.Kind() != jsontext.KindString {
			f.reject(key, v, "write the name of a provider")
			break
		}
		f.row.Provider, _ = literal(v)
	case "max_input_tokens":
		f.row.MaxInputTokens = f.limit(key, v)
	case "max_output_tokens":
		f.row.MaxOutputTokens = f.limit(key, v)
	case "max_tokens":
		f.maxTokens = f.limit(key, v)
	case keyTiers:
		f.reject(key, v, "write a list of prices by the length of the prompt")
	default:
		f.price(f.prices, key, v)
	}
	return nil
}

// literal returns the text of a number or of a string.
func literal(v jsontext.Value) (text string, ok bool) {
	if v.Kind() == jsontext.KindNumber {
		return string(v), true
	}
	if v.Kind() != jsontext.KindString {
		return "", false
	}
	out, err := jsontext.AppendUnquote(nil, v)
	return string(out), err == nil
}

// limit reads a number of tokens.
func (f *priceFileRow) limit(key string, v jsontext.Value) int64 {
	text, _ := literal(v)
	n, err := strconv.ParseInt(plainDecimal(text), 10, 64)
	if err != nil || n < 0 {
		f.reject(key, v, "write a whole number of tokens, or leave it out")
	}
	return n
}

// price reads a member if it is a price. A price that the gateway does not bill may have any
// form, such as an object by the size of a search's context.
func (f *priceFileRow) price(into map[string]string, key string, v jsontext.Value) {
	text, ok := literal(v)
	switch {
	case !strings.Contains(key, "cost_per_") && !strings.Contains(key, "_token_cost"):
	case !IsKey(key):
		f.reject(key, v, "its key is not one of a price, such as input_cost_per_token")
	case ok:
		into[key] = plainDecimal(text)
	case v.Kind() != jsontext.KindBeginObject || billed(key):
		f.reject(key, v, "write dollars per unit, such as 0.0000025, or leave it out")
	}
}

// billed reports whether the price of a key is part of the cost of requests.
func billed(key string) bool {
	_, ok := parseKey(key)
	for u := range units {
		ok = ok || slices.Contains(u.keys(), key)
	}
	return ok || key == keyCacheHit || key == keyInputPixel || key == keyOutputPixel
}

// readTiers reads tiered_pricing: a list of objects, each with a range of prompt lengths and its
// prices.
func (f *priceFileRow) readTiers(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != jsontext.KindEndArray {
		if dec.PeekKind() != jsontext.KindBeginObject {
			v, err := dec.ReadValue()
			if err != nil {
				return err
			}
			f.reject(keyTiers, v, "each of its entries is an object of a range and prices")
			continue
		}
		tier := priceTier{from: -1, prices: map[string]string{}}
		if err := members(dec, func(key string) error { return f.tierMember(dec, &tier, key) }); err != nil {
			return err
		}
		f.tiers = append(f.tiers, tier)
	}
	_, err := dec.ReadToken()
	return err
}

// tierMember reads a member of an entry of tiered_pricing.
func (f *priceFileRow) tierMember(dec *jsontext.Decoder, tier *priceTier, key string) error {
	v, err := dec.ReadValue()
	switch {
	case err != nil || v.Kind() == jsontext.KindNull:
	case key != "range":
		f.price(tier.prices, key, v)
	default:
		first, _, _ := strings.Cut(strings.Trim(string(v), "[] \n\t\r"), ",")
		from, bad := strconv.ParseInt(plainDecimal(strings.TrimSpace(first)), 10, 64)
		if bad != nil || from < 0 || from%1000 != 0 || v.Kind() != jsontext.KindBeginArray {
			f.reject(keyTiers+".range", v, "it begins at a whole number of thousands of tokens, as in [128000, 256000]")
			from = 0
		}
		tier.from = from
	}
	return err
}

// whole returns the row after all of its members.
func (f *priceFileRow) whole() MapRow {
	for _, t := range f.tiers {
		suffix := ""
		if t.from > 0 {
			suffix = "_above_" + strconv.FormatInt(t.from/1000, 10) + "k_tokens"
		}
		for _, key := range slices.Sorted(maps.Keys(t.prices)) {
			_, byLength := parseKey(key + suffix)
			switch _, given := f.prices[key+suffix]; {
			case byLength && t.from >= 0 && given:
			case byLength && t.from >= 0:
				f.prices[key+suffix] = t.prices[key]
			case byLength || t.from >= 0 && billed(key):
				f.wrong.add("%s of the model %s is not billed by such a range in %s; write a range of lengths of the prompt, and prices of tokens", key, fault.Quote(f.row.Model), keyTiers)
			default: // such as a search by its number of results, which the gateway does not bill
			}
		}
	}
	if f.row.MaxOutputTokens == 0 {
		f.row.MaxOutputTokens = f.maxTokens
	}
	for _, key := range slices.Sorted(maps.Keys(f.prices)) {
		f.row.Prices = append(f.row.Prices, Entry{Key: key, Value: f.prices[key]})
	}
	return f.row
}

// saysNothing reports whether a row has neither a price nor a limit.
func (r MapRow) saysNothing() bool {
	return len(r.Prices) == 0 && r.MaxInputTokens == 0 && r.MaxOutputTokens == 0
}
