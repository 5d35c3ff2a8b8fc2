package splice

import (
	"bytes"
	"slices"
)

// ReplaceStrings appends to edits, which are in order, those that replace the strings in a JSON body
// that begin with prefix and are the value of a member with one of the names, at any depth. with
// returns what replaces a string, as JSON; it gets the string as it is written, without its quotes.
// What edits change already stays. The search is for the prefix alone: in a text, quotes are
// escaped, so a text that quotes such a member is not taken for one.
func ReplaceStrings(edits []Edit, body []byte, prefix string, names []string, with func(text string) string) []Edit {
	quoted := []byte(`"` + prefix)
	if !bytes.Contains(body, quoted) {
		return edits
	}
	more := len(edits)
	for from := 0; ; {
		i := bytes.Index(body[from:], quoted)
		if i < 0 {
			break
		}
		begin := from + i
		length := bytes.IndexByte(body[begin+1:], '"')
		if length < 0 {
			break
		}
		end := begin + length + 2
		inside := func(e Edit) bool { return e.Off < end && begin < e.End }
		if from = end; followsName(body[:begin], names) && !slices.ContainsFunc(edits[:more], inside) {
			edits = append(edits, Edit{Off: begin, End: end, With: with(string(body[begin+1 : end-1]))})
		}
	}
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.Off - b.Off })
	return edits
}

// followsName reports whether JSON ends with one of the names of members, and a colon.
func followsName(before []byte, names []string) bool {
	before = bytes.TrimRight(before, " \t\r\n")
	name, colon := bytes.CutSuffix(before, []byte(":"))
	name = bytes.TrimRight(name, " \t\r\n")
	return colon && slices.ContainsFunc(names, func(n string) bool {
		rest, ok := bytes.CutSuffix(name, []byte(`"`+n+`"`))
		return ok && !bytes.HasSuffix(rest, []byte(`\`))
	})
}
