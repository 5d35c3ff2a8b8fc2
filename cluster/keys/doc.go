// Package keys says who is calling. Parse reads the credential from a request's
// headers, a Set holds the virtual keys by their SHA-256 (never the keys
// themselves) and Authenticate turns headers into a Principal or a refusal.
//
// A Set is immutable and safe for concurrent use. It begins with the keys of the
// file; With and Without make another one of it for a key of the replicated state,
// at a cost that does not grow with the number of keys. What a refusal says depends
// only on the header and on the key's own state: an unknown key, a revoked one and
// a malformed one get the same answer. Nothing here repeats a credential in an
// error.
//
// CreateKey and DeleteKeys are what entries of the replicated log do to the state:
// the same on every node, whatever its version, its file or its clock. Hashes are
// unique there, and so are aliases.
package keys
