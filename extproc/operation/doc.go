// Package operation has what differs between the operations of the data plane: for each row of
// dataplane.Operations, the language of its callers, the code that reads its requests, responses
// and events, and what its responses may be. The stages of the pipeline have no other list of
// operations.
//
// Guarantees:
//
//   - Each path of dataplane.Paths has an operation with a language, a scanner and a reader of texts.
//   - An Operation does not change, so all requests share it.
package operation
