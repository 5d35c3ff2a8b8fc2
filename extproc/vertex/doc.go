// Package vertex is the driver of Vertex AI, Google Cloud's models: those of Google, and Claude, Mistral's and open
// models.
//
// The name of a model says in which language it is spoken to: Gemini's, Anthropic's with the version in the body, Mistral's, or
// OpenAI's. The account's project and location make host and path, and a token of Google is the
// credential; an API key of Vertex's express mode needs neither of the two.
package vertex
