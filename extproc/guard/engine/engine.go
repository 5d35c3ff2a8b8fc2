package engine

import (
	"context"
	"slices"

	"github.com/modelgateway/modelgateway/extproc/texts"
)

// Behind is how many bytes before a place a scanner may read to decide about it, and Ahead how many
// bytes after it. What depends on more is decided on these.
const (
	Behind = 256
	Ahead  = 256
)

// Finding is a span of a text that an engine has found.
type Finding struct {
	Start, End int     // in bytes of the text
	Entity     string  // what it is, such as EMAIL_ADDRESS or aws
	Score      float32 // how certain it is, from 0 to 1

	// Action is what the engine wants done with the finding: anonymize, block or flag. It counts where the guardrail
	// leaves that to its engine.
	Action string

	// Replaced says that Replacement takes the place of the span, instead of the entity.
	Replaced    bool
	Replacement string

	// Continues says that the span goes on with the last finding of the call before. Such a span is
	// so long that its beginning was decided before its end had come.
	Continues bool
}

// Free returns the first part of what is between p and end that no finding of taken has; it is empty at end for none. taken is in
// order, without overlaps.
func Free(taken []Finding, p, end int) (start, stop int) {
	at, _ := slices.BinarySearchFunc(taken, p, func(t Finding, p int) int { return t.End - p - 1 })
	for at < len(taken) && taken[at].Start <= p {
		p = taken[at].End
		at++
	}
	if p >= end {
		return end, end
	}
	if at < len(taken) {
		end = min(end, taken[at].Start)
	}
	return p, end
}

// Engine is an engine with its settings. It never changes and is safe for concurrent use.
type Engine interface {
	// Scanner returns a scanner for the texts of one request.
	Scanner() Scanner
}

// Scanner reads the texts of one request, one after the other. It is not safe for concurrent use.
type Scanner interface {
	// Begin begins another text.
	Begin(kind texts.Kind, role texts.Role)

	// Scan looks at text from at on, and appends what it finds to found. What is before at was decided
	// by earlier calls for the same text, and at least Behind bytes of it are there, if there were so
	// many. The scanner may read them. end says that nothing follows.
	//
	// Findings are in order, do not overlap, start at or after at, and end at or before decided. Nothing
	// that may follow changes what is found before decided. The next call begins there. The text is valid UTF-8,
	// but without end its last character may be incomplete.
	//
	// decided is at most Ahead bytes before the end of text, and len(text) if end is true. A scanner of
	// a network service may hold back more. An error says that the text could not be examined.
	Scan(ctx context.Context, text []byte, at int, end bool, found []Finding) (_ []Finding, decided int, err error)

	// Fork returns a scanner for a text of the response. It knows what this one has learned so far, such as
	// the names in the request, and neither learns from the other from then on.
	Fork() Scanner

	// Reset forgets everything, for another request.
	Reset()
}

// Labelled is a Scanner that reads the label of a text: the name of the JSON member whose value it is, as in ssn": ".
// If a text has one, it is before at in the first Scan of the text. It is no part of the text, nothing is found in it, and it
// has at most Behind bytes.
type Labelled interface {
	ReadsLabels()
}

// Call says what texts belong to, for engines that ask a service.
type Call struct {
	Guardrail    string // its name
	Hook         string // pre_call or post_call; empty if it is not known
	Request      string // the id of the request; empty for a text that is in none
	Organization string
	Team         string
}

// Informed is a Scanner that is told what its texts belong to, before the first of them.
type Informed interface {
	Inform(about Call)
}
