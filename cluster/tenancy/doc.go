// Package tenancy says who is calling, who there is, and who may do what.
//
// Parse reads the credential from a request's headers, a Set holds the virtual keys
// by their SHA-256 (never the keys themselves), and the organizations, teams, users,
// customers and budgets that they belong to and are bounded by. Authenticate turns
// headers into a Principal or a refusal; Rights says what a Principal may see,
// change and give. Nobody gives what they do not have.
//
// A Set is immutable and safe for concurrent use. It begins with the keys of the
// file; With makes another one of it as the replicated state changes, at a cost that
// does not grow with the number of records. What a refusal of Authenticate says
// depends only on the header and on the state of the key and of whom it belongs to:
// an unknown key, a deleted one and a malformed one get the same answer. Nothing here
// repeats a credential in an error.
//
// The methods that take a record.Txn and write are operations: decided by one Set,
// committed only if what they read is still so. Ids and names are unique, and what a
// record refers to is there, whatever else is being changed meanwhile.
package tenancy
