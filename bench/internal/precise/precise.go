// Package precise sleeps with the kernel's high-resolution timers.
//
// An idle Go program waits in epoll_wait, whose timeout is in whole milliseconds, so time.Sleep
// may overshoot by up to 1 ms. A fast gateway adds about as much. A timerfd that is read
// through the netpoller wakes within tens of microseconds and blocks no OS thread.
package precise

import (
	"context"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Timer is one timerfd. It is not safe for concurrent use.
type Timer struct {
	fd   int
	file *os.File
	buf  [8]byte
}

var (
	mu   sync.Mutex
	free []*Timer
)

// Get takes a timer from the pool or makes a new one.
func Get() (*Timer, error) {
	mu.Lock()
	if n := len(free); n > 0 {
		t := free[n-1]
		free = free[:n-1]
		mu.Unlock()
		return t, nil
	}
	mu.Unlock()
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return &Timer{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}, nil
}

// Put returns a timer to the pool.
func Put(t *Timer) {
	mu.Lock()
	free = append(free, t)
	mu.Unlock()
}

// SleepUntil returns at t, or at once if t has passed.
func (tm *Timer) SleepUntil(t time.Time) error {
	d := time.Until(t)
	if d <= 0 {
		return nil
	}
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(tm.fd, 0, &spec, nil); err != nil {
		return os.NewSyscallError("timerfd_settime", err)
	}
	_, err := tm.file.Read(tm.buf[:])
	return err
}

// Sleep waits for d with a pooled timer. It takes no context, because the sleeps here are
// short.
func Sleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	until := time.Now().Add(d)
	tm, err := Get()
	if err != nil {
		return err
	}
	defer Put(tm)
	return tm.SleepUntil(until)
}

// Tick calls fn(k) at start+k*interval for k in [0,n), without drift, until fn
// returns false or ctx is done.
func Tick(ctx context.Context, start time.Time, interval time.Duration, n int, fn func(k int) bool) error {
	tm, err := Get()
	if err != nil {
		return err
	}
	defer Put(tm)
	for k := range n {
		if err := tm.SleepUntil(start.Add(time.Duration(k) * interval)); err != nil {
			return err
		}
		if ctx.Err() != nil || !fn(k) {
			return ctx.Err()
		}
	}
	return nil
}
