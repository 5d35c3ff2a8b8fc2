package link

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout breaks a connection whose peer has not confirmed data for d.
// Without it the system tries for a quarter of an hour.
func setUserTimeout(conn *net.TCPConn, d time.Duration) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return // closed already
	}
	_ = raw.Control(func(fd uintptr) { // fails only if it is closed
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds())) // without it the peer is noticed later
	})
}
