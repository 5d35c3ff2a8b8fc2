// Package link gives a node its ways to the other nodes: one host:port, TCP for
// streams and UDP for the gossip's packets.
//
// It guarantees:
//
//   - A stream is TLS 1.3 with certificates on both sides, of one authority that
//     only nodes of the cluster have. When Dial returns, both sides have verified
//     each other and somebody takes the connection; when Accept returns, too.
//   - What a stream carries is said by ALPN: one port, one rule in a firewall.
//   - Who is at the other end is what the certificate says, see PeerOf; the
//     protocols above need not, and must not, believe what is said in a message.
//   - Who has no certificate costs little: at most 64 KiB are read, for at most
//     HandshakeTimeout, at a bounded number of connections at once; if there are
//     more, the oldest make way, so that a node still gets in. Each refusal is
//     counted and named in the log, at most one line a second for each reason.
//   - A certificate is renewed, or read again when its file changes, without a
//     restart. Connections that are there stay.
//   - A peer that is gone without a word is noticed within some ten seconds.
//   - No key or secret is in an error, a log line or anything that can be printed.
//
// It leaves to others: who of the cluster may do what, and the encryption of
// packets (Identity.GossipKey is the key for it).
//
// The greeting, one byte that the accepting side sends after the handshake, is not
// TLS's: in TLS 1.3 the dialling side is done before the other has looked at its
// certificate, and would learn of a refusal at its first read.
package link
