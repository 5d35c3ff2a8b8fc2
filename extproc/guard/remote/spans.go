package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
)

// errPlace is the error for a place that a text does not have.
var errPlace = errors.New("a finding of the service has a start or an end that the text does not have: they count Unicode code points, and start is before end")

// errName is the error for a name that no entity can have.
var errName = errors.New("a finding of the service has a name that is not a capital letter and then capital letters, digits and underscores, 64 at most")

// errScore is the error for a score that is not between 0 and 1.
var errScore = errors.New("a finding of the service has a score that is not between 0 and 1")

// malformed is the error for a response that is not what it should be. It does not repeat what the service has sent.
func malformed(want string) error {
	return fmt.Errorf("the service's response is not %s", want)
}

// span is a finding as services report it. A member that is missing is nil.
type span struct {
	Entity      string
	Start, End  *int64 // in code points
	Score       *float64
	Replacement *string
}

// offsets maps code points to bytes.
type offsets struct{ at []int32 }

// read prepares offsets for a text, which has less than 2 GiB.
func (o *offsets) read(text string) {
	o.at = o.at[:0]
	for i := range text {
		o.at = append(o.at, int32(i))
	}
	o.at = append(o.at, int32(len(text)))
}

// finding returns a span as a finding in bytes.
func (o *offsets) finding(s *span, names *names) (engine.Finding, error) {
	switch last := int64(len(o.at) - 1); {
	case s.Start == nil, s.End == nil, *s.Start < 0, *s.Start >= *s.End, *s.End > last:
		return engine.Finding{}, errPlace
	case !isName(s.Entity):
		return engine.Finding{}, errName
	}
	f := engine.Finding{Start: int(o.at[*s.Start]), End: int(o.at[*s.End]), Entity: names.of(s.Entity), Score: 1}
	if s.Score != nil {
		if !(*s.Score >= 0 && *s.Score <= 1) {
			return engine.Finding{}, errScore
		}
		f.Score = float32(*s.Score)
	}
	if s.Replacement != nil {
		f.Replaced, f.Replacement = true, *s.Replacement
	}
	return f, nil
}

// within cuts a finding to the text from a place on, from which it then counts, and reports whether anything is left.
func within(f *engine.Finding, from int) bool {
	f.Start, f.End = max(f.Start-from, 0), f.End-from
	return f.Start < f.End
}

// apart sorts findings, and gives each byte to one of those that have it: the longest, then that with the highest score, then the first
// by name. What the others have besides stays theirs, so every byte of a finding is in one.
func apart(found []engine.Finding) []engine.Finding {
	slices.SortFunc(found, func(a, b engine.Finding) int {
		switch {
		case a.End-a.Start != b.End-b.Start:
			return b.End - b.Start - a.End + a.Start
		case a.Score != b.Score:
			if a.Score > b.Score {
				return -1
			}
			return 1
		case a.Entity != b.Entity:
			return strings.Compare(a.Entity, b.Entity)
		case a.Start != b.Start:
			return a.Start - b.Start
		}
		return strings.Compare(a.Replacement, b.Replacement)
	})
	var out []engine.Finding
	for _, f := range found {
		for p := f.Start; p < f.End; {
			part := f
			part.Start, part.End = engine.Free(out, p, f.End)
			p = part.End
			if part.Start < part.End {
				at, _ := slices.BinarySearchFunc(out, part.Start, func(t engine.Finding, start int) int { return t.Start - start })
				out = slices.Insert(out, at, part)
			}
		}
	}
	return out
}

// valid reports whether a replacement can take the place of a span of a text.
func valid(replacement string) bool {
	return len(replacement) <= maxReplacement && utf8.ValidString(replacement)
}

// maxReplacement bounds a replacement, in bytes.
const maxReplacement = 16 << 10
