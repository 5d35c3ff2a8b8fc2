// Package elevenlabs is the language of ElevenLabs's speech and transcriptions, for providers.
//
// What is different from OpenAI's, and where it is handled:
//
//   - the voice of speech is in the path, and the format of the sound in the query (speech.go). OpenAI's names
//     of voices stand for voices that every account has (voices.go);
//   - a form for a transcription has other names, which are changed in place (listen.go);
//   - a transcription is words with times. OpenAI's forms are made of them (package transcript);
//   - an account without quota is reported as a bad key, and most other errors have a status of
//     their own in words (errors.go);
//   - speech is billed by the character, which a header reports, and transcriptions by their length.
package elevenlabs
