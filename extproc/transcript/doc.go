// Package transcript writes transcriptions in the forms that OpenAI's callers request, of the words that a provider
// has heard: a text alone, JSON with times of words and segments, the segments of speakers, and subtitles. Drivers of
// providers with other forms share it.
//
// A form is made only of what the provider has reported: without times there are no subtitles. OpenAI's
// schema requires numbers of each segment that only its own models have; these are 0.
package transcript
