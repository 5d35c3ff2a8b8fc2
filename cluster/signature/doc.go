// Package signature signs the requests that the gateway sends to receivers of its operator, so that a receiver knows
// who sends them, and that nobody has changed or repeated them.
package signature
