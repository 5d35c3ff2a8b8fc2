package audit

import (
	"encoding/csv"
	"io"
	"iter"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
)

// WriteCSV writes records as a table: a line of names, and a line for each record.
// What is null is empty; lists and objects are JSON. Texts that a spreadsheet would
// take for a formula get an apostrophe before them, also within lists and objects. It stops at the first error, also
// one that comes instead of a record.
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

// cell is what a cell has for a JSON value.
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
		return harmless(string(value)) // an apostrophe within its strings leaves it JSON
	}
	return string(value)
}

// harmless is a text that no spreadsheet calculates. Formulas begin where a cell does,
// and a cell where the text does or, for spreadsheets that do not separate them by
// commas and so take no notice of our quotes, behind a semicolon, a tab or the end of a
// line. What cannot be seen before a formula does not keep it from being one.
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
	// formulas are what formulas begin with, in narrow and in wide form.
	formulas = "=+-@\uff1d\uff0b\uff0d\uff20"
	// blanks are what a cell may not begin with either: some drop them.
	blanks = "\t\r\n"
	// separators are what cells may be taken to end with.
	separators = ";" + blanks
)
