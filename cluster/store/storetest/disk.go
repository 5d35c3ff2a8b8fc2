// Package storetest provides an in-memory disk for tests that simulate a power failure during
// writes.
package storetest

import (
	"io"
	"os"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Disk is a vfs.MemFS that supports CrashClone at any time. MemFS itself can deadlock, because
// CrashClone takes two locks in the opposite order of some operations. Here CrashClone excludes
// all other operations.
type Disk struct {
	*vfs.MemFS

	gate sync.RWMutex
}

// NewDisk returns an empty disk.
func NewDisk() *Disk { return On(vfs.NewCrashableMem()) }

// On returns a disk that continues with the content of another one, which must not be written
// to any more.
func On(mem *vfs.MemFS) *Disk { return &Disk{MemFS: mem} }

// CrashClone returns the disk as a power failure could leave it now.
func (d *Disk) CrashClone(cfg vfs.CrashCloneCfg) *vfs.MemFS {
	d.gate.Lock()
	defer d.gate.Unlock()
	return d.MemFS.CrashClone(cfg)
}

// Create implements vfs.FS.
func (d *Disk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.Create(name, category)
}

// Link implements vfs.FS.
func (d *Disk) Link(from, to string) error {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.Link(from, to)
}

// Open implements vfs.FS.
func (d *Disk) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.Open(name, options...)
}

// OpenReadWrite implements vfs.FS.
func (d *Disk) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.OpenReadWrite(name, category, options...)
}

// OpenDir implements vfs.FS.
func (d *Disk) OpenDir(name string) (vfs.File, error) {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.OpenDir(name)
}

// Remove implements vfs.FS.
func (d *Disk) Remove(name string) error {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (d *Disk) RemoveAll(name string) error {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.RemoveAll(name)
}

// Rename implements vfs.FS.
func (d *Disk) Rename(from, to string) error {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.Rename(from, to)
}

// ReuseForWrite implements vfs.FS.
func (d *Disk) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.ReuseForWrite(from, to, category)
}

// MkdirAll implements vfs.FS.
func (d *Disk) MkdirAll(name string, mode os.FileMode) error {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.MkdirAll(name, mode)
}

// Lock implements vfs.FS.
func (d *Disk) Lock(name string) (io.Closer, error) {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.Lock(name)
}

// List implements vfs.FS.
func (d *Disk) List(name string) ([]string, error) {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.List(name)
}

// Stat implements vfs.FS.
func (d *Disk) Stat(name string) (vfs.FileInfo, error) {
	d.gate.RLock()
	defer d.gate.RUnlock()
	return d.MemFS.Stat(name)
}
