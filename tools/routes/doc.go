// Command routes is a plugin of protoc that writes the table of the management API,
// gateway/surface: all routes and all operations, from the options of the services, and
// the routes once more for grpc-gateway. The server, the command line and the
// rights of keys read this table, so a route cannot be generated and not served, and
// an operation cannot exist without a decision about who may use it.
package main
