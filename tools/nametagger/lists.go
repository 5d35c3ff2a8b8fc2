package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// locale is the lists of one language or country.
type locale struct {
	Given   []string `json:"given"`
	Family  []string `json:"family"`
	City    []string `json:"city"`
	Country []string `json:"country"`
	State   []string `json:"state"`
	Words   []string `json:"words"`
}

// lists is what the packages say of names, places and other words.
type lists struct {
	Faker      map[string]locale   `json:"faker"`      // by locale, from both packages of that name
	Compromise map[string][]string `json:"compromise"` // by tag
	Census     census              `json:"census"`
	Cities     []city              `json:"cities"`
	Countries  []string            `json:"countries"`
	States     []string            `json:"states"`
	Counties   []string            `json:"counties"`
}

// census is the names of the census of the United States in 1990, in the order of frequency.
type census struct {
	Female []string `json:"female"`
	Male   []string `json:"male"`
	Family []string `json:"family"`
}

type city struct {
	Name, Country string
	Population    int
}

// UnmarshalJSON reads a city from an array.
func (c *city) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&c.Name, &c.Country, &c.Population})
}

// readLists reads the files that lists.mjs and lists.py have written.
func readLists(dir string) (*lists, error) {
	var js, py lists
	for name, into := range map[string]*lists{"lists-js.json": &js, "lists-py.json": &py} {
		b, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // the folder is the caller's
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, into); err != nil {
			return nil, err
		}
	}
	py.Compromise = js.Compromise
	for name, l := range js.Faker {
		m := py.Faker[name]
		m.Given, m.Family = append(m.Given, l.Given...), append(m.Family, l.Family...)
		m.City, m.State = append(m.City, l.City...), append(m.State, l.State...)
		m.Country, m.Words = l.Country, l.Words
		py.Faker[name] = m
	}
	return &py, nil
}

// locales returns the names of all locales in order.
func (l *lists) locales() []string { return sortedKeys(l.Faker) }

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// latin reports whether a name is in Latin letters and begins with one in upper case.
func latin(s string) bool {
	for i, r := range s {
		if i == 0 && !unicode.IsUpper(r) || r > 0x24F && (r < 0x1E00 || r > 0x1EFF) && r != '’' {
			return false
		}
	}
	return s != ""
}

// title returns a word of capitals with only its first letter in upper case.
func title(s string) string {
	if s == "" {
		return s
	}
	low := []rune(strings.ToLower(s))
	low[0] = unicode.ToUpper(low[0])
	if len(low) > 4 && strings.HasPrefix(s, "MC") {
		low[2] = unicode.ToUpper(low[2])
	}
	return string(low)
}
