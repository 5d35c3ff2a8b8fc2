package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

// member is a member of an object, in the order in which it came.
type member struct {
	name  string
	value jsontext.Value
}

// print shows an answer as a table, or a single record as a list of its fields.
func (c *command) print(cmd *cobra.Command, answer jsontext.Value) error {
	out := cmd.OutOrStdout()
	about := answer
	var rest []member
	if members, err := membersOf(answer); err == nil && c.words.Rows != "" {
		for _, m := range members {
			if m.name == c.words.Rows {
				about = m.value
				continue
			}
			rest = append(rest, m)
		}
	}
	var rows []jsontext.Value
	switch {
	case about.Kind() == '[' && json.Unmarshal(about, &rows) == nil && c.words.Columns != nil:
		if err := table(out, c.words.Columns, rows); err != nil {
			return err
		}
		note(cmd.ErrOrStderr(), rest, len(rows))
		return nil
	case about.Kind() == '{':
		return record(out, about)
	}
	return record(out, answer)
}

// note returns what the response of a list has besides the list: the total number.
func note(w io.Writer, rest []member, shown int) {
	for _, m := range rest {
		if m.name == "total_count" || m.name == "total" {
			if total := text(m.value); total != fmt.Sprint(shown) {
				_, _ = fmt.Fprintf(w, "%d of %s\n", shown, total)
			}
		}
	}
}

func table(out io.Writer, columns []string, rows []jsontext.Value) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	heads := make([]string, len(columns))
	for i, c := range columns {
		heads[i] = strings.ToUpper(c[strings.LastIndexByte(c, '.')+1:])
	}
	_, _ = fmt.Fprintln(w, strings.Join(heads, "\t"))
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, c := range columns {
			if row.Kind() != '{' && i == 0 { // a list of names
				cells[i] = text(row)
				continue
			}
			cells[i] = cell(at(row, strings.Split(c, ".")))
		}
		_, _ = fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t "))
	}
	return w.Flush()
}

// record shows the members of an object that have something, one a line.
func record(out io.Writer, v jsontext.Value) error {
	members, err := membersOf(v)
	if err != nil {
		_, err := fmt.Fprintln(out, text(v))
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, m := range members {
		if empty(m.value) {
			continue
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\n", m.name, text(m.value))
	}
	return w.Flush()
}

// membersOf returns an object's members in their order.
func membersOf(v jsontext.Value) ([]member, error) {
	d := jsontext.NewDecoder(strings.NewReader(string(v)))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, fmt.Errorf("no object")
	}
	var out []member
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		text := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		out = append(out, member{text, value.Clone()})
	}
	return out, nil
}

// at returns a member of a member. Of a list it is that of each of its elements.
func at(v jsontext.Value, path []string) jsontext.Value {
	if len(path) == 0 {
		return v
	}
	if v.Kind() == '[' {
		var list []jsontext.Value
		if json.Unmarshal(v, &list) != nil {
			return nil
		}
		for i, e := range list {
			list[i] = at(e, path)
		}
		list = slices.DeleteFunc(list, func(e jsontext.Value) bool { return e == nil })
		out, err := json.Marshal(list)
		if err != nil {
			return nil
		}
		return out
	}
	members, err := membersOf(v)
	if err != nil {
		return nil
	}
	for _, m := range members {
		if m.name == path[0] {
			return at(m.value, path[1:])
		}
	}
	return nil
}

// empty reports whether a value says nothing: null, no, nothing in it.
func empty(v jsontext.Value) bool {
	switch string(v) {
	case "null", `""`, "false", "[]", "{}", "0":
		return true
	}
	return len(v) == 0
}

// mostInCell is how long a cell of a table may be. JSON has it all.
const mostInCell = 64 // a hash

func cell(v jsontext.Value) string {
	if empty(v) {
		return "-"
	}
	s := []rune(text(v))
	if len(s) > mostInCell {
		return string(s[:mostInCell-1]) + "…"
	}
	return string(s)
}

// text is a value for people: texts without quotes, lists with commas. What could
// move a terminal's cursor is shown as it is written in Go.
func text(v jsontext.Value) string {
	var s string
	if v.Kind() == '"' && json.Unmarshal(v, &s) == nil {
		return printable(s)
	}
	var list []jsontext.Value
	if v.Kind() != '[' || json.Unmarshal(v, &list) != nil {
		return string(v)
	}
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = text(e)
	}
	return strings.Join(parts, ",")
}

func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			_, _ = fmt.Fprintf(&b, "\\x%02x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
