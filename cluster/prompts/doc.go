// Package prompts keeps prompts: templates with versions that never change. A prompt has an id
// that never changes and a name that is unique in its organization (or among the prompts
// without one). Its versions are numbered from 1 without gaps. A request that names no version
// gets the latest one.
//
// A Set is immutable and safe for concurrent use: With returns another one when the replicated
// state changes. The other methods are operations, which read a Set and write to a transaction.
package prompts
