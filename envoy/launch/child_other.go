//go:build !linux

package launch

import "syscall"

// attributes put the child into a process group of its own. Only Linux can also
// tie its life to ours; elsewhere it outlives a SIGKILL of ours.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
