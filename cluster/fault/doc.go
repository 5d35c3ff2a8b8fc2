// Package fault defines the project's errors. An Error has a Kind; table.go maps a Kind to its
// gRPC code, its HTTP status and its types in the words of OpenAI and Anthropic, and is the only
// place that knows status codes. Detail is the text for the caller; the wrapped error never leaves
// the process. An error that is not an *Error counts as internal, and its text is withheld.
package fault
