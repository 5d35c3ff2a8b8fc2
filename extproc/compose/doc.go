// Package compose puts a rendered prompt into a request: its messages before and after the
// caller's, and its settings where the caller has none or where the prompt enforces them. The
// request keeps its language, and the caller's own bytes stay as they are, so the stages after it
// treat the request like any other.
//
// A prompt is written in the words of OpenAI's chats. For callers of another language it goes
// through the translation that requests to providers go through: it is written as a request in
// that language, whose messages and settings are then taken. So what a language cannot say, and
// how it says the rest, is in one place.
package compose
