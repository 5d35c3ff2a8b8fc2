//go:build !linux

package launch

import "syscall"

// attributes put the child into its own process group. Only Linux can also tie its life to the
// gateway; elsewhere it survives a SIGKILL of the gateway.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
