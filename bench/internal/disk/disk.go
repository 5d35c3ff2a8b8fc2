// Package disk times one durable append on a disk. A program that journals before it responds
// cannot add less latency than this.
package disk

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// record is about the size of a journal record of one request, in bytes.
const record = 512

// Probe is a file for appends. It is not safe for concurrent use.
type Probe struct {
	file *os.File
	data [record]byte
}

// NewProbe creates the file in a directory on the disk to measure. The file disappears with the
// process.
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

// Append appends a record, syncs it, and returns the duration.
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

// Close closes the file.
func (p *Probe) Close() error { return p.file.Close() }

// Measure returns the durations of n appends, at least one.
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
