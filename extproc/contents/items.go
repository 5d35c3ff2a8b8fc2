package contents

import (
	"iter"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

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
