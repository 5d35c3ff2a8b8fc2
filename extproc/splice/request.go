package splice

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Limits far above any legitimate request.
const (
	maxUnknown  = 256     // unknown top-level members; OpenAI has about 45 members in total
	maxMessages = 100_000 // a context window of 10 million tokens does not hold more
	maxInputs   = 50_000  // OpenAI takes 2,048 embeddings at once
)

// Span is the position of a value within a body: the bytes [Off, End).
type Span struct{ Off, End int }

// Empty reports whether the value is missing. An existing value is never empty.
func (s Span) Empty() bool { return s.End == s.Off }

// Of returns the bytes of the span.
func (s Span) Of(body []byte) []byte { return body[s.Off:s.End] }

// member is the position of a recorded member. Its offsets are 32 bits wide, because every
// request in flight has room for all fields: a body is shorter than 4 GiB.
type member struct {
	from     uint32 // the opening quote of its name
	off, end uint32 // the value
	prev     uint32 // end of the previous member, without its comma
	next     uint32 // the opening quote of the next name; 0 if there is none
	n        uint32 // number of members before it
}

// value returns the position of the value.
func (m *member) value() Span { return Span{int(m.off), int(m.end)} }

// Request is the part of a request that the gateway needs. The zero value is ready. Scan resets
// it and allocates only for a Model that differs from the previous one. A Request refers to the
// body, which must not change while it is in use. It is not safe for concurrent use during a
// scan.
type Request struct {
	PathModel string // the model that the request's path names, which decides; set before Scan, empty if it names none
	Streams   bool   // the request's path says that the response streams; set before a scan
	Boundary  string // of a form, as form.Boundary returns it; set before ScanForm
	NoModel   bool   // the body may lack a model, which then is empty; set before Scan

	OwnModel     bool   // the model is in the path alone: the body has none
	Model        string // at most 256 characters; empty only with NoModel
	Stream       bool
	IncludeUsage bool  // stream_options.include_usage is true
	Tools        bool  // tools exists and is neither null nor empty
	N            int64 // requested choices, 1 to 128; 1 by default
	MaxTokens    int64 // the larger of max_tokens and max_completion_tokens; 0 if not given; at most MaxTokensLimit
	MessageCount int   // number of messages
	Inputs       int   // number of inputs that ScanInputs has found

	body    []byte
	form    *multipart // nil for a JSON body
	start   int        // of the object: its opening brace
	present FieldSet
	order   [fields]Field // the present fields in the order of the body
	known   int           // number of entries in order
	usage   Span          // the value of stream_options.include_usage
	members [fields]member
}

// Has reports whether the body has the field, even if it is null.
func (r *Request) Has(f Field) bool { return r.present.Has(f) }

// Present returns the fields in the body.
func (r *Request) Present() FieldSet { return r.present }

// Span returns the position of the field's value; empty if it is missing.
func (r *Request) Span(f Field) Span {
	if !r.present.Has(f) {
		return Span{}
	}
	return r.members[f].value()
}

// Raw returns the bytes of the field's value; nil if it is missing.
func (r *Request) Raw(f Field) []byte {
	if !r.present.Has(f) {
		return nil
	}
	return r.members[f].value().Of(r.body)
}

// Scan reads the body of a chat request, which must have model and messages. The error is a
// *fault.Error of kind Malformed. After an error r is invalid.
func Scan(body []byte, r *Request) error {
	if err := r.scan(body); err != nil {
		return err
	}
	if err := r.checkMessages(); err != nil {
		return err
	}
	return r.check()
}

// ScanModel reads the body of a request that must have a model only. Otherwise it is like Scan.
func ScanModel(body []byte, r *Request) error {
	if err := r.scan(body); err != nil {
		return err
	}
	return r.check()
}

// ScanInputs returns a function that reads the body of a request that must have a model and some
// fields. Each is a text or an array: the elements of the last one are the inputs. An array of
// numbers is one input, of tokens. Otherwise it is like Scan.
func ScanInputs(of ...Field) func(body []byte, r *Request) error {
	return func(body []byte, r *Request) error {
		if err := ScanModel(body, r); err != nil {
			return err
		}
		for _, f := range of {
			if err := r.checkInputs(f); err != nil {
				return err
			}
		}
		return nil
	}
}

// Valid returns the error of a scan for a body that is no JSON object, or that two readers could read
// differently.
func Valid(body []byte) error {
	var r Request
	return r.scan(body)
}

// scan reads the whole body once and records the positions of the fields. Invalid JSON is
// reported before any other error.
func (r *Request) scan(body []byte) error {
	*r = Request{body: body, N: 1, Model: r.Model, PathModel: r.PathModel, Streams: r.Streams, Boundary: r.Boundary, NoModel: r.NoModel}
	s := scanner{b: body}
	i := s.space(0)
	if i == len(body) {
		return fault.New(fault.Malformed, "invalid_json", "The request body is empty. Send a JSON object.")
	}
	if body[i] != '{' {
		return notObject(body, i)
	}
	r.start = i
	end, violation := r.object(&s, i)
	if end < 0 {
		return s.malformed(end)
	}
	if violation != nil && violation.stop {
		return violation.err
	}
	if end = s.space(end); end < len(body) {
		return s.malformed(fail(end))
	}
	if i := s.badUTF8(); i >= 0 {
		return fault.New(fault.Malformed, "invalid_json", "The request body is not valid UTF-8 at byte %d.", i)
	}
	if violation != nil {
		return violation.err
	}
	return nil
}

// violation is the first non-syntax error of an object. With stop, the rest of the body has not
// been read.
type violation struct {
	err  error
	stop bool
}

// object reads the members of the body.
func (r *Request) object(s *scanner, i int) (int, *violation) {
	var space [24][]byte
	others := space[:0] // names that are not in the table
	var first *violation
	last := fields
	w := s.members(i)
	for w.next() {
		if last != fields {
			r.members[last].next = uint32(w.from)
		}
		// Sliced from the body and not from w. Otherwise escape analysis would put the scanner
		// on the heap.
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
			var over *violation
			if w.at, over = r.messages(s, at); over != nil {
				return 0, over
			}
		} else {
			w.at = s.value(at)
		}
		if f != fields {
			r.members[f] = member{from: uint32(w.from), off: uint32(at), end: uint32(w.at), prev: uint32(w.prev), n: uint32(w.n - 1)}
		}
	}
	return w.at, first
}

// admit checks a name. It returns the field to record, or fields if there is none, and the
// violation, if any.
func (r *Request) admit(name []byte, others [][]byte) (*violation, Field) {
	row, variant := classify(name)
	switch {
	case variant:
		return &violation{err: ambiguous(name)}, fields
	case row.verdict == reject:
		return &violation{err: unsupported(name)}, fields
	case row.verdict == unknown:
		for _, o := range others {
			if len(o) == len(name) && bytes.Equal(o, name) {
				return &violation{err: duplicate(name)}, fields
			}
		}
		return nil, fields
	case r.present.Has(row.field):
		return &violation{err: duplicate(name)}, fields
	}
	r.present |= 1 << row.field
	r.order[r.known] = row.field
	r.known++
	return nil, row.field
}

// messages reads the array of messages. MessageCount becomes negative if an element is not an
// object.
func (r *Request) messages(s *scanner, i int) (int, *violation) {
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
