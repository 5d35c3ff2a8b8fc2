// Package history keeps the audit log and the usage records of a cluster verifiable and bounded. The
// leader does it; after a crash, the next leader continues.
//
// Guarantees:
//
//   - If the audit log has grown, the leader signs its head about once a minute. All checkpoints
//     are signed with one key, which the first leader generates and which the state holds sealed.
//   - Only the owner of the encryption key can replace the signing key: Verifiers rejects a stored
//     public key that does not belong to the private one.
//   - Records are deleted when they are older than the retention, and only while the cluster's time
//     is reliable. The chain of the audit log stays verifiable.
package history
