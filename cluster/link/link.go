package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Link is one node's port. All methods are safe for concurrent use.
type Link struct {
	// Set by New, read only after.
	cfg       Config
	address   string
	tcp       *net.TCPListener
	udp       *net.UDPConn
	listeners map[Protocol]*listener

	gate     gate
	refusals refusals
	names    names
}

const (
	// A peer that vanished is noticed when it has not answered for 3+3*2 seconds on
	// a quiet connection, and for deadAfter on one with data under way.
	keepAliveIdle     = 3 * time.Second
	keepAliveInterval = 2 * time.Second
	keepAliveCount    = 3
	deadAfter         = 10 * time.Second

	// portTries is how often a port is looked for that is free for TCP and UDP.
	portTries = 16
	// packetBuffer is what the system may hold of packets until they are read; as
	// memberlist asks for. The system may give less.
	packetBuffer = 2 << 20
)

func keepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount}
}

// New takes the port. It accepts nothing before Run. Errors that the operator has
// to solve are *fault.Error and say how.
func New(ctx context.Context, cfg Config) (*Link, error) {
	cfg = cfg.withDefaults()
	if cfg.Identity == nil {
		return nil, errors.New("link: no identity")
	}
	tcp, udp, err := bind(ctx, cfg.Listen)
	if err != nil {
		return nil, err
	}
	l := &Link{cfg: cfg, tcp: tcp, udp: udp, listeners: map[Protocol]*listener{}}
	l.address, err = cfg.advertised(tcp.Addr())
	if err == nil {
		err = cfg.Identity.validFor(l.address)
	}
	if err != nil {
		return nil, errors.Join(err, tcp.Close(), udp.Close())
	}
	for _, p := range protocols() {
		l.listeners[p] = newListener(tcp.Addr())
	}
	l.gate.init(cfg.MaxHandshakes)
	l.refusals.init(cfg.Logger)
	return l, nil
}

// bind takes the same port for TCP and UDP.
func bind(ctx context.Context, listen string) (*net.TCPListener, *net.UDPConn, error) {
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, nil, badAddress("The address to listen at, %q, is not host:port.", listen)
	}
	for try := 1; ; try++ {
		tcp, udp, err := bindOnce(ctx, listen)
		if err == nil {
			return tcp, udp, nil
		}
		// The port that was free for TCP may be taken for UDP.
		if (port != "0" && port != "") || try == portTries || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, nil, unbound(listen, err)
		}
	}
}

func bindOnce(ctx context.Context, listen string) (*net.TCPListener, *net.UDPConn, error) {
	lc := net.ListenConfig{KeepAliveConfig: keepAlive()}
	stream, err := lc.Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, nil, err
	}
	tcp, ok := stream.(*net.TCPListener)
	if !ok {
		return nil, nil, errors.Join(fmt.Errorf("listening gave a %T", stream), stream.Close())
	}
	packets, err := lc.ListenPacket(ctx, "udp", tcp.Addr().String())
	if err != nil {
		return nil, nil, errors.Join(err, tcp.Close())
	}
	udp, ok := packets.(*net.UDPConn)
	if !ok {
		return nil, nil, errors.Join(fmt.Errorf("listening gave a %T", packets), packets.Close(), tcp.Close())
	}
	_ = udp.SetReadBuffer(packetBuffer) // a wish
	return tcp, udp, nil
}

// unbound makes the error for an address that cannot be listened at, with the
// remedy that fits the cause.
func unbound(listen string, err error) *fault.Error {
	remedy := "see the cause in the log"
	_, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		remedy = "another process has it; stop that one or choose another port"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		remedy = "this machine does not have that address; choose one of its own, or 0.0.0.0 for all of them"
	case errors.Is(err, syscall.EACCES):
		remedy = "ports below 1024 need a privilege; choose another one"
	case unknown:
		remedy = "the name is not known; give an address of this machine"
	}
	e := badAddress("The other nodes cannot be listened to at %q (TCP and UDP): %s.", listen, remedy)
	e.Err = err
	return e
}

// Address is what the other nodes reach this one at.
func (l *Link) Address() string { return l.address }

// Refused returns how many connections were refused, by reason.
func (l *Link) Refused() map[Reason]uint64 { return l.refusals.counted() }

// Listener returns what gives the connections of one protocol, each a *Conn; the
// same at each call. Close of it refuses further ones. It panics at a protocol
// that there is not.
func (l *Link) Listener(p Protocol) net.Listener {
	ln := l.listeners[p]
	if ln == nil {
		panic("link: there is no protocol " + strconv.Quote(string(p)))
	}
	return ln
}

// Run accepts connections and hands them out until ctx ends or the link is closed.
// Then its listeners are closed; connections that were accepted stay. Run it once.
func (l *Link) Run(ctx context.Context) error {
	var handshakes sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = l.tcp.Close() // all that can be wrong is that it is closed already
	})
	defer func() {
		cancel() // interrupts the handshakes, and closes the port if Close has not
		<-closed
		handshakes.Wait()
		l.closeListeners()
	}()
	for {
		raw, err := l.tcp.AcceptTCP()
		switch {
		case err == nil:
			p := l.gate.enter(originOf(raw.RemoteAddr()), func() {
				_ = raw.Close() // ends its handshake, which tells why
			})
			handshakes.Go(func() { l.accept(ctx, raw, p) })
		case errors.Is(err, net.ErrClosed):
			return nil
		default:
			// No descriptors or no memory: others have to give some back first.
			l.refusals.add(ctx, refusal{reason: ReasonSystem, err: err})
			pause(ctx, acceptPause)
		}
	}
}

// acceptPause is how long Run waits when the system had nothing to accept with.
const acceptPause = 50 * time.Millisecond

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Close gives the port back. Connections stay with who has them.
func (l *Link) Close() error {
	l.closeListeners()
	err := l.tcp.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil // Run has
	}
	if uerr := l.udp.Close(); uerr != nil && !errors.Is(uerr, net.ErrClosed) {
		err = errors.Join(err, uerr)
	}
	return err
}

func (l *Link) closeListeners() {
	for _, ln := range l.listeners {
		_ = ln.Close() // never fails
	}
}
