// Package vault holds secrets, in memory and at rest.
//
// Its Secret cannot be printed, logged or encoded by accident: every formatting
// and marshalling method yields a fixed text, and Reveal is the one way to the
// value, so that its uses can be listed.
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
// The key is not stored here or anywhere in the data directory; where it comes
// from is the configuration's matter. Whoever has the key and the data has the
// secrets, and whoever has lost the key has lost them.
package vault
