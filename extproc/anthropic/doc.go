// Package anthropic is the language of Anthropic's Messages API, and what is
// known of Claude's models (Features). Driver speaks it with providers.
//
// # Structured responses without a native JSON schema
//
// Where a target has no native JSON schema, the driver offers the model a tool
// of a reserved name whose arguments are the response. Its calls come back as
// text, so the caller sees what it requested, and decoding needs no memory of
// the request.
package anthropic
