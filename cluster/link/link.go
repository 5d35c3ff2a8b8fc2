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
	// Set by New, read-only after.
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
	// A vanished peer is detected after 3+3*2 seconds on an idle connection, and after
	// deadAfter on one with data in flight.
	keepAliveIdle     = 3 * time.Second
	keepAliveInterval = 2 * time.Second
	keepAliveCount    = 3
	deadAfter         = 10 * time.Second

	// portTries is the number of attempts to find a port that is free for TCP and UDP.
	portTries = 16
	// packetBuffer is the receive buffer of the socket, as memberlist requests it. The system
	// may grant less.
	packetBuffer = 2 << 20
)

func keepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount}
}

// New opens the port. It accepts no connections before Run. Errors that the operator must fix
// are *fault.Error with a remedy.
func New(ctx context.Context, cfg Config) (*Link, error) {
	cfg = cfg.withDefaults()
	if cfg.Identity == nil {
		return nil, errors.New("link: Config.Identity is missing")
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

// bind opens the same port for TCP and UDP.
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
		// The port that is free for TCP may be in use for UDP.
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
	_ = udp.SetReadBuffer(packetBuffer) // best effort
	return tcp, udp, nil
}

// unbound returns the error for an address that cannot be bound, with a remedy for the cause.
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

// Address returns the address at which other nodes reach this one.
func (l *Link) Address() string { return l.address }

// Refused returns the number of rejected connections, by reason.
func (l *Link) Refused() map[Reason]uint64 { return l.refusals.counted() }

// Listener returns the listener of one protocol, which accepts *Conn; the same at each call.
// After its Close, further connections are rejected. It panics for an unknown protocol.
func (l *Link) Listener(p Protocol) net.Listener {
	ln := l.listeners[p]
	if ln == nil {
		panic("link: there is no protocol " + strconv.Quote(string(p)))
	}
	return ln
}

// Run accepts connections until ctx ends or the link is closed. It then closes the listeners;
// accepted connections stay open. Run must be called once.
func (l *Link) Run(ctx context.Context) error {
	var handshakes sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = l.tcp.Close() // the only error is that it is already closed
	})
	defer func() {
		cancel() // interrupts the handshakes, and closes the port unless Close has
		<-closed
		handshakes.Wait()
		l.closeListeners()
	}()
	for {
		raw, err := l.tcp.AcceptTCP()
		switch {
		case err == nil:
			p := l.gate.enter(originOf(raw.RemoteAddr()), func() {
				_ = raw.Close() // interrupts the handshake, which reports the cause
			})
			handshakes.Go(func() { l.accept(ctx, raw, p) })
		case errors.Is(err, net.ErrClosed):
			return nil
		default:
			// No file descriptors or memory: others must release some first.
			l.refusals.add(ctx, refusal{reason: ReasonSystem, err: err})
			pause(ctx, acceptPause)
		}
	}
}

// acceptPause is how long Run waits if the system lacks resources to accept.
const acceptPause = 50 * time.Millisecond

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// Close closes the port. Connections stay with their owners.
func (l *Link) Close() error {
	l.closeListeners()
	err := l.tcp.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil // Run has closed it
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
