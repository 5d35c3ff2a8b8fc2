package main

import (
	"regexp"
	"strings"

	"github.com/modelgateway/modelgateway/extproc/guard/names/tagger"
)

// labeller labels the names in mails: by the persons in their headers, by the lexicon where it leaves no
// doubt, and by the list of labels that people have made.
type labeller struct {
	words  entries
	people map[string]bool // full names of all headers, and their given names
	known  map[string]int  // kinds of sequences of words, by hand
}

func newLabeller(words entries, letters []letter, known map[string]int) *labeller {
	l := &labeller{words: words, people: map[string]bool{}, known: known}
	for _, m := range letters {
		for _, p := range m.persons {
			l.people[strings.Join(split(p), " ")] = true
		}
	}
	return l
}

// word is a word of a line.
type word struct {
	start, end int
	text       string
	known      uint32
	upper      bool
	joined     bool // only a space, or the period of an initial, is between it and the word before
}

func wordPattern() *regexp.Regexp {
	return regexp.MustCompile(`[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+|-\p{Lu}[\p{L}\p{M}]*)*`)
}

// label returns the spans of a mail.
func (l *labeller) label(m *letter) []span {
	own := map[string]bool{}
	for _, p := range m.persons {
		for _, w := range split(p) {
			if len(w) > 2 && l.words[tagger.HashWord(w)]&(tagger.Particle|tagger.Title) == 0 {
				own[w] = true
			}
		}
	}
	var spans []span
	at := 0
	pattern := wordPattern()
	for _, line := range strings.SplitAfter(m.text, "\n") {
		var ws []word
		for _, loc := range pattern.FindAllStringIndex(line, -1) {
			text := line[loc[0]:loc[1]]
			if n := len(text); n > 2 && (strings.HasSuffix(text, "'s") || strings.HasSuffix(text, "’s")) {
				text = strings.TrimSuffix(strings.TrimSuffix(text, "'s"), "’s")
			}
			w := word{start: loc[0], end: loc[0] + len(text), text: text, known: l.words[tagger.HashWord(text)]}
			w.upper = text[:1] != strings.ToLower(text[:1])
			if n := len(ws); n > 0 {
				between := line[ws[n-1].end:w.start]
				w.joined = between == " " || between == ". " && len(ws[n-1].text) == 1
			}
			ws = append(ws, w)
		}
		for _, s := range l.line(line, ws, own) {
			spans = append(spans, span{at + s.start, at + s.end, s.kind})
		}
		at += len(line)
	}
	return spans
}

// line labels the words of a line.
func (l *labeller) line(line string, ws []word, own map[string]bool) []span {
	var out []span
	for i := 0; i < len(ws); {
		if n := stateWithPeriods(line, ws[i:]); n > 0 {
			out = append(out, span{ws[i].start, ws[i+n-1].end + 1, spanPlace})
			i += n
			continue
		}
		if ws[i].text == "US" && (i == 0 || !shouted(ws[i-1])) && (i+1 == len(ws) || !shouted(ws[i+1])) {
			out = append(out, span{ws[i].start, ws[i].end, spanPlace})
			i++
			continue
		}
		if !ws[i].upper || ws[i].known&tagger.Function != 0 && !strings.HasPrefix(line[ws[i].end:], ".") {
			i++
			continue
		}
		end := i + 1
		for end < len(ws) && ws[end].joined && (ws[end].upper || ws[end].known&tagger.Particle != 0 && end+1 < len(ws) && ws[end+1].joined && ws[end+1].upper) {
			end++
		}
		out = append(out, l.run(line, ws[i:end], own)...)
		i = end
	}
	return out
}

// stateWithPeriods returns how many words the name of a state in the form of U.S. has; 0 for other words.
func stateWithPeriods(line string, ws []word) int {
	for _, name := range []string{"U.S.A.", "U.S.", "U.K."} {
		n := strings.Count(name, ".")
		if strings.HasPrefix(line[ws[0].start:], name) && len(ws) >= n && ws[n-1].end+1 == ws[0].start+len(name) {
			return n
		}
	}
	return 0
}

// shouted reports whether a word is in upper case throughout, as in CONTACT US.
func shouted(w word) bool { return len(w.text) > 2 && strings.ToUpper(w.text) == w.text }

