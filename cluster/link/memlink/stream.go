package memlink

import (
	"slices"
	"time"
)

// window is the number of bytes of a stream that may be in flight or unread, like the buffers
// of two sockets.
const window = 256 << 10

// stream is one direction of a connection. The network's lock guards it.
type stream struct {
	path path

	flying []segment // sent, not arrived; in order of arrival
	ready  [][]byte  // arrived, not read
	size   int       // bytes in both
	ended  bool      // the end has arrived
}

// segment is a piece of a stream in flight.
type segment struct {
	data []byte
	at   time.Time // arrival time
	end  bool      // the end of the stream
}

// send sends a segment. It arrives at its time, but not before the previous segments.
func (s *stream) send(piece segment) {
	if n := len(s.flying); n > 0 && piece.at.Before(s.flying[n-1].at) {
		piece.at = s.flying[n-1].at
	}
	s.flying = append(s.flying, piece)
	s.size += len(piece.data)
}

// deliver delivers all due segments, or none while the path is blocked.
func (s *stream) deliver(now time.Time, f *faults) {
	if f.blocked(s.path) {
		return
	}
	for len(s.flying) > 0 && !s.flying[0].at.After(now) {
		piece := s.flying[0]
		s.flying = slices.Delete(s.flying, 0, 1)
		if piece.end {
			s.ended = true
			continue
		}
		s.ready = append(s.ready, piece.data)
	}
}

// resend sends overdue segments again.
func (s *stream) resend(now time.Time, latency func() time.Duration) {
	var last time.Time
	for i := range s.flying {
		if s.flying[i].at.Before(now) {
			s.flying[i].at = now.Add(latency())
		}
		if s.flying[i].at.Before(last) {
			s.flying[i].at = last
		}
		last = s.flying[i].at
	}
}

// next returns the time of the next arrival; zero if nothing is in flight.
func (s *stream) next() time.Time {
	if len(s.flying) == 0 {
		return time.Time{}
	}
	return s.flying[0].at
}

// read reads delivered bytes.
func (s *stream) read(b []byte) int {
	n := 0
	for n < len(b) && len(s.ready) > 0 {
		m := copy(b[n:], s.ready[0])
		n += m
		if m == len(s.ready[0]) {
			s.ready = slices.Delete(s.ready, 0, 1)
		} else {
			s.ready[0] = s.ready[0][m:]
		}
	}
	s.size -= n
	return n
}
