package link

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// setUserTimeout closes a connection whose peer has not acknowledged data for d. Without it the
// system retries for a quarter of an hour.
func setUserTimeout(conn *net.TCPConn, d time.Duration) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return // already closed
	}
	_ = raw.Control(func(fd uintptr) { // fails only if it is closed
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds())) // best effort: without it the peer's loss is detected later
	})
}
