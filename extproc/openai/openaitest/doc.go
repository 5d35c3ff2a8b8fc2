// Package openaitest judges requests and responses of OpenAI's API in tests: by OpenAI's own
// OpenAPI document, whose schemas it compiles. Members that no schema has are problems as well,
// unless the gateway adds them on purpose.
//
// The document is reduced to the operations that the gateway serves; README.md says how, and where
// it comes from. Its errors are corrected by one table, corrections.
package openaitest
