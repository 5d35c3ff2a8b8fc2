//go:build !linux

package link

import (
	"net"
	"time"
)

// setUserTimeout does nothing: the system has no equivalent setting. A caller that waits for a
// vanished peer must use its own timeout.
func setUserTimeout(*net.TCPConn, time.Duration) {}
