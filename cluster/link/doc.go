// Package link connects a node with the other nodes. It uses one host:port: TCP for streams,
// and UDP for the packets of the gossip.
//
// Guarantees:
//
//   - A stream is TLS 1.3 with certificates on both sides, of one authority that only nodes of
//     the cluster have. When Dial or Accept returns, both sides have verified each other, and
//     the accepting side has a listener for the protocol.
//   - ALPN names the protocol of a stream, so one port and one firewall rule suffice.
//   - The certificate identifies the peer, see PeerOf. The protocols above must not trust
//     identities in messages.
//   - A peer without a certificate costs little: at most 64 KiB are read, within
//     HandshakeTimeout, on a limited number of connections. Beyond that limit, new connections
//     evict the oldest, so that nodes still get in. Each rejection is counted and logged, at
//     most one line a second for each reason.
//   - A certificate is renewed, or read again when its file changes, without a restart.
//     Existing connections stay.
//   - A peer that vanishes silently is detected within about ten seconds.
//   - No key or secret appears in an error, a log line or any printable value.
//
// Not part of this package: authorization of nodes, and the encryption of packets
// (Identity.GossipKey is its key).
//
// The greeting is one byte that the accepting side sends after the handshake. TLS has no
// equivalent: in TLS 1.3 the dialing side completes before the other side has checked its
// certificate, and would learn of a rejection only at its first read.
package link
