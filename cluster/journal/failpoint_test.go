//go:build inject

package journal_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/inject"
	"github.com/modelgateway/modelgateway/cluster/store"
)

// TestKillAtEveryPoint kills a process at each of the journal's failpoints, early and late, and
// checks its directory against the promises to the process.
func TestKillAtEveryPoint(t *testing.T) {
	for _, name := range inject.Points() {
		if !strings.HasPrefix(name, "journal.") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			book := newBook()
			passes := []string{"", ":7", ":40"}
			if strings.HasPrefix(name, "journal.repair.") { // is reached once, and only after a death
				passes = []string{"", ""}
				book.child(t, dir, "", 300)
			}
			const most = 100_000 // it must die before that
			for _, pass := range passes {
				before := len(book.sent) + len(book.intended) + len(book.settled) + len(book.shipped)
				book.child(t, dir, inject.PointVariable+"="+name+pass, most)
				if len(book.sent)+len(book.intended)+len(book.settled)+len(book.shipped)-before >= most {
					t.Fatalf("it does not die at %s%s", name, pass)
				}
				if !strings.HasPrefix(name, "journal.repair.") {
					continue
				}
				book.child(t, dir, "", 300) // continues, and leaves attempts again
			}
			if len(book.settled) < 20 {
				t.Fatalf("the children settled only %d", len(book.settled))
			}
			book.check(t, store.Config{Dir: dir, MinFreeBytes: 1, BallastBytes: -1}, book.sent)
		})
	}
}
