package launch

import "syscall"

// attributes put the child into a process group of its own, so that Ctrl-C in a
// terminal reaches us and not it, and have the kernel kill it when the thread
// that started it is gone: the only tie that outlasts a SIGKILL of ours.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
