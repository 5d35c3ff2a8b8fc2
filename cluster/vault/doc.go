// Package vault holds secrets, in memory and at rest.
//
// Its Secret cannot be printed, logged or encoded by accident: every formatting
// and marshalling method yields a fixed text, and Reveal is the one way to the
// value, so that its uses can be listed. Mask is what people are shown of one.
//
// Its Sealer makes of a Secret the bytes that may be stored, replicated and
// backed up. It guarantees that
//
//   - without the key, sealed bytes tell nothing of the secret but its length;
//   - what was changed, cut short or put in another's place does not open: the
//     bytes are bound to a context that names the place they belong to;
//   - sealed with another key and damaged are two errors, because an operator
//     mends them in two ways;
//   - what one version sealed, later ones open.
//
// A Source says where a key comes from: from a secret of the operator's, or from a
// KMS. A KMS is not asked to seal anything. It wraps a Root once, which is random,
// is agreed on by the nodes and stored wrapped; each node has it unwrapped when it
// starts, and keys are derived from it as from any secret. So a KMS is asked once a
// start whatever there is sealed, may be away later, and backups have all that is
// needed besides the KMS.
//
// A Ring is the Sealer of a node whose keys change. It guarantees that
//
//   - nodes that start at once end with one Root for each key in a KMS, and nothing
//     is sealed with one that is not agreed on;
//   - what any node seals, all nodes can open whose configurations are one step of a
//     rotation apart at most: the key that seals is part of the agreement (Keyring)
//     and changes when an operator says so, not when a node is restarted;
//   - only Unlock and Run wait for a KMS, Unlock not for long and Run for as long as
//     it takes; both say in the log what they wait for.
//
// No secret, unwrapped root or derived key is stored here or anywhere in the data
// directory; where they come from is the configuration's matter. Whoever has the
// key and the data has the secrets, and whoever has lost the key has lost them.
package vault
