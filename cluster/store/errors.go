package store

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// refuse makes the error for a data directory that cannot be used, with the
// remedy that fits the cause.
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

// notTaken makes the error for a write that failed in a known way.
func notTaken(op string, err error) *fault.Error {
	return &fault.Error{
		Op: "store." + op, Kind: fault.StorageUnavailable,
		Detail: "The data directory does not take the write.",
		Err:    err,
	}
}

// unreadable makes the error for a read that failed.
func unreadable(err error) *fault.Error {
	return &fault.Error{
		Op: "store.read", Kind: fault.StorageUnavailable,
		Detail: "The data directory cannot be read. Check the disk; a damaged file is not repaired by a restart.",
		Err:    err,
	}
}

// isFull reports whether err says that there is no space left, or none left for this user.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isLocked reports whether err is a lock that somebody else holds. Within one
// process the lock is refused by Pebble with a text of its own.
func isLocked(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process")
}