func (w *word) given() uint32  { return w.known >> tagger.GivenShift & 3 }
func (w *word) family() uint32 { return w.known >> tagger.FamilyShift & 3 }
func (w *word) place() uint32  { return w.known >> tagger.PlaceShift & 3 }
func (w *word) lower() uint32  { return w.known >> tagger.LowerShift & 7 }

// run labels a run of capitalised words.
func (l *labeller) run(line string, ws []word, own map[string]bool) []span {
	var out []span
	for i := 0; i < len(ws); {
		n, kind := l.longest(ws[i:])
		if n == 0 {
			n, kind = l.guess(line, ws, i, own)
		}
		if kind != 0 {
			out = append(out, span{ws[i].start, ws[i+n-1].end, kind})
		}
		i += n
	}
	return out
}

// longest returns the longest sequence from the first word on that the labels or the headers know.
func (l *labeller) longest(ws []word) (int, int) {
	for n := min(len(ws), 5); n > 0; n-- {
		var b strings.Builder
		for i, w := range ws[:n] {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(w.text)
		}
		if kind, ok := l.known[b.String()]; ok && (n > 1 || len(ws) == 1 || kind != spanPerson) {
			return n, kind
		}
		if n > 1 && l.people[b.String()] {
			return n, spanPerson
		}
	}
	return 0, 0
}

// guess labels by the lexicon. It returns the number of words and their kind.
func (l *labeller) guess(line string, ws []word, i int, own map[string]bool) (int, int) {
	w := &ws[i]
	var next *word
	if i+1 < len(ws) {
		next = &ws[i+1]
	}
	before := strings.TrimRight(line[:w.start], " ")
	if w.known&tagger.Title != 0 && next != nil && len(w.text) < 5 {
		return 1, 0
	}
	titled := regexp.MustCompile(`\b(Mr|Mrs|Ms|Dr|Prof)\.?$`).MatchString(before) || i > 0 && ws[i-1].known&tagger.Title != 0 && len(ws[i-1].text) < 5
	if next != nil {
		pair := l.words[tagger.HashPair(tagger.HashWord(w.text), tagger.HashWord(next.text))] >> tagger.PlaceShift & 3
		switch {
		case pair == 3:
			return 2, spanPlace
		case pair > 0:
			return 2, spanUnknown
		}
		n, last := 2, next
		if len(next.text) == 1 && i+2 < len(ws) {
			n, last = 3, &ws[i+2]
		}
		plain := last.known&(tagger.OrgWord|tagger.Calendar|tagger.Country|tagger.Demonym) == 0 && w.known&(tagger.OrgWord|tagger.Calendar|tagger.Country|tagger.Demonym) == 0
		switch {
		case plain && w.given() >= 2 && w.lower() <= 3 && last.family() >= 1 && last.lower() <= 3 && i+n == len(ws):
			return n, spanPerson
		case plain && w.given() == 3 && w.lower() <= 2 && last.lower() <= 1 && len(last.text) > 2 && last.known&tagger.Function == 0 && i+n == len(ws):
			return n, spanPerson
		case titled && plain:
			return n, spanPerson
		case strings.ToUpper(w.text) == w.text && w.lower() > 1 || w.lower() > 5:
			return 1, 0
		case w.given() > 0 || w.family() > 1 || w.place() > 0 || last.family() > 1 || last.given() > 0:
			return 1, spanUnknown
		}
	}
	switch {
	case titled && next == nil:
		return 1, spanPerson
	case own[w.text] && w.lower() <= 4 && w.known&(tagger.Calendar|tagger.Function) == 0:
		return 1, spanPerson
	case w.known&tagger.Calendar != 0:
		return 1, 0
	case w.known&tagger.Country != 0 && i == 0 && next == nil:
		return 1, spanPlace
	case i == 0 && next == nil && w.given() == 3 && w.lower() <= 2 && w.place() == 0 && w.family() < 3:
		return 1, spanPerson
	case w.place() == 3 && w.given() == 0 && w.lower() <= 2 && i == 0 && next == nil:
		return 1, spanPlace
	case strings.ToUpper(w.text) == w.text && (len(w.text) < 4 || w.lower() > 2):
		return 1, 0
	case (w.given() > 0 || w.family() > 1 || w.place() > 0) && w.lower() <= 4:
		return 1, spanUnknown
	}
	return 1, 0
}
