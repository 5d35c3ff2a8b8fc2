// Package coherecaller is Cohere's language of callers: it reads the requests of POST /v2/chat, and writes the responses, whole and
// as streams. The providers' side of the language is package cohere. Reply and Event read what passes.
//
// Guarantees: those of dialect.Dialect, and of package splice for a response and an event.
//
// Documents are texts in front of the last message of the user. What only changes how Cohere answers (citation_options, priority) is
// left out elsewhere; a filter that is stricter than usual is a member that other providers lack.
package coherecaller
