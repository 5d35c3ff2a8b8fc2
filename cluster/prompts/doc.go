// Package prompts keeps prompts: templates with versions that never change. A
// prompt has an id for good and a name that is unique in its organization, or
// among those of none; its versions are dense from 1, and the latest is what
// requests get that name none.
//
// A Set is immutable and safe for concurrent use: With makes another one of it as
// the replicated state changes. Its other methods are operations, which are decided
// by a Set and collect what they write in a transaction.
package prompts
