package price

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the price table
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The table is embedded compressed: 57 KB instead of 777 KB in the binary.
// prices.csv next to it is the source, for reviewers.
//
//go:generate gzip -9nkf prices.csv
//go:embed prices.csv.gz
var pricesArchive []byte

// maxPriceText bounds the size of the unpacked archive.
const maxPriceText = 8 << 20

// List is the built-in table of list prices. Load unpacks it to one sorted text (about 0.8 MB)
// instead of a structure for each of its four thousand models; it parses only the rows that
// deployments use. A process needs one List for all catalogs. It is safe for concurrent use.
type List struct {
	once sync.Once
	text string
	rows []int32 // where each row starts in text, ordered by model
	err  error
}

// Row is one line of the table. Rows are comparable.
type Row struct {
	Provider, Model     string
	MaxInput, MaxOutput int64  // 0 if unknown
	Prices              string // as Join writes them
}

// NewList returns the built-in list, not yet unpacked.
func NewList() *List { return &List{} }

// Load unpacks the table.
func (l *List) Load() error {
	l.once.Do(func() { l.text, l.rows, l.err = unpack(pricesArchive) })
	return l.err
}

func unpack(archive []byte) (text string, rows []int32, err error) {
	r, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return "", nil, fmt.Errorf("price table: %w", err)
	}
	var b strings.Builder
	b.Grow(len(archive) * 14)
	if _, err := io.Copy(&b, io.LimitReader(r, maxPriceText)); err != nil {
		return "", nil, fmt.Errorf("price table: %w", err)
	}
	text = b.String()
	for at := strings.IndexByte(text, '\n') + 1; at < len(text); {
		length := strings.IndexByte(text[at:], '\n')
		if length < 0 || strings.Count(text[at:at+length], ",") != 5 {
			return "", nil, errors.New("price table: a row is cut short or does not have 6 columns")
		}
		rows = append(rows, int32(at))
		at += length + 1
	}
	slices.SortFunc(rows, func(a, b int32) int { return strings.Compare(modelAt(text, a), modelAt(text, b)) })
	return text, rows, nil
}

// modelAt returns the second column of the row that starts at i.
func modelAt(text string, i int32) string {
	_, rest, _ := strings.Cut(text[i:], ",")
	model, _, _ := strings.Cut(rest, ",")
	return model
}

// Find returns the row of a model, by its exact name in the table.
func (l *List) Find(model string) (Row, bool) {
	i, ok := slices.BinarySearchFunc(l.rows, model, func(at int32, m string) int { return strings.Compare(modelAt(l.text, at), m) })
	if !ok {
		return Row{}, false
	}
	line, _, _ := strings.Cut(l.text[l.rows[i]:], "\n")
	f := strings.SplitN(line, ",", 6)
	return Row{Provider: f[0], Model: f[1], MaxInput: count(f[3]), MaxOutput: count(f[4]), Prices: f[5]}, true
}

// count reads a limit; anything that is not a number is no limit.
func count(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// Has reports whether any model has a price with a key, or may have one.
func (l *List) Has(key string) bool {
	if _, ok := parseKey(key); ok {
		return true
	}
	for u := range units {
		if slices.Contains(u.keys(), key) {
			return true
		}
	}
	return strings.Contains(l.text, ","+key+"=") || strings.Contains(l.text, ";"+key+"=")
}

// Finder finds the row of a model, by its exact name in the table.
type Finder func(model string) (Row, bool)

// Lookup finds the row for a deployment; the zero row if there is none. It tries of.Base before
// the model id that is sent upstream.
func Lookup(find Finder, of Source) Row {
	for _, name := range []string{of.Base, of.Model} {
		if name == "" {
			continue
		}
		for _, candidate := range []string{name, withoutRegion(name)} {
			if r, ok := find(of.Provider + "/" + candidate); ok {
				return r
			}
			if r, ok := find(candidate); ok {
				return r
			}
		}
	}
	return Row{}
}

// withoutRegion strips the region from a model id: `us.anthropic.claude-…`,
// `us-east-1/anthropic.claude-…`, `eu/gpt-4o`, `bedrock/us-east-1/…`.
func withoutRegion(model string) string {
	model = strings.TrimPrefix(model, "bedrock/")
	if head, rest, ok := strings.Cut(model, "/"); ok && isRegion(head) {
		model = rest
	}
	if head, rest, ok := strings.Cut(model, "."); ok && isRegion(head) {
		model = rest
	}
	return model
}

// isRegion reports whether s is the short name of an inference profile or a data zone, or has
// the form of a cloud region, such as eu-north-1.
func isRegion(s string) bool {
	switch s {
	case "us", "eu", "ap", "apac", "au", "jp", "ca", "sa", "me", "il", "uk", "us-gov", "global", "global-standard":
		return true
	}
	head, number, ok := strings.Cut(strings.TrimPrefix(s, "us-gov-"), "-")
	if !ok {
		return false
	}
	if strings.HasPrefix(s, "us-gov-") {
		return number != "" && number[len(number)-1] >= '0' && number[len(number)-1] <= '9'
	}
	side, number, ok := strings.Cut(number, "-")
	return ok && len(head) == 2 && len(side) >= 4 && len(number) == 1 && number[0] >= '0' && number[0] <= '9'
}

// Entries splits the last column.
func (r Row) Entries() []Entry {
	if r.Prices == "" {
		return nil
	}
	list := make([]Entry, 0, strings.Count(r.Prices, ";")+1)
	for entry := range strings.SplitSeq(r.Prices, ";") {
		key, value, _ := strings.Cut(entry, "=")
		list = append(list, Entry{Key: key, Value: value})
	}
	return list
}

// Join writes entries, sorted by key, in the form of Row.Prices.
func Join(list []Entry) string {
	var b strings.Builder
	for i, e := range list {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(e.Key + "=" + e.Value)
	}
	return b.String()
}

// Source decides the list price of a deployment. Base is its base_model; empty if it has none.
type Source struct{ Provider, Model, Base string }

// Text is equal for deployments with the same prices: those with one Source and the same own
// prices, which must be sorted.
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

// Of returns the prices of a deployment, and its row of the table. Its own prices replace those
// of the table with the same key. The error is that of a price that is not a number.
func Of(find Finder, k Source, own []Entry) (*Prices, Row, error) {
	r := Lookup(find, k)
	entries := slices.DeleteFunc(r.Entries(), func(e Entry) bool {
		return slices.ContainsFunc(own, func(o Entry) bool { return o.Key == e.Key })
	})
	prices, err := newPrices(k.Provider, append(entries, own...), pixelsOf(r.Model))
	return prices, r, err
}
