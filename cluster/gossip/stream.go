package gossip

import (
	"net"
	"sync"
)

// stream is an open stream that the transport tracks.
type stream struct {
	guarded
	transport *transport
	inbound   bool
	closing   sync.Once
}

// track adds a stream. It reports false, and leaves the stream to the caller, if there are too
// many or the transport is shut down.
func (t *transport) track(conn net.Conn, inbound bool) (*stream, bool) { //nolint:revive // flag-parameter: whose stream it is, not what to do
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.closed || inbound && t.mu.inbound >= maxStreams {
		return nil, false
	}
	s := &stream{guarded: guarded{Conn: conn}, transport: t, inbound: inbound}
	t.mu.open[s] = struct{}{}
	if inbound {
		t.mu.inbound++
	}
	return s, true
}

// Write implements net.Conn. memberlist does not close a stream whose label it could not write,
// so a failure closes it here.
func (s *stream) Write(b []byte) (int, error) {
	n, err := s.Conn.Write(b)
	if err != nil {
		_ = s.Close()
	}
	return n, err
}

// Close closes the stream.
func (s *stream) Close() error {
	s.closing.Do(func() {
		t := s.transport
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.mu.open, s)
		if s.inbound {
			t.mu.inbound--
		}
	})
	return s.Conn.Close()
}
