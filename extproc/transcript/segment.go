package transcript

import (
	"strings"
	"unicode/utf8"
)

// Word is a word that a provider has heard.
type Word struct {
	Before  string // what the text has between the word before and this one
	Text    string // with its punctuation
	Start   float64
	End     float64 // both in seconds
	Speaker string  // the provider's name; empty if it does not tell speakers apart
	LogProb float64 // of the word, at most 0
}

// segment is a part of a transcription: one line of subtitles.
type segment struct {
	start, end float64
	text       string
	speaker    string
	logProb    float64 // the mean of its words
}

// Limits of a segment. Those of length are the usual ones of subtitles: two lines of 42 characters, for seven seconds.
const (
	mostCharacters = 84
	mostSeconds    = 7.0
	pause          = 1.0 // seconds of silence after which a segment begins
)

// segments divides words at the ends of sentences, at pauses, at changes of the speaker, and where a segment would be too long.
func segments(words []Word) []segment {
	var out []segment
	var s *segment
	n := 0 // words of s
	ended := false
	for i := range words {
		w := &words[i]
		if s == nil || ended || w.Speaker != s.speaker || w.Start-s.end >= pause || w.End-s.start > mostSeconds ||
			utf8.RuneCountInString(s.text)+utf8.RuneCountInString(w.Before+w.Text) > mostCharacters {
			out = append(out, segment{start: w.Start, end: w.End, text: w.Text, speaker: w.Speaker, logProb: w.LogProb})
			s, n = &out[len(out)-1], 1
		} else {
			n++
			s.text += w.Before + w.Text
			s.end = max(s.end, w.End)
			s.logProb += (w.LogProb - s.logProb) / float64(n)
		}
		ended = endsSentence(w.Text)
	}
	return out
}

// endsSentence reports whether a word is the last one of a sentence, in scripts whose marks are among these.
func endsSentence(word string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(word, `"'”’»)]`))
	return strings.ContainsRune(".!?…。！？।؟", last) && last != utf8.RuneError
}

// speakers names the speakers of segments as OpenAI does: by capital letters, in the order in which they speak.
func speakers(list []segment) []string {
	names := map[string]string{}
	out := make([]string, len(list))
	for i := range list {
		name, ok := names[list[i].speaker]
		if !ok {
			name = letters(len(names))
			names[list[i].speaker] = name
		}
		out[i] = name
	}
	return out
}

// letters returns A to Z for 0 to 25, then AA and so on.
func letters(n int) string {
	name := string(rune('A' + n%26))
	if n >= 26 {
		return letters(n/26-1) + name
	}
	return name
}
