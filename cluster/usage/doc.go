// Package usage says what one attempt at a provider consumed, and by which bounds it
// was admitted. It is the vocabulary that the providers' drivers, the price
// catalogue, the journal and the ledger share.
package usage
