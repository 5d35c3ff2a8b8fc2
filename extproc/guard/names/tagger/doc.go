// Package tagger finds names of persons and places in a text, from left to right. It reads tokens,
// describes each candidate by features, and asks its caller for a tag. The engine answers with the
// weights that ship with the program; the tool that trains them answers with the weights it has so far.
// Both therefore see the same tokens and the same features.
//
// A candidate is a capitalised word, or a lower-case word that the lexicon knows as a name. A candidate
// is decided when its two following tokens are complete, or when 150 bytes follow. Everything
// else is decided at once.
package tagger
