// Package usage says what one attempt at a provider consumed. It is the
// vocabulary that the providers' drivers, the price catalogue and the journal
// share, and imports nothing of ours.
package usage
