package link_test

import (
	"log/slog"
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/modelgateway/modelgateway/cluster/link"
)

// TestNoDescriptors takes all descriptors from the process when a connection
// comes: it is accepted when there are some again.
func TestNoDescriptors(t *testing.T) {
	logged := make(lines, 10)
	l := bind(t, link.Config{Identity: member(t, 1), Logger: slog.New(logged)})
	conn := connect(t, l.Address()) // the system has it, the link not yet
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	run(t, l)
	line := <-logged
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if line["reason"] != string(link.ReasonSystem) {
		t.Errorf("logged %v", line)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	awaitClose(conn)
	if got := l.Refused()[link.ReasonGone]; got != 1 {
		t.Errorf("counted %v", l.Refused())
	}
	mustDial(t, l, l.Address(), link.Peer)
}

// TestDeadPeersAreNoticed looks at what the system was told on both sides: probes
// from 3 s on, and an end after some ten seconds.
func TestDeadPeersAreNoticed(t *testing.T) {
	l := start(t, link.Config{Identity: member(t, 1)})
	dialled := mustDial(t, l, l.Address(), link.Peer)
	accepted, err := l.Listener(link.Peer).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = accepted.Close() }()
	for _, conn := range []net.Conn{dialled, accepted} {
		raw, err := conn.(*link.Conn).Socket().(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		for _, option := range []struct{ level, name, want int }{
			{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
			{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, 3},
			{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, 2},
			{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3},
			{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 10_000},
		} {
			var got int
			var gerr error
			err := raw.Control(func(fd uintptr) { got, gerr = unix.GetsockoptInt(int(fd), option.level, option.name) })
			if err != nil || gerr != nil || got != option.want {
				t.Errorf("%d: got %d, want %d (%v, %v)", option.name, got, option.want, err, gerr)
			}
		}
	}
}
