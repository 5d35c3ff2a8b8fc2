package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/store/storetest"
)

// dirStep is a change of a directory, and the content after it.
type dirStep struct {
	name  string
	do    func(d *store.Dir) error
	after map[string]string // file → content
}

// dirSteps returns changes of every kind, each based on the previous ones.
func dirSteps() []dirStep {
	create := func(d *store.Dir, name, content string) error {
		f, err := d.Create(name)
		if err != nil {
			return err
		}
		_, err = f.Write([]byte(content))
		return errors.Join(err, f.Close())
	}
	return []dirStep{
		{"make", func(d *store.Dir) error { return d.Make("a/b") }, map[string]string{}},
		{"write", func(d *store.Dir) error { return d.WriteFile("now", []byte("1")) }, map[string]string{"now": "1"}},
		{"replace", func(d *store.Dir) error { return d.WriteFile("now", []byte("2")) }, map[string]string{"now": "2"}},
		{"create", func(d *store.Dir) error { return create(d, "a/b/x", "x") }, map[string]string{"now": "2", "a/b/x": "x"}},
		{"rename", func(d *store.Dir) error { return d.Rename("a/b", "c") }, map[string]string{"now": "2", "c/x": "x"}},
		{"link", func(d *store.Dir) error { return d.Link("c", "d") }, map[string]string{"now": "2", "c/x": "x", "d/x": "x"}},
		{"remove", func(d *store.Dir) error { return d.Remove("c") }, map[string]string{"now": "2", "d/x": "x"}},
		{"remove nothing", func(d *store.Dir) error { return d.Remove("c/x") }, map[string]string{"now": "2", "d/x": "x"}},
		{"rename over", func(d *store.Dir) error { return d.Rename("d/x", "now") }, map[string]string{"now": "x"}},
	}
}

// content returns the files that any step has made. A name.tmp file of WriteFile that a crash
// has left is ignored.
func content(t *testing.T, d *store.Dir) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{"now", "a/b/x", "c/x", "d/x"} {
		data, err := d.ReadFile(name)
		switch {
		case err == nil:
			out[name] = string(data)
		case !errors.Is(err, fs.ErrNotExist):
			t.Errorf("%s: %v", name, err)
		}
	}
	return out
}

func TestDir(t *testing.T) {
	for name, d := range map[string]*store.Dir{
		"in memory": store.NewDir(vfs.NewMem(), "x/y"),
		"real":      store.NewDir(nil, filepath.Join(t.TempDir(), "x", "y")),
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range dirSteps() {
				if err := step.do(d); err != nil {
					t.Fatalf("%s: %v", step.name, err)
				}
				if got := content(t, d); !equal(got, step.after) {
					t.Errorf("after %s: %v", step.name, got)
				}
			}
			names, err := d.List()
			slices.Sort(names)
			if err != nil || !slices.Equal(names, []string{"a", "d", "now"}) {
				t.Errorf("it lists %q, %v", names, err)
			}
			f, size, err := d.Open("now")
			if err != nil || size != 1 {
				t.Fatalf("size %d, %v", size, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			for what, err := range map[string]error{
				"link": d.Link("none", "e"), "rename": d.Rename("none", "e"), "make": d.Make("now/below"),
			} {
				if err == nil {
					t.Errorf("%s of nothing worked", what)
				}
			}
		})
	}
}

func equal(a, b map[string]string) bool {
	for name, content := range a {
		if b[name] != content {
			return false
		}
	}
	return len(a) == len(b)
}

