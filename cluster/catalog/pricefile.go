package catalog

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// maxPriceFile is the largest price map that is read. LiteLLM's has 3 MB.
const maxPriceFile = 64 << 20

// sampleRow is an entry of LiteLLM's file that explains the others.
const sampleRow = "sample_spec"

// ParsePriceMap reads LiteLLM's model_prices_and_context_window.json. It takes the
// numbers as they are written, never as floats; what is finer than 24 decimals, which
// is the dust of somebody else's floats, is rounded there. Members that are no prices
// and no limits are passed over. The error is a *fault.Error of kind Malformed. What
// the prices are is for SetPrices to check.
func ParsePriceMap(data []byte) ([]PriceRow, error) {
	if len(data) > maxPriceFile {
		return nil, &fault.Error{Op: "catalog", Kind: fault.TooLarge, Param: paramPrices, Detail: "The price map is larger than 64 MiB."}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	var rows []PriceRow
	err := members(dec, func(model string) error {
		if model == sampleRow || dec.PeekKind() != jsontext.KindBeginObject {
			return dec.SkipValue()
		}
		f := priceFileRow{row: PriceRow{Model: model}, prices: map[string]string{}}
		if err := members(dec, func(key string) error { return f.member(dec, key) }); err != nil {
			return err
		}
		rows = f.appendTo(rows)
		return nil
	})
	if err == nil {
		_, err = dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		err = errors.Join(errTrailing, err)
	}
	return nil, &fault.Error{
		Op: "catalog", Kind: fault.Malformed, Code: codeInvalid, Param: paramPrices, Err: err,
		Detail: "The price map is not a JSON object of models, at byte " + strconv.FormatInt(dec.InputOffset(), 10) + ". Send LiteLLM's model_prices_and_context_window.json, whole.",
	}
}

var (
	errNoObject = errors.New("not an object")
	errTrailing = errors.New("something follows the object")
)

// members calls fn for each member of the object that comes next, which fn reads.
func members(dec *jsontext.Decoder, fn func(name string) error) error {
	begin, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if begin.Kind() != jsontext.KindBeginObject {
		return errNoObject
	}
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := fn(name.String()); err != nil {
			return err
		}
	}
	_, err = dec.ReadToken()
	return err
}

// priceFileRow is a model of the file on its way.
type priceFileRow struct {
	row       PriceRow
	prices    map[string]string
	maxTokens int64 // an older name of the longest answer
	tiers     []priceTier
}

// priceTier is an entry of tiered_pricing: what a request costs whose prompt is
// longer than from.
type priceTier struct {
	from   int64
	prices map[string]string
}

func (f *priceFileRow) member(dec *jsontext.Decoder, key string) error {
	switch kind := dec.PeekKind(); {
	case kind == jsontext.KindString && key == "litellm_provider":
		t, err := dec.ReadToken()
		f.row.Provider = t.String()
		return err
	case kind == jsontext.KindBeginArray && key == "tiered_pricing":
		return f.readTiers(dec)
	case kind != jsontext.KindNumber:
		return dec.SkipValue()
	}
	t, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch text := t.String(); {
	case key == "max_input_tokens":
		f.row.MaxInputTokens = wholeNumber(text)
	case key == "max_output_tokens":
		f.row.MaxOutputTokens = wholeNumber(text)
	case key == "max_tokens":
		f.maxTokens = wholeNumber(text)
	case isPriceKey(key):
		f.prices[key] = plainDecimal(text)
	}
	return nil
}

// readTiers reads tiered_pricing: a list of objects, each with the range of prompt
// lengths that it is for and the prices of those.
func (f *priceFileRow) readTiers(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() == jsontext.KindBeginObject {
		tier := priceTier{from: -1, prices: map[string]string{}}
		err := members(dec, func(key string) error {
			switch kind := dec.PeekKind(); {
			case key == "range" && kind == jsontext.KindBeginArray:
				v, err := dec.ReadValue()
				first, _, _ := strings.Cut(strings.Trim(string(v), "[] \n\t\r"), ",")
				tier.from = wholeNumber(strings.TrimSpace(first))
				return err
			case kind == jsontext.KindNumber:
				t, err := dec.ReadToken()
				tier.prices[key] = plainDecimal(t.String())
				return err
			}
			return dec.SkipValue()
		})
		if err != nil {
			return err
		}
		f.tiers = append(f.tiers, tier)
	}
	for dec.PeekKind() != jsontext.KindEndArray {
		if err := dec.SkipValue(); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// appendTo appends the row, if it says anything.
func (f *priceFileRow) appendTo(rows []PriceRow) []PriceRow {
	for _, t := range f.tiers {
		suffix := ""
		switch {
		case t.from < 0 || t.from%1000 != 0:
			continue // no key says that
		case t.from > 0:
			suffix = "_above_" + strconv.FormatInt(t.from/1000, 10) + "k_tokens"
		}
		for key, value := range t.prices {
			if _, ok := parseKey(key + suffix); !ok {
				continue
			}
			if _, given := f.prices[key+suffix]; !given {
				f.prices[key+suffix] = value
			}
		}
	}
	if f.row.MaxOutputTokens == 0 {
		f.row.MaxOutputTokens = f.maxTokens
	}
	if len(f.prices) == 0 && f.row.MaxInputTokens == 0 && f.row.MaxOutputTokens == 0 {
		return rows
	}
	for _, key := range slices.Sorted(maps.Keys(f.prices)) {
		f.row.Prices = append(f.row.Prices, Price{Key: key, Value: f.prices[key]})
	}
	return append(rows, f.row)
}

// wholeNumber reads a limit; what is not one is no limit.
func wholeNumber(text string) int64 { return count(plainDecimal(text)) }

// plainDecimal writes a number of JSON without an exponent, rounded to 24 decimals.
// What is too large for a price stays as it is.
func plainDecimal(text string) string {
	unsigned, negative := strings.CutPrefix(text, "-")
	digits, exponent, ok := decimal(unsigned)
	if !ok || exponent > rateDecimals || exponent < -512 {
		return text
	}
	digits += strings.Repeat("0", max(exponent, 0))
	places := max(-exponent, 0)
	digits = strings.Repeat("0", max(places+1-len(digits), 0)) + digits
	if cut := places - rateDecimals; cut > 0 {
		up := digits[len(digits)-cut] >= '5'
		digits, places = digits[:len(digits)-cut], rateDecimals
		if up {
			digits = plusOne(digits)
		}
	}
	whole, fraction := strings.TrimLeft(digits[:len(digits)-places], "0"), strings.TrimRight(digits[len(digits)-places:], "0")
	out := whole
	if out == "" {
		out = "0"
	}
	if fraction != "" {
		out += "." + fraction
	}
	if negative && out != "0" {
		return "-" + out
	}
	return out
}

// plusOne adds one to a decimal number.
func plusOne(digits string) string {
	out := []byte(digits)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] != '9' {
			out[i]++
			return string(out)
		}
		out[i] = '0'
	}
	return "1" + string(out)
}
