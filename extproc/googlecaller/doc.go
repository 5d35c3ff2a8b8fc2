// Package googlecaller is Google's language of callers: it reads the requests of generateContent, and writes the responses, whole
// and as streams. The providers' side of the language is package gemini; package contents reads what passes.
//
// Guarantees: those of dialect.Dialect. A request means the same in camel and in snake case. An id of a call that is longer than those
// of Google goes to the call's signature, which its clients send back, and no provider gets it.
package googlecaller