// TestDirAfterCrashAtEveryWrite simulates a power failure before each operation of each step.
// The changes of completed steps are present. The current step has happened, has not happened,
// or is in a documented intermediate state.
func TestDirAfterCrashAtEveryWrite(t *testing.T) {
	mem := storetest.NewDisk()
	var mu sync.Mutex
	crashes, at := uint64(0), 0
	fsys := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		steps := dirSteps()
		before := map[string]string{}
		if at > 0 {
			before = steps[at-1].after
		}
		for _, percent := range []int{0, 50, 100} {
			crashes++
			disk := mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(crashes, 1))})
			checkDir(t, content(t, store.NewDir(disk, "x/y")), before, steps[at])
		}
		return nil
	}))
	d := store.NewDir(fsys, "x/y")
	for i, step := range dirSteps() {
		mu.Lock()
		at = i
		mu.Unlock()
		if err := step.do(d); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		// After it has returned, none of it may be lost.
		left := content(t, store.NewDir(mem.CrashClone(vfs.CrashCloneCfg{}), "x/y"))
		if !equal(left, step.after) {
			t.Errorf("a crash after %s leaves %v", step.name, left)
		}
	}
	if crashes < 60 {
		t.Errorf("only %d crashes", crashes)
	}
}

// checkDir checks the content after a crash within a step.
func checkDir(t *testing.T, got, before map[string]string, during dirStep) {
	t.Helper()
	if equal(got, before) || equal(got, during.after) {
		return
	}
	switch during.name {
	case "create": // any part of the file
		if strings.HasPrefix("x", got["a/b/x"]) {
			return
		}
	case "link", "remove": // any part of the directory
		if got["now"] == "2" {
			return
		}
	case "rename", "rename over": // both names
		for name, content := range got {
			if before[name] != content && during.after[name] != content {
				t.Errorf("within %s, %s is %q", during.name, name, content)
			}
		}
		if got["now"] != "" && (got["c/x"] == "x" || got["a/b/x"] == "x" || during.name == "rename over") {
			return
		}
	}
	t.Errorf("a crash within %s leaves %v", during.name, got)
}

// TestDirReportsEveryFault fails each operation of each step: the step returns an error, or
// compensates for it.
func TestDirReportsEveryFault(t *testing.T) {
	told := 0
	for i, step := range dirSteps() {
		for fail := 1; ; fail++ {
			ops, armed := 0, false
			mem := vfs.NewCrashableMem()
			d := store.NewDir(errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if !armed || op.Kind == errorfs.OpFileClose {
					return nil
				}
				if ops++; ops == fail {
					return syscall.EIO
				}
				return nil
			})), "x/y")
			for _, earlier := range dirSteps()[:i] {
				if err := earlier.do(d); err != nil {
					t.Fatal(err)
				}
			}
			armed = true
			err := step.do(d)
			armed = false
			if ops < fail {
				break
			}
			left := content(t, store.NewDir(mem.CrashClone(vfs.CrashCloneCfg{}), "x/y"))
			switch {
			case err == nil && !equal(left, step.after):
				t.Errorf("fault %d of %s is silent and leaves %v", fail, step.name, left)
			case err != nil && !errors.Is(err, syscall.EIO):
				t.Errorf("fault %d of %s: %v", fail, step.name, err)
			case err != nil:
				told++
				if before, err := d.ReadFile("now"); i > 1 && (err != nil || len(bytes.TrimSpace(before)) != 1) {
					t.Errorf("fault %d of %s leaves %q, %v", fail, step.name, before, err)
				}
			}
		}
	}
	if told < 30 {
		t.Errorf("%d faults were reported", told)
	}
}

// TestMakeAgain makes a directory after an attempt that failed at its last step: the existing
// directory must become durable.
func TestMakeAgain(t *testing.T) {
	mem := vfs.NewCrashableMem()
	failed := false
	d := store.NewDir(errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync && !failed {
			failed = true
			return syscall.EIO
		}
		return nil
	})), "x")
	if err := d.Make("a"); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v", err)
	}
	if err := errors.Join(store.NewDir(mem, "").Make("x"), d.Make("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := mem.CrashClone(vfs.CrashCloneCfg{}).Stat("x/a"); err != nil {
		t.Error(err)
	}
}
