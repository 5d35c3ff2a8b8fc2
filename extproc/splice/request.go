package splice

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// The bounds of a request that no honest caller comes near.
const (
	maxUnknown  = 256     // top-level members that are not in the table; OpenAI has about 45 in all
	maxMessages = 100_000 // a context window of 10 million tokens does not hold more
)

// Span is the place of a value within a body: the bytes [Off, End).
type Span struct{ Off, End int }

// Empty reports whether there is no such value. No value is empty itself.
func (s Span) Empty() bool { return s.End == s.Off }

// Of returns the bytes of the span.
func (s Span) Of(body []byte) []byte { return body[s.Off:s.End] }

// member is the place of a recorded member.
type member struct {
	from  int  // the quote that opens its name
	value Span // the value alone
	prev  int  // where the member before it ended, its comma not included
	next  int  // the quote that opens the next member's name; 0 if there is none
	n     int  // how many members come before it
}

// Request is what a request says, as far as the gateway acts on it. The zero value
// is ready; Scan fills it anew each time and allocates nothing but Model, and that
// only if it differs from the one before. A Request refers
// to the body, which must not change while the Request is in use. Not for concurrent
// use while it is being filled.
type Request struct {
	Model        string // never empty, at most 256 characters
	Stream       bool
	IncludeUsage bool  // stream_options.include_usage is true
	Tools        bool  // tools is there, and neither null nor empty
	N            int64 // choices asked for, 1..128; 1 if the caller does not say
	MaxTokens    int64 // the larger of max_tokens and max_completion_tokens; 0 if not given; at most MaxTokensLimit
	MessageCount int   // how many messages there are

	body    []byte
	present FieldSet
	order   [fields]Field // the present ones as they stand in the body
	known   int           // how many there are
	usage   Span          // the value of stream_options.include_usage
	members [fields]member
}

// Has reports whether the body has the field, be it null.
func (r *Request) Has(f Field) bool { return r.present.Has(f) }

// Present returns the fields that the body has.
func (r *Request) Present() FieldSet { return r.present }

// Span returns the place of the field's value; it is empty if there is none.
func (r *Request) Span(f Field) Span {
	if !r.present.Has(f) {
		return Span{}
	}
	return r.members[f].value
}

// Raw returns the field's value as it stands in the body; nil if there is none.
func (r *Request) Raw(f Field) []byte {
	if !r.present.Has(f) {
		return nil
	}
	return r.members[f].value.Of(r.body)
}

// Scan reads the body of a chat request: model and messages must be there. The
// error is a *fault.Error of kind Malformed. If Scan fails r is not to be used.
func Scan(body []byte, r *Request) error {
	if err := r.scan(body); err != nil {
		return err
	}
	if err := r.checkMessages(); err != nil {
		return err
	}
	return r.check()
}

// ScanLoose reads the body of an endpoint without messages, such as embeddings. It
// does not look into messages if there are any; all else is as in Scan.
func ScanLoose(body []byte, r *Request) error {
	if err := r.scan(body); err != nil {
		return err
	}
	return r.check()
}

// scan goes over the whole body once and records where the fields are. What is
// wrong with JSON as such is reported before anything else that is wrong.
func (r *Request) scan(body []byte) error {
	*r = Request{body: body, N: 1, Model: r.Model}
	s := scanner{b: body}
	i := s.space(0)
	if i == len(body) {
		return fault.New(fault.Malformed, "invalid_json", "The request body is empty. Send a JSON object.")
	}
	if body[i] != '{' {
		return notObject(body, i)
	}
	end, trouble := r.object(&s, i)
	if end < 0 {
		return s.malformed(end)
	}
	if trouble != nil && trouble.stop {
		return trouble.err
	}
	if end = s.space(end); end < len(body) {
		return s.malformed(fail(end))
	}
	if i := s.badUTF8(); i >= 0 {
		return fault.New(fault.Malformed, "invalid_json", "The request body is not valid UTF-8 at byte %d.", i)
	}
	if trouble != nil {
		return trouble.err
	}
	return nil
}

// trouble is the first thing wrong with an object beside its syntax. If stop is set
// the rest of the body has not been read.
type trouble struct {
	err  error
	stop bool
}

// object reads the body's members.
func (r *Request) object(s *scanner, i int) (int, *trouble) {
	var space [24][]byte
	others := space[:0] // the names that are not in the table
	var first *trouble
	last := fields
	w := s.members(i)
	for w.next() {
		if last != fields {
			r.members[last].next = w.from
		}
		// Taken from the body and not from w, or the compiler would think that what w
		// points to outlives this call, and put the scanner on the heap.
		name := r.body[w.from+1 : w.to]
		if s.esc {
			name = bytes.Clone(w.name)
		}
		t, f := r.admit(name, others)
		if last = f; f == fields && t == nil {
			if others = append(others, name); len(others) > maxUnknown {
				return 0, tooMany("top-level fields", maxUnknown)
			}
		}
		if first == nil {
			first = t
		}
		at := w.at
		if f == Messages && s.b[at] == '[' {
			var over *trouble
			if w.at, over = r.messages(s, at); over != nil {
				return 0, over
			}
		} else {
			w.at = s.value(at)
		}
		if f != fields {
			r.members[f] = member{from: w.from, value: Span{at, w.at}, prev: w.prev, n: w.n - 1}
		}
	}
	return w.at, first
}

// admit decides on one name: it returns the field to record, or fields if there is
// none, and what is wrong with the name.
func (r *Request) admit(name []byte, others [][]byte) (*trouble, Field) {
	row, variant := classify(name)
	switch {
	case variant:
		return &trouble{err: ambiguous(name)}, fields
	case row.verdict == refuse:
		return &trouble{err: unsupported(name)}, fields
	case row.verdict == unknown:
		for _, o := range others {
			if len(o) == len(name) && bytes.Equal(o, name) {
				return &trouble{err: duplicate(name)}, fields
			}
		}
		return nil, fields
	case r.present.Has(row.field):
		return &trouble{err: duplicate(name)}, fields
	}
	r.present |= 1 << row.field
	r.order[r.known] = row.field
	r.known++
	return nil, row.field
}

// messages reads the array of messages. MessageCount becomes negative if one of
// them is not an object.
func (r *Request) messages(s *scanner, i int) (int, *trouble) {
	w := s.elements(i)
	odd := false
	for w.next() {
		if w.n > maxMessages {
			return 0, tooMany("messages", maxMessages)
		}
		odd = odd || s.b[w.at] != '{'
		w.at = s.value(w.at)
	}
	if r.MessageCount = w.n; odd {
		r.MessageCount = -1
	}
	return w.at, nil
}
