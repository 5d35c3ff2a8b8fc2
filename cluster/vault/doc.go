// Package vault holds secrets. Its Secret cannot be printed, logged or encoded
// by accident: every formatting and marshalling method yields a fixed text, and
// Reveal is the one way to the value, so that its uses can be listed.
package vault
