package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/go-json-experiment/json"
)

func main() {
	out := flag.String("out", "", "write below this directory instead, with overlay.json")
	generated := flag.String("generated", "", "with -out: add the files that are generated below this directory to overlay.json")
	flag.Parse()
	if err := run(flag.Args(), *out, *generated); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out, generated string) error {
	if len(args) != 1 || !regexp.MustCompile(`^[a-z]{2,30}$`).MatchString(args[0]) {
		return fmt.Errorf("usage: scaffold [-out dir [-generated dir]] name; the name is a singular noun in lower case, such as snippet")
	}
	files, err := scaffold(os.DirFS("."), args[0])
	if err != nil {
		return err
	}
	root := "."
	if out != "" {
		root = out
	}
	for name, text := range files {
		to := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return err
		}
	}
	if out == "" {
		return nil
	}
	return writeOverlay(files, out, generated)
}

// writeOverlay writes the file that go build reads with -overlay: which files stand for those of this tree.
func writeOverlay(files map[string][]byte, out, generated string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	replace := make(map[string]string)
	for name := range files {
		replace[filepath.Join(here, name)] = filepath.Join(out, name)
	}
	if generated != "" {
		if generated, err = filepath.Abs(generated); err != nil {
			return err
		}
		err = filepath.WalkDir(generated, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, err := filepath.Rel(generated, path)
			replace[filepath.Join(here, "proto", "gen", name)] = path
			return err
		})
		if err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "overlay.json"), text, 0o600)
}
