// Package gemini is the language of Google's generateContent, and what is known of Gemini's
// models (Features). Driver speaks it with the Gemini API, and Codec translates for any provider
// that has the language.
//
// Codec also rewrites what is no chat (Rewrites): pictures, which Imagen draws by predict, speech, transcriptions, and counts of tokens.
//
// # Signatures
//
// A model signs its calls and some of its texts. A signature goes back in the part that it came
// with, and a current model rejects a call without one. The canonical form has signatures on blocks
// of reasoning, so a signature becomes one that names its call (package wire, Mark). A call of
// another provider gets the value that Google documents for that.
//
// # Calls without ids
//
// Older models give calls no ids. The codec makes one of the response's id and the call, so it is
// the same however the response is read, and differs from those of other responses.
package gemini
