package main

import (
	"strings"
	"unicode"

	"github.com/modelgateway/modelgateway/extproc/guard/names/tagger"
)

// entries collects what the lexicon says, by the hash of a word.
type entries map[uint32]uint32

// rank notes that a word has a rank, if it has no better one.
func (e entries) rank(word string, shift, rank uint32) {
	if len(word) < 2 {
		return
	}
	h := tagger.HashWord(word)
	if e[h]>>shift&3 < rank {
		e[h] = e[h]&^(3<<shift) | rank<<shift
	}
}

func (e entries) flag(words []string, flag uint32) {
	for _, w := range words {
		if !strings.Contains(w, " ") {
			e[tagger.HashWord(w)] |= flag
		}
	}
}

// place notes the name of a place, which may have several words.
func (e entries) place(name string, rank uint32) {
	words := split(name)
	for i := 1; i < len(words); i++ {
		h := tagger.HashPair(tagger.HashWord(words[i-1]), tagger.HashWord(words[i]))
		e[h] = max(e[h], rank<<tagger.PlaceShift)
	}
	if len(words) == 1 {
		e.rank(name, tagger.PlaceShift, rank)
	}
}

// split splits a name into words as the tagger does.
func split(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’' })
}

// lexicon makes the lexicon. counts says how often words are in lower case in the mails.
func lexicon(l *lists, counts map[string]*cased) entries {
	e := entries{}
	e.given(l)
	e.family(l)
	e.places(l)
	e.flag(functionWords(), tagger.Function)
	e.flag(titleWords(), tagger.Title)
	e.flag(particleWords(), tagger.Particle)
	e.flag(orgWords(), tagger.OrgWord)
	e.flag(calendarWords(), tagger.Calendar)
	e.flag(l.Compromise["Demonym"], tagger.Demonym)
	common := map[string]bool{}
	for _, tag := range []string{"Adjective", "Singular", "Plural", "Actor", "PastTense", "PresentTense", "Infinitive", "Gerund", "Adverb", "Noun", "Uncountable", "Comparative", "Preposition", "Conjunction"} {
		for _, w := range l.Compromise[tag] {
			common[w] = true
		}
	}
	for _, w := range sortedKeys(common) {
		if counts[w] == nil {
			counts[w] = &cased{}
		}
		counts[w].lower += 3
	}
	for _, w := range sortedKeys(counts) {
		if r := counts[w].ratio(); r > 0 {
			h := tagger.HashWord(w)
			e[h] = e[h]&^(7<<tagger.LowerShift) | r<<tagger.LowerShift
		}
	}
	for h, known := range e {
		lower := known >> tagger.LowerShift & 7
		given, family, place := known>>tagger.GivenShift&3, known>>tagger.FamilyShift&3, known>>tagger.PlaceShift&3
		name := lower <= 3 && (given == 3 || place == 3 || known&tagger.Country != 0) || lower <= 1 && (given == 2 || family == 3)
		if name && known&(tagger.Function|tagger.Title|tagger.Particle|tagger.OrgWord|tagger.Calendar) == 0 {
			e[h] |= tagger.LowerName
		}
	}
	return e
}

func (e entries) given(l *lists) {
	for _, list := range [][]string{l.Census.Female, l.Census.Male} {
		for i, name := range list {
			e.rank(name, tagger.GivenShift, rankOf(i, 250, 900))
		}
	}
	for _, tag := range []string{"MaleName", "FemaleName", "FirstName"} {
		for _, name := range l.Compromise[tag] {
			e.rank(name, tagger.GivenShift, 2)
		}
	}
	seen := map[string]int{}
	for _, name := range l.locales() {
		for _, given := range l.Faker[name].Given {
			if latin(given) && !strings.Contains(given, " ") {
				seen[given]++
			}
		}
	}
	for name, n := range seen {
		e.rank(name, tagger.GivenShift, min(3, uint32(n+3)/4+1))
	}
}

// rankOf returns the rank of the i-th name of a list in the order of frequency.
func rankOf(i, top, middle int) uint32 {
	switch {
	case i < top:
		return 3
	case i < middle:
		return 2
	}
	return 1
}

func (e entries) family(l *lists) {
	for i, name := range l.Census.Family[:min(len(l.Census.Family), 45000)] {
		e.rank(name, tagger.FamilyShift, rankOf(i, 1000, 8000))
	}
	for _, name := range l.Compromise["LastName"] {
		e.rank(name, tagger.FamilyShift, 2)
	}
	for _, name := range l.locales() {
		for _, family := range l.Faker[name].Family {
			if words := split(family); latin(family) && len(words) > 0 {
				e.rank(words[len(words)-1], tagger.FamilyShift, 2)
			}
		}
	}
}

func (e entries) places(l *lists) {
	for i, c := range l.Cities {
		rank := rankOf(i, 1500, 6000)
		if c.Country == "US" || c.Country == "GB" || c.Country == "CA" || c.Country == "AU" {
			rank = rankOf(c.rankPopulation(), 200, 1000)
		}
		if latin(c.Name) && (rank > 1 || c.Population > 20000) {
			e.place(c.Name, rank)
		}
	}
	for _, list := range [][]string{l.Countries, l.States, l.Compromise["Country"], l.Compromise["Region"], l.Faker["en"].Country} {
		for _, name := range list {
			e.place(name, 3)
			e.flag([]string{name}, tagger.Country)
		}
	}
	for _, name := range l.Compromise["City"] {
		e.place(name, 3)
	}
	for _, name := range l.Compromise["Place"] {
		e.place(name, 2)
	}
	for _, county := range l.Counties {
		if words := split(county); len(words) > 1 {
			e.place(strings.Join(words[len(words)-2:], " "), 2)
		}
	}
	for _, name := range l.locales() {
		for _, state := range l.Faker[name].State {
			if latin(state) {
				e.place(state, 2)
			}
		}
	}
}

// rankPopulation returns a rank by population, in the order of magnitude of ranks among all cities of a country.
func (c city) rankPopulation() int {
	switch {
	case c.Population > 150_000:
		return 100
	case c.Population > 40_000:
		return 500
	}
	return 2000
}

// without returns the entries with what they say of names taken from part of them, so that training
// sees names that no list has.
func (e entries) without(part func(hash uint32) bool) entries {
	const names = 3<<tagger.GivenShift | 3<<tagger.FamilyShift | 3<<tagger.PlaceShift | tagger.Country | tagger.LowerName
	out := make(entries, len(e))
	for h, known := range e {
		if part(h) {
			known &^= names
		}
		out[h] = known
	}
	return out
}

// table returns the lexicon in the form in which it ships.
func (e entries) table() []byte {
	known := make(map[uint32]uint32, len(e))
	for h, k := range e {
		if k != 0 {
			known[h] = k
		}
	}
	return tagger.MakeLexicon(known)
}

// cased says how often a word is in lower case, and how often in upper case within a sentence.
type cased struct{ lower, upper int }

func (c *cased) ratio() uint32 {
	n := c.lower + c.upper
	if n < 2 {
		return 0
	}
	switch share := float64(c.lower) / float64(n); {
	case share < 0.02:
		return 1
	case share < 0.1:
		return 2
	case share < 0.3:
		return 3
	case share < 0.6:
		return 4
	case share < 0.85:
		return 5
	case share < 0.97:
		return 6
	}
	return 7
}
