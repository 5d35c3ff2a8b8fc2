// Package socket opens the Unix sockets between Envoy and the gateway.
//
// Only their owner can connect to them, and a socket that a dead process left is
// replaced. On Linux their connections read and write without telling Go's
// scheduler: see conn_linux.go for what that saves.
package socket
