package evaluate

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// longestLine is the size of the longest line of a set in bytes.
const longestLine = 16 << 20

// Span is a labelled part of a text, in bytes.
type Span struct {
	Start, End int
	Entity     string
}

// Example is a labelled text. Its spans are in order.
type Example struct {
	Text  string
	Spans []Span
}

// Read reads a set: a line for each example, {"text": "…", "spans": [[start, end, "ENTITY"], …]}. Start and end
// are in code points, as other tools count them.
func Read(r io.Reader) ([]Example, error) {
	const op = "evaluate.Read"
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	var out []Example
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		e, err := parse(lines.Bytes())
		if err != nil {
			return nil, &fault.Error{Op: op, Kind: fault.Malformed, Detail: fmt.Sprintf("line %d: %v", n, err)}
		}
		out = append(out, e)
	}
	if err := lines.Err(); err != nil {
		return nil, &fault.Error{Op: op, Kind: fault.Malformed, Detail: "a line of the set cannot be read; it may have at most 16 MiB", Err: err}
	}
	if len(out) == 0 {
		return nil, &fault.Error{Op: op, Kind: fault.Malformed, Detail: "the set has no examples; write one JSON object with text and spans on each line"}
	}
	return out, nil
}

// line is an example as it is written.
type line struct {
	Text  *string  `json:"text"`
	Spans []marked `json:"spans"`
}

type marked struct {
	start, end int
	entity     string
}

// UnmarshalJSONFrom reads a span from an array.
func (m *marked) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var parts [3]jsontext.Value
	if err := json.UnmarshalDecode(d, &parts); err != nil {
		return errSpan
	}
	for i, into := range []any{&m.start, &m.end, &m.entity} {
		if json.Unmarshal(parts[i], into) != nil {
			return errSpan
		}
	}
	return nil
}

var (
	errLine = fmt.Errorf(`write an object with text and spans, such as {"text": "I am Ann", "spans": [[5, 8, "PERSON"]]}`)
	errSpan = fmt.Errorf(`a span must be [start, end, "ENTITY"], with start and end in code points`)
	errPart = fmt.Errorf("a span must be within the text, not be empty, and not overlap another one")
)

func parse(b []byte) (Example, error) {
	var l line
	if err := json.Unmarshal(b, &l); err != nil || l.Text == nil {
		return Example{}, errLine
	}
	e := Example{Text: *l.Text}
	slices.SortFunc(l.Spans, func(a, b marked) int { return a.start - b.start })
	at, points := 0, 0 // where point number points is
	place := func(point int) (int, bool) {
		for ; points < point && at < len(e.Text); points++ {
			_, size := utf8.DecodeRuneInString(e.Text[at:])
			at += size
		}
		return at, points == point
	}
	for _, m := range l.Spans {
		start, ok := place(m.start)
		end, also := place(m.end)
		if !ok || !also || start >= end || m.entity == "" {
			return Example{}, errPart
		}
		e.Spans = append(e.Spans, Span{Start: start, End: end, Entity: m.entity})
	}
	return e, nil
}
