package consensus

import (
	"bytes"
	"strings"
	"testing"
)

// TestReadingABackupTakesNoMemoryPerRecord reads backups with few and with many records. The
// second must not allocate more often; otherwise a large backup fills the heap with garbage.
func TestReadingABackupTakesNoMemoryPerRecord(t *testing.T) {
	allocations := func(records int) float64 {
		var file bytes.Buffer
		w := newBackupWriter(&file)
		if err := w.begin(mark{index: 3, term: 2, clock: 1}); err != nil {
			t.Fatal(err)
		}
		for range records {
			if err := w.record('a', []byte("key"), []byte(strings.Repeat("v", 300))); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.end(); err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(3, func() {
			if _, err := CheckBackup(bytes.NewReader(file.Bytes())); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := allocations(10), allocations(10_000)
	if many > 2*few+100 {
		t.Errorf("10,000 records need %.0f allocations, and 10 records %.0f", many, few)
	}
}
