// Command routes is a plugin of protoc that writes the table of all routes of the
// REST surface, routes.go, from the page that grpc-gateway reads, too. The server
// has its routes from there, so that a route cannot be generated and not served,
// or served and in no table.
package main
