package guard

import (
	"context"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// deepest bounds how many strings with JSON are read within each other.
const deepest = 4

// isDocument reports whether a text is JSON as a whole: an object or an array.
func isDocument(text []byte) bool {
	return isJSON(text) && jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// document takes a whole text that is JSON, such as the result of a tool. Engines that read labels see its strings, without
// escapes, and the names of its members. The others see the text as it is.
func (j *jsonText) document(ctx context.Context, text []byte) (out []byte, err error) {
	c, part := j.c, j.c.part
	defer func() { c.part = part }()
	out, j.free = text, true
	if part != unlabelled {
		c.part = labelled
		if out, err = j.push(ctx, text, true); err != nil {
			return nil, err
		}
	}
	if part != labelled {
		c.part = unlabelled
		c.begin(j.kind, j.role)
		out, err = c.push(ctx, out, true)
	}
	return out, err
}

// endString passes on the last of a string. JSON comes in strings, too, and its escapes hide what is in it.
func (j *jsonText) endString(ctx context.Context, text []byte) error {
	if !j.whole || j.depth == deepest || !isDocument(text) {
		return j.escaped(ctx, text, true)
	}
	if j.child == nil {
		j.child = &jsonText{c: j.c, depth: j.depth + 1, whole: true}
	}
	j.child.c = j.c
	j.child.begin(j.kind, j.role)
	out, err := j.child.document(ctx, text)
	j.out = appendInner(j.out, out)
	return err
}

// named notes the name of the member whose value follows.
func (j *jsonText) named(name []byte) {
	if len(j.open) == 0 {
		return
	}
	if from := len(name) - longestLabel; from > 0 { // its end says what it is
		for from < len(name) && !utf8.RuneStart(name[from]) {
			from++
		}
		name = name[from:]
	}
	l := &j.open[len(j.open)-1]
	j.names = append(j.names[:l.from], name...)
	l.to = len(j.names)
}

// label returns the label of a value: the name of its member, and what stands between them.
func (j *jsonText) label(between string) []byte {
	if len(j.open) == 0 {
		return nil
	}
	l := &j.open[len(j.open)-1]
	if l.from == l.to {
		return nil
	}
	j.tag = append(append(j.tag[:0], j.names[l.from:l.to]...), between...)
	return j.tag
}
