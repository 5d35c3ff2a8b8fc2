package procstat

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestOfCountsSelfAndChild(t *testing.T) {
	c := exec.Command("sleep", "5")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	tr, err := Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if tr.PIDs < 2 || tr.RSS < 1<<20 || tr.PSS == 0 {
		t.Errorf("%+v", tr)
	}
}

func TestCPUAdvances(t *testing.T) {
	of := func() (time.Duration, time.Duration) {
		tree, err := Of(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		busy, err := MachineBusy()
		if err != nil {
			t.Fatal(err)
		}
		return tree.CPU, busy
	}
	// Work until the process has had 50 ms, however long that takes here.
	own, busy := of()
	nowOwn, nowBusy := own, busy
	for nowOwn-own < 50*time.Millisecond {
		nowOwn, nowBusy = of()
	}
	if nowBusy-busy < 30*time.Millisecond {
		t.Errorf("the process had %v, the whole machine %v", nowOwn-own, nowBusy-busy)
	}
}

func TestOfUnknown(t *testing.T) {
	if _, err := Of(1 << 30); err == nil {
		t.Error("no error for a process that does not exist")
	}
}
