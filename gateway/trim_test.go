package gateway

import "testing"

func TestHeapIsTrimmedAtRest(t *testing.T) {
	var allocated uint64
	frees := 0
	trim := &trimmer{allocated: func() uint64 { return allocated }, free: func() { frees++ }}
	for _, step := range []struct {
		what  string
		bytes uint64
		frees int
	}{
		{"start", worthBytes, 0},
		{"load", 10 * worthBytes, 0},
		{"its last requests", restBytes, 0},
		{"rest", restBytes / 8, 1},
		{"more rest", restBytes / 8, 1},
		{"a few requests", restBytes - 1, 1},
		{"a short load", worthBytes, 1},
		{"rest again", 0, 2},
	} {
		allocated += step.bytes
		if trim.look(); frees != step.frees {
			t.Errorf("%s: trimmed %d times, want %d", step.what, frees, step.frees)
		}
	}
}

func TestAllocatedBytesGrow(t *testing.T) {
	before := allocatedBytes()
	kept := make([]byte, 1<<20)
	if after := allocatedBytes(); after-before < uint64(len(kept)) || after-before > 64<<20 {
		t.Errorf("%d bytes before a megabyte, %d after it", before, after)
	}
}
