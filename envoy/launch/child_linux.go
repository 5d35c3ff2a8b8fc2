package launch

import "syscall"

// attributes put the child into its own process group, so that Ctrl-C in a terminal signals
// only the gateway. They also make the kernel kill the child when the thread that started it
// ends, which works even after a SIGKILL of the gateway.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
