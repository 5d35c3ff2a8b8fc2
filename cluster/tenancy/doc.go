// Package tenancy authenticates callers and stores their accounts.
//
// A Set holds the virtual keys by their SHA-256 (never the keys themselves), and the organizations,
// teams, users, customers and budgets that own and bound them. Authenticate takes the credentials
// of a request, which package credential reads, and returns a Principal or an error. What a
// Principal may see, change and grant is for package rights, and lists are for package listing: both
// read a Set.
//
// A Set is immutable and safe for concurrent use. It begins with the keys of the configuration
// file. As the replicated state changes, With makes a new Set, at a cost that does not grow with
// the number of records. An error of Authenticate depends only on the header and on the state of
// the key and its owners: unknown, deleted and malformed keys get the same response. No error
// repeats a credential.
//
// The methods that take a record.Txn and write are operations: one Set decides them, and they are
// committed only if their reads still hold. Ids and names are unique and references are valid,
// whatever changes happen at the same time.
package tenancy
