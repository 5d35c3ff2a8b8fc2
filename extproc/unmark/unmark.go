// Package unmark edits requests that are passed on to a provider of the caller's language, and whose history has reasoning of another
// provider. Such reasoning has a marked proof (package wire), which the provider would reject. A block with a proof that
// is valid at the provider loses the mark, and any other block is removed: a model goes on without what it thought.
//
// Guarantees: a request without a mark costs one search. Nothing but blocks of messages with a marked proof changes, and no
// message loses its last block.
package unmark

import (
	"iter"
	"slices"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Language is how a language writes reasoning in its messages.
type Language struct {
	// Marked reports whether a body may have a marked proof.
	Marked func(body []byte) bool
	// Proof returns where a block has a marked proof, with its quotes, and what stands there without the mark, as JSON: empty if
	// the provider takes no such proof. ok is false for another block.
	Proof func(body []byte, block splice.Span) (at splice.Span, with string, ok bool)
	// Empty is a block in place of the only one of a message.
	Empty string
}

// Append appends to edits, which are in order, those for the messages of an object of the body.
func (l *Language) Append(edits []splice.Edit, body []byte, object splice.Span) []splice.Edit {
	if !l.Marked(body) {
		return edits
	}
	before := len(edits)
	for message := range items(body, valueOf(body, object, "messages")) {
		edits = l.message(edits, body, valueOf(body, message, "content"))
	}
	own := edits[before:]
	kept := slices.DeleteFunc(edits[:before:before], func(e splice.Edit) bool { // within what is removed
		return slices.ContainsFunc(own, func(o splice.Edit) bool { return o.Off <= e.Off && e.End <= o.End })
	})
	edits = append(kept, own...)
	slices.SortStableFunc(edits, func(a, b splice.Edit) int { return a.Off - b.Off })
	return edits
}

// message appends the edits for the blocks of one message.
func (l *Language) message(edits []splice.Edit, body []byte, content splice.Span) []splice.Edit {
	blocks := slices.Collect(items(body, content))
	kept := 0
	for i, block := range blocks {
		at, with, ok := l.Proof(body, block)
		switch {
		case !ok:
			kept++
		case with != "":
			edits = append(edits, splice.Edit{Off: at.Off, End: at.End, With: with})
			kept++
		case kept > 0: // with the comma before it
			edits = append(edits, splice.Edit{Off: blocks[i-1].End, End: block.End})
		case i == len(blocks)-1:
			edits = append(edits, splice.Edit{Off: block.Off, End: block.End, With: l.Empty})
		default: // with the comma after it
			edits = append(edits, splice.Edit{Off: block.Off, End: blocks[i+1].Off})
		}
	}
	return edits
}

// valueOf returns the place of the value of an object's member; an empty one if there is none.
func valueOf(body []byte, object splice.Span, name string) (out splice.Span) {
	for other, at := range splice.Members(body, object) {
		if string(other) == name {
			out = at
		}
	}
	return out
}

// items yields the places in body of the elements of the array at a place; none of another value.
func items(body []byte, array splice.Span) iter.Seq[splice.Span] {
	return func(yield func(splice.Span) bool) {
		for one := range splice.Elements(array.Of(body)) {
			if !yield(splice.Span{Off: array.Off + one.Off, End: array.Off + one.End}) {
				return
			}
		}
	}
}
