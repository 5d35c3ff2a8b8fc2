package main

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// effort is what something took. On a machine that has other work its CPU time says
// more than the rate.
type effort struct{ time, cpu time.Duration }

// timer begins with now.
type timer struct {
	start time.Time
	cpu   time.Duration
}

func startTimer() (timer, error) {
	cpu, err := processTime()
	return timer{start: time.Now(), cpu: cpu}, err
}

// stop may be called again for a later moment.
func (t timer) stop() (effort, error) {
	cpu, err := processTime()
	return effort{time: time.Since(t.start), cpu: cpu - t.cpu}, err
}

// processTime is the CPU time of this process so far.
func processTime() (time.Duration, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano()), os.NewSyscallError("clock_gettime", err)
}
