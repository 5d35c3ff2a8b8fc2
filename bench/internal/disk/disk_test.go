package disk_test

import (
	"os"
	"testing"

	"github.com/modelgateway/modelgateway/bench/internal/disk"
)

func TestMeasureLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	times, err := disk.Measure(dir, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(times) != 3 {
		t.Errorf("%d times, want 3", len(times))
	}
	for _, took := range times {
		if took <= 0 {
			t.Errorf("a synced append took %s", took)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("it left %v", left)
	}
}

func TestMeasureTellsOfAMissingDirectory(t *testing.T) {
	if _, err := disk.Measure(t.TempDir()+"/missing", 1); err == nil {
		t.Error("no error")
	}
}
