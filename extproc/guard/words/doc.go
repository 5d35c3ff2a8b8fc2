// Package words is the engine content_filter of guardrails: it finds banned words, and what banned patterns
// match. Entities of its findings are KEYWORD_i and PATTERN_i, with the index in the setting, never the word.
//
// # What is found
//
//   - A keyword in any case, by Unicode's simple case folding (İ and ß equal only themselves). Where whole words
//     are asked for, no letter, digit, mark or underscore may be next to it.
//   - What a pattern of Go's regexp syntax matches, in any case. The longest match from its start counts.
//   - Of findings that overlap, the one that begins first, then the longest, then keywords before patterns, then
//     the one with the lowest index.
//
// # What is not found
//
//   - A match of more than longest bytes. A pattern such as a.*z matches within them, too, if it can.
//   - Words that are written in another way: with letters that only look alike, with characters between them,
//     composed differently (NFC and NFD), or with other spaces than the keyword has.
//
// # How
//
// One Aho-Corasick automaton over characters finds the keywords and the literals of patterns. A pattern that
// can only begin with certain literals is tried where one is. Another one is tried where its first byte is
// possible, and not at all if it needs a literal that is not there. Trying means to simulate its program
// for all starts at the same time, with the set of living starts at each instruction. That takes time linear in the text,
// it knows the longest match from each start, and which starts are still open at the end of the text.
//
// Published automatons report neither open prefixes nor all cases of Unicode, and regexp.Regexp cannot say whether
// more text could still give a match.
//
// # Streams
//
// What is found from a start depends on the longest bytes from it, and one character before and after.
// What is before a start that is open is decided, and the next call begins there: nothing else is kept between calls.
package words
