//go:build !linux

package link

import (
	"net"
	"time"
)

// setUserTimeout does nothing: the system has no such setting, or another one. A
// peer that vanishes while data is under way is then noticed by who waits for it.
func setUserTimeout(*net.TCPConn, time.Duration) {}
