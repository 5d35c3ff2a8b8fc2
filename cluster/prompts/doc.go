// Package prompts keeps prompts: templates with versions that never change, and what names a
// version of them. A prompt has an id that never changes and a name that is unique in its
// organization (or among the prompts without one). Its versions are numbered from 1 without
// gaps. A label names a version, or several that share its requests. A request that names
// neither gets the version of the prompt's default label, or else the latest one.
//
// A version has messages, which may have placeholders for messages of the request; a Config, the
// parameters that it sets; and a Schema of its variables. Compose turns them and the variables
// of a request into messages. It knows no language of callers or providers: messages are roles
// with JSON content.
//
// A Set is immutable and safe for concurrent use: With returns another one when the replicated
// state changes. The other methods are operations, which read a Set and write to a transaction.
package prompts
