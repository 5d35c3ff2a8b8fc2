// Package deepgram is the language of Deepgram's speech and transcriptions, for providers.
//
// What is different from OpenAI's, and where it is handled:
//
//   - all options are in the query. A transcription's body is the file alone, which is a part of the caller's
//     form (listen.go), and that of speech is the text (speech.go);
//   - a voice is a part of the model's name: a deployment is of a whole name, or of a family whose voices its callers
//     choose (speech.go);
//   - a transcription is words with times. OpenAI's forms are made of them (package transcript), with the
//     length that Deepgram bills;
//   - errors have a code and a message of their own names (errors.go).
package deepgram
