// Package guardrails keeps guardrails: what looks at prompts and answers, and
// changes or refuses them. A guardrail has an id for good, a name that is unique in
// its organization, or among those of none, and engines with their settings, which
// are checked here so that whoever runs them need not.
package guardrails
