// Package guardrails keeps guardrails: what looks at prompts and answers, and
// changes or refuses them. A guardrail has an id for good, a name that is unique in
// its organization, or among those of none, and engines with their settings, which
// are checked here so that whoever runs them need not.
//
// A Set is immutable and safe for concurrent use: With makes another one of it as
// the replicated state changes. Its other methods are operations, which are decided
// by a Set and collect what they write in a transaction.
package guardrails
