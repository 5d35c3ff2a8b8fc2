// Command openapi writes the description of the whole HTTP API: one OpenAPI 3.1
// document, made of what is written once elsewhere. buf runs it as a plugin.
//
//	*.proto          methods with their routes, messages, their comments and the rules
//	                 of their fields
//	openapi-v1.yaml  all that has no protobuf: the title, the endpoints below /v1,
//	                 the probes, the shapes of errors, and examples kept by hand
//
// Names, forms and limits in the document are those that the server holds
// requests to: names as the .proto files spell them, numbers as JSON numbers, no
// member that is not described. The same input gives the same bytes.
package main
