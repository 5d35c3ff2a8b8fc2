// Package guardrails keeps guardrails, which check prompts and responses, and change or block
// them. A guardrail has an id that never changes, a name that is unique in its organization (or
// among the guardrails without one), and engines. It checks the settings of the engines, so the
// code that runs them need not.
package guardrails
