// Package anthropic is the language of Anthropic's Messages API, and what is
// known of Claude's models (Features). Driver speaks it with providers, and Dialect with callers.
//
// # Structured responses without a native JSON schema
//
// Where a target has no native JSON schema, the driver offers the model a tool
// of a reserved name whose arguments are the response. Its calls come back as
// text, so the caller sees what it requested, and decoding needs no memory of
// the request.
//
// # What other providers lack
//
// Reasoning of other providers has no signature: its blocks have an empty one, and Driver leaves
// them out if they come back. Citations of other providers have no encrypted_index and no
// cited_text: both are empty, and such citations are left out if they come back. A tool call
// whose id has other characters than Anthropic's ids gets one that contains it, and the provider
// gets its own id back.
package anthropic
