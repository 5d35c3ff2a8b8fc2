// Package socket opens the Unix sockets between Envoy and the gateway.
//
// Only their owner can connect, and a socket of a dead process is replaced. On Linux their
// connections bypass Go's scheduler for reads and writes: see conn_linux.go for the benefit.
package socket
