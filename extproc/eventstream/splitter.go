package eventstream

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Media is the content type of the streams.
const Media = "application/vnd.amazon.eventstream"

// MaxFrame is the limit of a frame: 16 MiB, like that of other events.
const MaxFrame = 16 << 20

// Sizes of the parts of a frame.
const (
	preludeSize  = 12 // length of the frame, length of its headers, checksum of both
	checksumSize = 4
	leastFrame   = preludeSize + checksumSize
)

// maxKept is the largest memory that a Splitter keeps after a long frame.
const maxKept = 64 << 10

// Splitter splits a stream, in pieces of any size, into its events. The Type of an event is that of its frame; that of an
// exception or error ends with Exception. Raw is the event as a server-sent one, if Sent or Chunks is set. Its use is that of
// splice.Splitter. The zero value is ready. It is not safe for concurrent use.
type Splitter struct {
	// Chunks says that the stream is one of InvokeModelWithResponseStream: the events are those that a
	// model's own API has, in frames of the type chunk, and frames of other types have no data.
	Chunks bool
	// Sent says that events go to a caller, so that each has its Raw. With Chunks they always have it.
	Sent bool

	piece []byte // pushed and not yet read
	held  []byte // the beginning of an incomplete frame
	total int    // length of the frame that held begins; 0 while its prelude is incomplete
	spent bool   // the last call returned held
	inner []byte // memory of a chunk's bytes
	raw   []byte // memory of Raw
	kind  []byte // memory of Type
	err   error
}

// Push adds the next piece. All events of the previous one must have been read. The piece must not change
// until Next has returned false.
func (s *Splitter) Push(piece []byte) { s.piece = piece }

// Next stores the next complete event in e, and reports whether there is one. It is valid until the next call.
func (s *Splitter) Next(e *splice.Event) bool {
	frame := s.frame()
	if frame == nil {
		return false
	}
	var h headers
	if s.err = h.read(frame); s.err == nil {
		s.err = s.event(e, &h)
	}
	if s.err != nil {
		s.piece, s.held = nil, nil
	}
	return s.err == nil
}

// Last is Next for the end of the stream. An incomplete frame is no event.
func (s *Splitter) Last(e *splice.Event) bool { return s.Next(e) }

// Held returns the number of bytes held back.
func (s *Splitter) Held() int {
	if s.spent {
		return 0
	}
	return len(s.held)
}

// Err returns the error that stopped the Splitter: a frame is damaged or too long. It is a *fault.Error of kind
// Upstream.
func (s *Splitter) Err() error { return s.err }

// frame returns the next complete frame; nil if there is none yet.
func (s *Splitter) frame() []byte {
	if s.err != nil {
		return nil
	}
	if s.spent {
		if s.held, s.spent = s.held[:0], false; cap(s.held) > maxKept {
			s.held = nil
		}
	}
	if s.total == 0 {
		prelude := s.gather(preludeSize)
		if prelude == nil {
			return nil
		}
		if s.total, s.err = lengthOf(prelude); s.err != nil {
			s.piece, s.held = nil, nil
			return nil
		}
	}
	frame := s.gather(s.total)
	if frame == nil {
		return nil
	}
	s.spent = len(s.held) > 0
	if !s.spent {
		s.piece = s.piece[s.total:]
	}
	s.total = 0
	return frame
}

// gather returns the first n bytes of the current frame, of the piece alone if nothing is held. If they are not
// there yet it holds what there is, and returns nil.
func (s *Splitter) gather(n int) []byte {
	if len(s.held) == 0 && len(s.piece) >= n {
		return s.piece[:n]
	}
	missing := min(max(n-len(s.held), 0), len(s.piece))
	s.held = append(s.held, s.piece[:missing]...)
	s.piece = s.piece[missing:]
	if len(s.held) < n {
		return nil
	}
	return s.held[:n]
}

// lengthOf returns the length of a frame by its prelude.
func lengthOf(prelude []byte) (int, error) {
	total, headers := binary.BigEndian.Uint32(prelude), binary.BigEndian.Uint32(prelude[4:])
	switch {
	case crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]):
		return 0, damaged("the checksum of a prelude is wrong")
	case total > MaxFrame:
		return 0, fault.New(fault.Upstream, "event_too_large", "The provider sent an event of more than %d bytes.", MaxFrame)
	case total < leastFrame:
		return 0, damaged("a frame is shorter than its own head")
	case headers > total-leastFrame:
		return 0, damaged("the headers of a frame are longer than the frame")
	}
	return int(total), nil
}

// damaged is the error of a stream that is no stream of events.
func damaged(why string) error {
	return fault.New(fault.Upstream, "upstream_invalid_response", "The provider's event stream is damaged: %s.", why)
}
