package splice

import (
	"encoding/binary"
	"math/bits"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// bom is allowed at the start of an event stream, but not in JSON.
const bom = "\xef\xbb\xbf"

// DefaultMaxEvent is the default limit of an event: 16 MiB. The longest legitimate ones carry
// images in base64.
const DefaultMaxEvent = 16 << 20

// maxKept is the largest memory that a Splitter keeps for its next stream.
const maxKept = 64 << 10

// Event is one event of a stream. Its slices are valid until the next call of its Splitter.
type Event struct {
	Raw     []byte // from the first line to the blank line; never empty
	Data    []byte // the content of the data lines, joined by line feeds
	Type    []byte // the content of the event line; nil if there is none
	HasData bool   // has a data line; comments and pings have none
	Plain   bool   // has only data lines: no type, id, retry time or comment
	DataAt  int    // index of Data in Raw; -1 for several joined data lines or none
	lead    int    // bytes of a byte order mark at the start of Raw
}

// place is the position of a Splitter within the syntax of a stream.
type place uint8

const (
	atStart     place = iota // only a part of a byte order mark has been read
	atLine                   // at the beginning of a line
	inLine                   // within a line
	afterCR                  // a carriage return ended a line; a line feed may follow
	afterLastCR              // the same, after the blank line that ends the event
)

// Splitter splits an event stream, in chunks of any size, into its events. Lines may end with
// LF, CR or CRLF. An event within one chunk is returned as a part of that chunk. An incomplete
// event at the end of a chunk is copied and held back. So is an event that ends with a bare CR,
// until the next byte is known, because the result must not depend on the chunks.
//
//	s.Push(chunk)
//	for s.Next(&e) { … }
//	// at the end of the stream:
//	for s.Last(&e) { … }
//	err := s.Err()
//
// The zero value is ready. It is not safe for concurrent use.
type Splitter struct {
	MaxEvent int // largest event in bytes; 0 means DefaultMaxEvent

	chunk []byte // pushed and not yet returned
	held  []byte // the beginning of an incomplete event
	join  []byte // memory for data of several lines
	place place
	marks int  // bytes of the byte order mark read so far
	spent bool // the last call returned held
	begun bool // an event has been returned, so no byte order mark can follow
	err   error
}

// Push adds the next chunk. All events of the previous one must have been read. The chunk must
// not change until Next has returned false.
func (s *Splitter) Push(chunk []byte) { s.chunk = chunk }

// Next stores the next complete event in e, and reports whether there is one.
func (s *Splitter) Next(e *Event) bool {
	if s.err != nil {
		return false
	}
	if s.spent {
		s.held, s.spent = s.held[:0], false
	}
	end, found := s.boundary()
	if len(s.held)+end > s.most() {
		s.err = fault.New(fault.Upstream, "event_too_large", "The provider sent an event of more than %d bytes.", s.most())
		s.chunk, s.held = nil, nil
		return false
	}
	raw := s.chunk[:end]
	s.chunk = s.chunk[end:]
	if !found || len(s.held) > 0 {
		s.held = append(s.held, raw...)
		raw = s.held
	}
	if !found {
		return false
	}
	s.spent = len(s.held) > 0
	s.event(e, raw)
	return true
}

// Last is Next for the end of the stream: it also returns an event without a final blank line.
// The standard drops such an event, but providers rely on it.
func (s *Splitter) Last(e *Event) bool {
	if s.Next(e) {
		return true
	}
	if s.err != nil || len(s.held) == 0 {
		return false
	}
	s.spent = true
	s.event(e, s.held)
	return true
}

// Held returns the number of bytes held back.
func (s *Splitter) Held() int {
	if s.spent {
		return 0
	}
	return len(s.held)
}

// Err returns the error that stopped the Splitter: an event was too long. It is a *fault.Error
// of kind Upstream.
func (s *Splitter) Err() error { return s.err }

// Reset prepares the Splitter for another stream. It keeps its memory, except for the memory of
// a very large event.
func (s *Splitter) Reset() {
	held, join := s.held[:0], s.join[:0]
	if cap(held) > maxKept {
		held = nil
	}
	if cap(join) > maxKept {
		join = nil
	}
	*s = Splitter{MaxEvent: s.MaxEvent, held: held, join: join}
}

func (s *Splitter) most() int {
	if s.MaxEvent > 0 {
		return s.MaxEvent
	}
	return DefaultMaxEvent
}

// boundary scans the chunk up to the end of an event, and reports whether it has found one. It
// reads each byte once, for any chunks.
func (s *Splitter) boundary() (end int, found bool) {
	b := s.chunk
	for i := 0; ; {
		if i == len(b) {
			return i, false
		}
		switch s.place {
		case atStart:
			if s.marks < len(bom) && b[i] == bom[s.marks] {
				s.marks++
				i++
			} else if s.place = atLine; s.marks%len(bom) != 0 {
				s.place = inLine // not a complete mark, so it is the beginning of a line
			}
		case afterLastCR:
			if b[i] == '\n' {
				i++
			}
			s.place = atLine
			return i, true
		case afterCR:
			if b[i] == '\n' {
				i++
			}
			s.place = atLine
		case atLine:
			switch b[i] {
			case '\n':
				return i + 1, true
			case '\r':
				s.place = afterLastCR
				i++
			default:
				s.place = inLine
			}
		case inLine:
			if i += lineEnd(b[i:]); i == len(b) {
				return i, false
			}
			if s.place = afterCR; b[i] == '\n' {
				s.place = atLine
			}
			i++
		}
	}
}

// lineEnd returns the index of the first CR or LF in b, or len(b). Two calls of bytes.IndexByte
// would be faster on long lines. But in a stream with only one of the two bytes, the call for
// the other one would read to the end for each line.
func lineEnd(b []byte) int {
	const feeds = '\n' * lanes
	const returns = '\r' * lanes
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if m := (((x ^ feeds) - lanes) | ((x ^ returns) - lanes)) &^ x & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && b[i] != '\n' && b[i] != '\r' {
		i++
	}
	return i
}

// event parses the lines of one event.
func (s *Splitter) event(e *Event, raw []byte) {
	*e = Event{Raw: raw, DataAt: -1, Plain: true}
	if !s.begun && len(raw) >= len(bom) && string(raw[:len(bom)]) == bom {
		e.lead = len(bom)
	}
	s.begun = true
	for at := e.lead; at < len(raw); {
		line := field(raw, at)
		switch string(raw[line.from:line.colon]) {
		case "data":
			value := raw[line.value:line.end]
			switch {
			case !e.HasData:
				e.HasData, e.Data, e.DataAt = true, value, line.value
			case e.DataAt >= 0:
				s.join = append(append(append(s.join[:0], e.Data...), '\n'), value...)
				e.DataAt = -1
			default:
				s.join = append(append(s.join, '\n'), value...)
			}
		case "event":
			e.Type, e.Plain = raw[line.value:line.end], false
		default:
			e.Plain = e.Plain && line.from == line.end
		}
		at = line.next
	}
	if e.HasData && e.DataAt < 0 {
		e.Data = s.join
	}
}

// line has the positions of the parts of a line.
type line struct {
	from  int // start
	colon int // end of the field's name
	value int // start of the value
	end   int // end of the value
	next  int // start of the next line
}

// field splits the line at i. A comment is a line with an empty name.
func field(raw []byte, i int) line {
	l := line{from: i, end: i + lineEnd(raw[i:])}
	l.next = l.end
	if l.next < len(raw) {
		l.next++
		if raw[l.end] == '\r' && l.next < len(raw) && raw[l.next] == '\n' {
			l.next++
		}
	}
	for l.colon = i; l.colon < l.end && raw[l.colon] != ':'; {
		l.colon++
	}
	if l.value = l.colon; l.value < l.end {
		if l.value++; l.value < l.end && raw[l.value] == ' ' {
			l.value++
		}
	}
	return l
}

// Rewrite appends the event to dst with new data. Other lines and the form of the data line
// stay. Data with line feeds takes several lines.
func (e *Event) Rewrite(dst, data []byte) []byte {
	if e.DataAt >= 0 && lineEnd(data) == len(data) {
		dst = append(dst, e.Raw[:e.DataAt]...)
		dst = append(dst, data...)
		return append(dst, e.Raw[e.DataAt+len(e.Data):]...)
	}
	done := false
	dst = append(dst, e.Raw[:e.lead]...)
	for at := e.lead; at < len(e.Raw); {
		l := field(e.Raw, at)
		switch {
		case string(e.Raw[l.from:l.colon]) != "data":
			dst = append(dst, e.Raw[l.from:l.next]...)
		case !done:
			done = true
			dst = appendLines(dst, data)
		}
		at = l.next
	}
	return dst
}

// AppendData appends an event that only has data.
func AppendData(dst, data []byte) []byte { return append(appendLines(dst, data), '\n') }

// appendLines appends data as data lines.
func appendLines(dst, data []byte) []byte {
	for {
		i := lineEnd(data)
		dst = append(dst, "data: "...)
		dst = append(dst, data[:i]...)
		dst = append(dst, '\n')
		if i == len(data) {
			return dst
		}
		if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			i++
		}
		data = data[i+1:]
	}
}

// IsDone reports whether an event's data is the end marker of OpenAI's streams.
func IsDone(data []byte) bool {
	s := scanner{b: data}
	i := s.space(0)
	return len(data) >= i+6 && string(data[i:i+6]) == "[DONE]" && s.space(i+6) == len(data)
}
