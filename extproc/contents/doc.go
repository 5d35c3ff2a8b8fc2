// Package contents reads what the gateway needs of requests and responses in Gemini's language, in place: what package
// splice does for the languages of OpenAI and Anthropic. Package gemini translates.
//
// Guarantees: those of package splice for a scan, a response and an event. Names may be in camel or in snake case, but
// not in both, as for Google. Time is linear in the body, and a body is not copied.
package contents
