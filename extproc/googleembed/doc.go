// Package googleembed rewrites the requests for embeddings of Google's clients to OpenAI's form, which all providers of
// embeddings are sent or are rewritten from, and the responses back. Bodies are rejected with the field at fault.
package googleembed
