// Package fault is what can go wrong, said once. An Error has a Kind; the table
// in table.go turns a Kind into its gRPC code, its HTTP status and its OpenAI
// type, and is the only place in the project that knows statuses. The text in
// Detail is for the caller; the wrapped error never leaves the process. An
// error that is not an *Error counts as internal and its text is withheld.
package fault
