// Package attach takes requests from the filter "attach" of Envoy's dynamic module of that
// name, without gRPC.
//
// Envoy listens on a Unix socket, and Links opens connections to it until each of Envoy's
// workers has one. On a link, the messages of ext_proc travel as they are, each behind a head of
// eight bytes: its length and the number of its stream, a request in Envoy. A message without
// bytes ends a stream. Messages that wait for a link at the same time are written in one call.
//
// A Stream has the methods of a gRPC stream that package extproc uses, so that the same code
// serves both. Its messages arrive in order. It ends with io.EOF when Envoy has no more use for
// it, and its context is then canceled; so it is if the link breaks. Envoy ends the requests of
// a broken link with an error, and Links opens another link.
package attach
