// Package peer is how nodes call each other: gRPC over connections that somebody
// else has secured.
//
// It guarantees:
//
//   - A handler can ask who calls (Caller), as the connection's certificate says
//     it, not as the message does.
//   - An error that crosses it keeps its kind, code, field and text; an error
//     without a kind says no more than that something went wrong, as everywhere.
//   - A call that did not come to its end is an error of kind Unavailable: whether
//     the other node has acted on it is not known.
//
// It keeps one connection to each address, made when it is first needed and made
// again when it breaks.
package peer
