package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// refuse returns the error for an unusable data directory, with a remedy for the cause.
func refuse(op, dir string, err error) *fault.Error {
	var remedy string
	switch {
	case errors.Is(err, syscall.EROFS):
		remedy = "its file system is read-only; mount it writable or choose another directory"
	case errors.Is(err, fs.ErrPermission):
		remedy = "the gateway's user may not write there; give it the directory or choose another one"
	case isFull(err):
		remedy = "the disk is full; free some space"
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		remedy = "it is not a directory; choose another path"
	case isLocked(err):
		remedy = "another process has it open; stop that one or choose another directory"
	case errors.Is(err, syscall.EIO):
		remedy = "the disk reports errors; replace it"
	default:
		remedy = "see the cause in the log"
	}
	return &fault.Error{
		Op: "store." + op, Kind: fault.StorageUnavailable,
		Detail: fmt.Sprintf("The data directory %q cannot be used: %s.", dir, remedy),
		Err:    err,
	}
}

// notTaken returns the error for a write that failed without effect.
func notTaken(op string, err error) *fault.Error {
	return &fault.Error{
		Op: "store." + op, Kind: fault.StorageUnavailable,
		Detail: "The write to the data directory failed.",
		Err:    err,
	}
}

// unreadable returns the error for a failed read.
func unreadable(err error) *fault.Error {
	return &fault.Error{
		Op: "store.read", Kind: fault.StorageUnavailable,
		Detail: "The data directory cannot be read. Check the disk; a damaged file is not repaired by a restart.",
		Err:    err,
	}
}

// isFull reports whether err means that there is no space left, or none for this user.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isLocked reports whether err means that another process or this one holds the lock. Within
// one process Pebble reports that with its own text.
func isLocked(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process")
}
