// Package vault protects secrets, in memory and at rest.
//
// A Secret cannot be printed, logged or encoded by accident: every formatting and marshaling
// method returns a fixed text. Reveal is the only way to the value, so its uses can be listed.
// Mask returns the form that users may see.
//
// A Sealer encrypts a Secret to bytes that may be stored, replicated and backed up. Guarantees:
//
//   - Without the key, sealed bytes reveal only the length of the secret.
//   - Bytes that were modified, truncated or moved do not open: they are bound to a context
//     that names their place.
//   - A wrong key and damaged bytes are distinct errors, because they have different remedies.
//   - Later versions open what an earlier version sealed.
//
// A Source names the origin of a key: a secret of the operator, or a KMS. A KMS does not seal
// anything. It wraps a Root once: a random secret that the nodes agree on and store wrapped.
// Each node unwraps it at its start and derives keys from it, as from any secret. So a node
// calls the KMS once per start, however many secrets there are. The KMS may be unavailable
// later, and backups contain everything except the KMS key.
//
// A Ring is the Sealer of a node whose keys change. Guarantees:
//
//   - Nodes that start at the same time end with one Root for each KMS key, and nothing is
//     sealed with a root that is not agreed on.
//   - All nodes whose configurations are at most one step of a rotation apart can open what any
//     of them seals. The sealing key is part of the agreement (Keyring) and changes when an
//     operator requests it, not when a node restarts.
//   - Only Unlock and Run wait for a KMS: Unlock for a limited time, Run without a limit. Both
//     log what they wait for.
//
// The data directory never contains a secret, an unwrapped root or a derived key; the
// configuration names their origin. The key and the data together reveal the secrets; without
// the key, they are lost.
package vault
