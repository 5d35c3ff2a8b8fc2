package audit

import (
	"encoding/csv"
	"io"
	"iter"
	"strings"

	"github.com/go-json-experiment/json"
)

// WriteCSV writes records as a table: a line of names, and a line for each record.
// What is null is empty; lists and objects are JSON. Texts that a spreadsheet would
// take for a formula get an apostrophe before them. It stops at the first error, also
// one that comes instead of a record.
func WriteCSV(out io.Writer, records iter.Seq2[Record, error]) error {
	w := csv.NewWriter(out)
	if err := w.Write(fields()); err != nil {
		return err
	}
	var cells []string
	for r, err := range records {
		if err != nil {
			w.Flush()
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
	}
	return string(value)
}

// harmless is a text that no spreadsheet calculates.
func harmless(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20", []rune(s)[0]) {
		return "'" + s
	}
	return s
}
