// Package pii is the engine presidio of guardrails: it finds personal data by its form, by checksums and by
// the words before it. Entities have the names of Microsoft Presidio, and scores mean the same: a pattern has
// a base score, a word of its context before it adds 0.35, and what has the threshold is found. Names of people
// and places are the business of another engine, whose findings this one can merge with its own.
//
// # How a text is read
//
// The core reads a text in chunks. A chunk is a run without spaces, or several with digits that a space
// joins, as in +44 20 7946 0958 or 5 March 2024. No finding crosses a chunk. Most words of prose have
// neither a digit nor an @, and are skipped without more than a look at a table. All others are read in
// their normal form (normal.go), are split into tokens of letters and digits, and the shape of each few
// tokens, such as 999-99-9999, leads to the rows of the table (table.go) that know it.
//
// # Streams
//
// What is found depends on the text alone, not on how it is cut:
//
//  1. A chunk is decided when its end is known: when a character that ends it has come.
//  2. A chunk of more than window bytes is decided on its first window bytes, no matter how many more have
//     come. Half of them are passed then, and the rest begins another chunk.
//  3. Context is looked for only before a candidate, and only so far as it is always there.
//  4. A URL or an email address that fills the window is masked to its end, in pieces.
package pii
