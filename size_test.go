package main

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// A package that is larger has several subjects.
const (
	maxPackageFiles = 45
	maxPackageLines = 4000 // with code: neither empty nor only a comment
)

// largePackages may exceed the limits.
func largePackages() map[string]string {
	return map[string]string{
		"mgmt": "its services, one file each, have one table of operations",
	}
}

// TestPackageSizes holds the production packages to the limits.
func TestPackageSizes(t *testing.T) {
	files, lines := map[string]int{}, map[string]int{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && skippedDir(name):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		pkg := path.Dir(name)
		files[pkg]++
		lines[pkg] += codeLines(src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range files {
		tooLarge := files[pkg] > maxPackageFiles || lines[pkg] > maxPackageLines
		why, allowed := largePackages()[pkg]
		switch {
		case tooLarge && !allowed:
			t.Errorf("%s has %d files and %d lines of code, more than %d or %d: divide it by subjects", pkg, files[pkg], lines[pkg], maxPackageFiles, maxPackageLines)
		case allowed && !tooLarge:
			t.Errorf("%s (%s) is within the limits now: remove it from largePackages", pkg, why)
		}
	}
	if lines["cluster/fault"] == 0 {
		t.Error("the walk did not reach cluster/fault: it proves nothing")
	}
}

// codeLines returns the number of lines with code.
func codeLines(src []byte) int {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	n, last := 0, 0
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return n
		}
		first := file.Line(pos)
		end := first + strings.Count(text, "\n")
		if tok == token.SEMICOLON {
			end = first // it stands for the end of the line
		}
		n += max(0, end-max(last, first-1))
		last = max(last, end)
	}
}

func TestCodeLines(t *testing.T) {
	for _, tc := range []struct {
		src  string
		want int
	}{
		{"package a\n", 1},
		{"// A comment.\npackage a\n\nvar x = 1 // more\n\n/*\nfunc\n*/\n", 2},
		{"package a\n\nvar x = `a\n\nb`\n\nfunc f() {\n\tx, y := 1, 2\n}\n", 7},
	} {
		if got := codeLines([]byte(tc.src)); got != tc.want {
			t.Errorf("%q has %d lines of code, want %d", tc.src, got, tc.want)
		}
	}
}
