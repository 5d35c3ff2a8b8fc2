package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/store"
)

// TestCopiesShareTablesOnly checks the files on a real file system. Files that Pebble may still
// change, above all its logs and its manifest, must not be shared between two directories. The
// tables must be, or a copy would take space and time.
func TestCopiesShareTablesOnly(t *testing.T) {
	root := t.TempDir()
	dir := func(name string) string { return filepath.Join(root, name) }
	s := open(t, store.Config{Kind: store.StateStore, Dir: dir("state"), MinFreeBytes: 1})
	for n := 1; n <= 6; n++ {
		if err := step(s, n, ""); err != nil {
			t.Fatal(err)
		}
		if n == 4 { // so that both tables and a log have content
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(s.Checkpoint(dir("copy")), store.LinkDir(nil, dir("copy"), dir("link"))); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{"state", "copy"}, {"copy", "link"}} {
		tables, others := 0, 0
		names, err := os.ReadDir(dir(pair[1]))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range names {
			copied, err := entry.Info()
			if err != nil {
				t.Fatal(err)
			}
			original, err := os.Stat(filepath.Join(dir(pair[0]), entry.Name()))
			if errors.Is(err, fs.ErrNotExist) {
				continue // it has its own marker
			}
			if err != nil {
				t.Fatal(err)
			}
			table := strings.HasSuffix(entry.Name(), ".sst")
			if same := os.SameFile(original, copied); same != table {
				t.Errorf("%s in %s and %s: one file: %v", entry.Name(), pair[0], pair[1], same)
			}
			if table {
				tables++
			} else {
				others++
			}
		}
		if tables == 0 || others < 3 {
			t.Errorf("%s: %d tables and %d others prove nothing", pair[1], tables, others)
		}
	}
	linked := open(t, store.Config{Kind: store.StateStore, Dir: dir("link"), MinFreeBytes: 1})
	if n := steps(t, linked); n != 6 {
		t.Errorf("the link has %d steps", n)
	}
}
