package gossip

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Network connects this node with others. Its methods are safe for concurrent use. Addresses
// are host:port; host may be a name.
type Network interface {
	// Address is the address of this node for others, for streams and packets.
	Address() string
	// Listener accepts the streams of other nodes. Gossip closes it when Run ends. ReadPacket
	// must then return an error, too, so that no call blocks.
	Listener() net.Listener
	// Dial opens a stream.
	Dial(ctx context.Context, address string) (net.Conn, error)
	// ReadPacket waits for a packet, and truncates it to the length of b. The error is
	// net.ErrClosed when no more packets will come.
	ReadPacket(b []byte) (n int, from net.Addr, err error)
	// WritePacket sends a packet, which may get lost. It does not keep b.
	WritePacket(b []byte, address string) error
}

const (
	// maxStreams is the number of concurrent inbound streams. Each may hold a full state in
	// memory; memberlist has no limit.
	maxStreams = 64
	// maxPacket is the largest packet there is.
	maxPacket = 64 << 10
	// pause is the delay of a loop after a temporary error.
	pause = 100 * time.Millisecond
	// stopWait is how long Shutdown waits for the loops.
	stopWait = time.Second
)

// transport adapts a Network to memberlist. It must be a memberlist.NodeAwareTransport: it
// looks a member up by name, because memberlist only knows an IP address.
type transport struct {
	network  Network
	listener net.Listener
	members  *members
	logger   *slog.Logger
	context  func(time.Duration) (context.Context, context.CancelFunc) // bounds calls by the life of the transport
	cancel   context.CancelFunc

	packets chan *memberlist.Packet
	streams chan net.Conn
	done    chan struct{} // closed by Shutdown
	broken  chan struct{} // closed by a loop that found the network closed
	breaks  sync.Once
	loops   sync.WaitGroup
	mu      struct {
		sync.Mutex
		closed  bool
		open    map[*stream]struct{}
		inbound int
	}
}

// newTransport starts the loops; Shutdown ends them.
func newTransport(ctx context.Context, network Network, m *members, logger *slog.Logger) *transport {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx)) // leaving needs it after ctx has ended
	t := &transport{
		network: network, listener: network.Listener(), members: m, logger: logger, cancel: cancel,
		context: func(timeout time.Duration) (context.Context, context.CancelFunc) {
			return context.WithTimeout(base, timeout)
		},
		packets: make(chan *memberlist.Packet), streams: make(chan net.Conn),
		done: make(chan struct{}), broken: make(chan struct{}),
	}
	t.mu.open = make(map[*stream]struct{})
	t.loops.Go(func() { t.readPackets(ctx) })
	t.loops.Go(func() { t.acceptStreams(ctx) })
	return t
}

// readPackets passes packets on until Shutdown.
func (t *transport) readPackets(ctx context.Context) {
	b := make([]byte, maxPacket)
	for {
		n, from, err := t.network.ReadPacket(b)
		now := time.Now()
		if err != nil {
			if t.ended(ctx, err) {
				return
			}
			continue
		}
		if checkPacket(b[:n]) != nil {
			continue // not logged: any host can send them
		}
		p := &memberlist.Packet{Buf: append([]byte(nil), b[:n]...), From: from, Timestamp: now}
		select {
		case t.packets <- p:
		case <-t.done:
			return
		}
	}
}

// acceptStreams passes streams on until Shutdown.
func (t *transport) acceptStreams(ctx context.Context) {
	for {
		conn, err := t.listener.Accept()
		if err != nil {
			if t.ended(ctx, err) {
				return
			}
			continue
		}
		s, ok := t.track(conn, true)
		if !ok {
			_ = conn.Close()
			continue
		}
		select {
		case t.streams <- s:
		case <-t.done:
			_ = s.Close()
			return
		}
	}
}

// ended reports whether err ends a loop. If not, it has waited for a moment.
func (t *transport) ended(ctx context.Context, err error) bool {
	select {
	case <-t.done:
		return true
	default:
	}
	if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
		t.breaks.Do(func() { close(t.broken) })
		return true
	}
	t.logger.LogAttrs(ctx, slog.LevelWarn, "gossip cannot receive", slog.Any("error", err))
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false
	case <-t.done:
		return true
	}
}

// FinalAdvertiseAddr returns the IP address and port of this node for memberlist.
func (t *transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return standIn(t.network.Address())
}

// standIn returns an IP address and port for an address. A host name gets its own address in
// the discard-only block (RFC 6666). memberlist needs an IP address, and treats a node whose
// address changes as an impostor. Only the Network resolves the name, whose address may change.
func standIn(address string) (net.IP, int, error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return nil, 0, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return nil, 0, err
	}
	if host == "" || port == 0 {
		return nil, 0, errors.New("gossip: an address without a host or a port")
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() == "" {
		return ip.Unmap().AsSlice(), int(port), nil
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(host))
	ip := net.IP{0x01, 0, 0, 0, 0, 0, 0, 0}
	return binary.BigEndian.AppendUint64(ip, h.Sum64()), int(port), nil
}

// resolve returns the address of a node. A name with a colon is an address to join, see join.
func (t *transport) resolve(to memberlist.Address) string {
	if address, ok := t.members.address(to.Name); ok {
		return address
	}
	if _, _, err := net.SplitHostPort(to.Name); err == nil {
		return to.Name
	}
	return to.Addr
}

// WriteTo sends a packet.
func (t *transport) WriteTo(b []byte, address string) (time.Time, error) {
	return t.WriteToAddress(b, memberlist.Address{Addr: address})
}

// WriteToAddress sends a packet.
func (t *transport) WriteToAddress(b []byte, to memberlist.Address) (time.Time, error) {
	now := time.Now()
	return now, t.network.WritePacket(b, t.resolve(to))
}

// PacketCh returns the received packets.
func (t *transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// StreamCh returns the accepted streams.
func (t *transport) StreamCh() <-chan net.Conn { return t.streams }

// DialTimeout opens a stream.
func (t *transport) DialTimeout(address string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: address}, timeout)
}

// DialAddressTimeout opens a stream. The timeout also covers its use until memberlist sets
// another one, because memberlist writes the label before that.
func (t *transport) DialAddressTimeout(to memberlist.Address, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := t.context(timeout)
	defer cancel()
	conn, err := t.network.Dial(ctx, t.resolve(to))
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		_ = conn.Close()
		return nil, err
	}
	s, ok := t.track(conn, false)
	if !ok {
		_ = conn.Close()
		return nil, net.ErrClosed
	}
	return s, nil
}

// Shutdown ends the loops and closes every stream, which ends memberlist's use of them.
func (t *transport) Shutdown() error {
	t.mu.Lock()
	if t.mu.closed {
		t.mu.Unlock()
		return nil
	}
	t.mu.closed = true
	open := make([]*stream, 0, len(t.mu.open))
	for s := range t.mu.open {
		open = append(open, s)
	}
	t.mu.Unlock()
	t.cancel()
	close(t.done)
	err := t.listener.Close()
	for _, s := range open {
		_ = s.Close()
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// wait waits for the loops and reports whether they have ended. They have not if the Network
// violates the contract of ReadPacket; then the next packet ends them.
func (t *transport) wait() bool {
	ended := make(chan struct{})
	go func() {
		t.loops.Wait()
		close(ended)
	}()
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}
