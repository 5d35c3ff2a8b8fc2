package audit

import (
	"encoding/csv"
	"io"
	"iter"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
)

// WriteCSV writes records as a table: a header and a line for each record. null is empty; lists
// and objects are JSON. An apostrophe precedes texts that a spreadsheet would treat as a
// formula, also within lists and objects. It stops at the first error, including an error from
// records.
func WriteCSV(out io.Writer, records iter.Seq2[Record, error]) error {
	w := csv.NewWriter(out)
	if err := w.Write(fields()); err != nil {
		return err
	}
	var cells []string
	for r, err := range records {
		if err != nil {
			return err
		}
		cells = cells[:0]
		for _, f := range r.Fields() {
			cells = append(cells, cell(f.Value))
		}
		if err := w.Write(cells); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

// cell returns the cell of a JSON value.
func cell(value []byte) string {
	switch value[0] {
	case 'n':
		return ""
	case '"':
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return ""
		}
		return harmless(s)
	case '{', '[':
		return harmless(string(value)) // an apostrophe within its strings keeps it JSON
	}
	return string(value)
}

// harmless returns a text that no spreadsheet evaluates. A formula begins where a cell begins,
// which is where the text begins. Spreadsheets with another separator than the comma ignore our
// quotes: for them a cell also begins after a semicolon, a tab or the end of a line. Invisible
// characters before a formula do not make it harmless.
func harmless(s string) string {
	if !strings.ContainsAny(s, formulas) && !strings.ContainsAny(s, blanks) {
		return s
	}
	var out strings.Builder
	begins := true
	for i, c := range s {
		switch {
		case begins && (strings.ContainsRune(formulas, c) || i == 0 && strings.ContainsRune(blanks, c)):
			out.WriteByte('\'')
			begins = strings.ContainsRune(separators, c)
		case begins && (unicode.IsSpace(c) || unicode.Is(unicode.C, c)):
		default:
			begins = strings.ContainsRune(separators, c)
		}
		out.WriteRune(c)
	}
	return out.String()
}

const (
	// formulas are the first characters of formulas, narrow and wide.
	formulas = "=+-@\uff1d\uff0b\uff0d\uff20"
	// blanks must not begin a cell either, because some spreadsheets drop them.
	blanks = "\t\r\n"
	// separators are the possible ends of a cell.
	separators = ";" + blanks
)
