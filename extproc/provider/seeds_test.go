package provider_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// askSeeds are the requests of the golden files.
func askSeeds(tb testing.TB) [][]byte {
	tb.Helper()
	return sections(tb, askJSON)
}

// replySeeds are the bodies of the answers in the golden files.
func replySeeds(tb testing.TB) [][]byte {
	tb.Helper()
	var out [][]byte
	for _, raw := range sections(tb, replyHTTP) {
		for i := range len(raw) - 1 {
			if raw[i] == '\n' && raw[i+1] == '\n' {
				out = append(out, raw[i+2:])
				break
			}
		}
	}
	return out
}

// sections reads one section of every golden file.
func sections(tb testing.TB, name string) [][]byte {
	tb.Helper()
	var files []string
	for _, l := range languages() {
		some, err := filepath.Glob(l.folder + "/*/*.txtar")
		if err != nil || len(some) == 0 {
			tb.Fatalf("no golden files: %v", err)
		}
		files = append(files, some...)
	}
	var out [][]byte
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == name {
				out = append(out, f.Data)
			}
		}
	}
	return out
}
