package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/sums.txt")

// TestTrainingIsReproducible trains with a small part of the material, twice, and compares with what the same part gave before.
func TestTrainingIsReproducible(t *testing.T) {
	train := func() string {
		l, err := readLists("testdata")
		if err != nil {
			t.Fatal(err)
		}
		letters, err := readMails("testdata", "mails")
		if err != nil {
			t.Fatal(err)
		}
		if len(letters) != 3 {
			t.Fatalf("%d mails were read, not 3", len(letters))
		}
		lexicon, weights, err := build(l, letters, size{texts: 300, epochs: 2, models: 2})
		if err != nil {
			t.Fatal(err)
		}
		sum := func(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }
		return "lexicon " + sum(lexicon) + "\nweights " + sum(weights) + "\n"
	}
	got := train()
	if again := train(); again != got {
		t.Fatalf("a second training gives other bytes:\n%s%s", got, again)
	}
	file := filepath.Join("testdata", "sums.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the training gives\n%snot\n%sIf that was intended, run: go test ./tools/nametagger -update, and make names", got, want)
	}
}

// TestMails labels the mails of testdata.
func TestMails(t *testing.T) {
	l, err := readLists("testdata")
	if err != nil {
		t.Fatal(err)
	}
	letters, err := readMails("testdata", "mails")
	if err != nil {
		t.Fatal(err)
	}
	words := lexicon(l, countCases(nil))
	lb := newLabeller(words, letters, nil)
	var got strings.Builder
	for i := range letters {
		at := 0
		for _, s := range lb.label(&letters[i]) {
			got.WriteString(letters[i].text[at:s.start] + "[" + [...]string{"", "PERSON:", "LOCATION:", "?"}[s.kind] + letters[i].text[s.start:s.end] + "]")
			at = s.end
		}
		got.WriteString(letters[i].text[at:] + "----\n")
	}
	file := filepath.Join("testdata", "labelled.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// TestTemplates fills each template.
func TestTemplates(t *testing.T) {
	l, err := readLists("testdata")
	if err != nil {
		t.Fatal(err)
	}
	g := newGenerator(newPool(l, 1))
	for i := range g.templates {
		var d document
		g.fill(&d, &g.templates[i], map[string]personName{})
		last := 0
		for _, s := range d.spans {
			if s.start < last || s.end <= s.start || s.end > len(d.text) {
				t.Errorf("%q has the spans %v", d.text, d.spans)
			}
			last = s.end
		}
		if g.slots.MatchString(d.text) {
			t.Errorf("%q has a slot", d.text)
		}
	}
}
