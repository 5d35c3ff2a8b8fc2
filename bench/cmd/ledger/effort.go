package main

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// effort is elapsed and CPU time. On a busy machine the CPU time is more meaningful than the
// rate.
type effort struct{ time, cpu time.Duration }

// timer measures from its creation.
type timer struct {
	start time.Time
	cpu   time.Duration
}

func startTimer() (timer, error) {
	cpu, err := processTime()
	return timer{start: time.Now(), cpu: cpu}, err
}

// stop may be called again later.
func (t timer) stop() (effort, error) {
	cpu, err := processTime()
	return effort{time: time.Since(t.start), cpu: cpu - t.cpu}, err
}

// processTime returns the CPU time of this process.
func processTime() (time.Duration, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano()), os.NewSyscallError("clock_gettime", err)
}
