package price

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// maxKey is the longest key of a price.
const maxKey = 256

// MapRow is one model of a price map.
type MapRow struct {
	Model           string // its name in the table
	Provider        string
	MaxInputTokens  int64 // 0 if unknown
	MaxOutputTokens int64 // 0 if unknown
	Prices          []Entry
}

// Param is the name of a price map in requests and errors.
const Param = "prices"

// maxPriceFile is the largest price map that is read. LiteLLM's has 3 MB.
const maxPriceFile = 64 << 20

// sampleRow is an entry of LiteLLM's file that explains the others.
const sampleRow = "sample_spec"

// ParseMap reads LiteLLM's model_prices_and_context_window.json. It reads numbers as they are
// written, never as floats, with or without quotes. It rounds to 24 decimals, because finer ones
// are rounding errors of other programs. It ignores null, and members that are neither prices nor
// limits. A model, a price or a limit that cannot be read is an error that names it, because a
// model without a price is free. The last of two entries for one model counts, as with LiteLLM,
// whose file has had duplicates. The error consists of *fault.Errors of kind Malformed. The
// catalog checks the prices.
func ParseMap(data []byte) ([]MapRow, error) {
	if len(data) > maxPriceFile {
		return nil, &fault.Error{Op: "catalog", Kind: fault.TooLarge, Param: Param, Detail: "The price map is larger than 64 MiB."}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	var rows []MapRow
	var wrong problems
	place := map[string]int{} // of each model in rows
	err := members(dec, func(model string) error {
		if model == sampleRow {
			return dec.SkipValue()
		}
		f := priceFileRow{wrong: &wrong, row: MapRow{Model: model}, prices: map[string]string{}}
		if err := f.read(dec); err != nil {
			return err
		}
		i, twice := place[model]
		if !twice {
			i = len(rows)
			place[model], rows = i, append(rows, MapRow{})
		}
		rows[i] = f.whole()
		return nil
	})
	if err == nil {
		_, err = dec.ReadToken()
		if errors.Is(err, io.EOF) {
			if err := wrong.err(); err != nil {
				return nil, err
			}
			return slices.DeleteFunc(rows, MapRow.saysNothing), nil
		}
		err = errors.Join(errTrailing, err)
	}
	return nil, &fault.Error{
		Op: "catalog", Kind: fault.Malformed, Code: "invalid_value", Param: Param, Err: err,
		Detail: "The price map is not a JSON object of models, at byte " + strconv.FormatInt(dec.InputOffset(), 10) + ". Send LiteLLM's model_prices_and_context_window.json, whole.",
	}
}

var (
	errNoObject = errors.New("not an object")
	errTrailing = errors.New("something follows the object")
)

// members calls fn for each member of the next object. fn reads the value.
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

// plainDecimal writes a JSON number without an exponent, rounded to 24 decimals. A number that
// is too large for a price stays as it is.
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

// IsKey reports whether a key has the form of a price: one that the gateway bills, or one of a
// unit that it may bill later.
func IsKey(key string) bool {
	if _, ok := parseKey(key); ok {
		return true
	}
	plain := !strings.ContainsFunc(key, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '.'
	})
	return plain && len(key) <= maxKey && (strings.Contains(key, "cost_per_") || strings.Contains(key, "_token_cost"))
}

// maxProblems bounds the error for a price map that cannot be used.
const maxProblems = 100

// problems collects the errors of a price map, so that one run shows all of them.
type problems struct{ list []error }

func (p *problems) add(format string, args ...any) {
	if len(p.list) < maxProblems {
		p.list = append(p.list, fault.Field(Param, "invalid_value", format, args...))
	}
}

func (p *problems) err() error { return errors.Join(p.list...) }
