//go:build !linux

package socket

import "net"

// direct is implemented on Linux only.
func direct(c net.Conn) (net.Conn, error) { return c, nil }
