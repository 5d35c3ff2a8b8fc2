// Package disk times what one durable append costs on a disk. What journals before
// it answers cannot add less than this, so its latency is read beside this figure.
package disk

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// record is about what a journal writes for one request, in bytes.
const record = 512

// Probe is a file that is appended to. It is for one goroutine.
type Probe struct {
	file *os.File
	data [record]byte
}

// NewProbe makes the file, in a directory on the disk to measure. It goes away with
// the process, however that ends.
func NewProbe(dir string) (*Probe, error) {
	f, err := os.CreateTemp(dir, "probe-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Probe{file: f}, nil
}

// Append appends a record, syncs it, and returns how long that took.
func (p *Probe) Append() (time.Duration, error) {
	start := time.Now()
	if _, err := p.file.Write(p.data[:]); err != nil {
		return 0, err
	}
	if err := unix.Fdatasync(int(p.file.Fd())); err != nil {
		return 0, os.NewSyscallError("fdatasync", err)
	}
	return time.Since(start), nil
}

// Close gives the file back.
func (p *Probe) Close() error { return p.file.Close() }

// Measure returns how long each of n appends took, at least one.
func Measure(dir string, n int) (times []time.Duration, err error) {
	p, err := NewProbe(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	for range max(n, 1) {
		took, err := p.Append()
		if err != nil {
			return nil, err
		}
		times = append(times, took)
	}
	return times, nil
}
