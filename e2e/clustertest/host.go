//go:build linux

package clustertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Host is a machine of the Lab. Its methods may be called from any goroutine.
type Host struct {
	index int
	addr  netip.Addr
	ns    *os.File // its network namespace; nil: this process's
	tun   *os.File // the other end of its interface

	mu struct {
		sync.Mutex
		processes []*Process
	}
}

// address of host i: 10.77.0.i, and 10.77.0.100 for the test's own process.
func address(i int) netip.Addr {
	if i == 0 {
		i = maxHosts + 1
	}
	return netip.AddrFrom4([4]byte{10, 77, 0, byte(i)})
}

// newHost makes host i, whose network is this process's own if i is 0.
func newHost(i int) (*Host, error) {
	h := &Host{index: i, addr: address(i)}
	err := h.enter(func() (err error) {
		if i != 0 {
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("a network namespace cannot be made (it needs root, or Rerun): %w", err)
			}
			if h.ns, err = os.Open("/proc/thread-self/ns/net"); err != nil {
				return err
			}
		}
		if err := startLoopback(); err != nil {
			return fmt.Errorf("lo: %w", err)
		}
		h.tun, err = openInterface(h.addr)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

// enter calls f on a thread of its own that is in the host's namespace and ends
// with f: no other goroutine ever finds itself in it.
func (h *Host) enter(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlock: then the runtime ends the thread with the goroutine
		if h.ns != nil {
			if err := unix.Setns(int(h.ns.Fd()), unix.CLONE_NEWNET); err != nil {
				done <- fmt.Errorf("clustertest: host %d: %w", h.index, err)
				return
			}
		}
		done <- f()
	}()
	return <-done
}

// Addr is the host's address.
func (h *Host) Addr() netip.Addr { return h.addr }

// Listen listens on a port of the host; 0 chooses one. What it returns is used
// by this process and may be used from any goroutine, as with the other methods
// that open sockets.
func (h *Host) Listen(ctx context.Context, port uint16) (net.Listener, error) {
	var l net.Listener
	err := h.enter(func() (err error) {
		var config net.ListenConfig
		l, err = config.Listen(ctx, "tcp4", netip.AddrPortFrom(h.addr, port).String())
		return err
	})
	return l, err
}

// ListenPacket opens a UDP port of the host; 0 chooses one.
func (h *Host) ListenPacket(ctx context.Context, port uint16) (net.PacketConn, error) {
	var c net.PacketConn
	err := h.enter(func() (err error) {
		var config net.ListenConfig
		c, err = config.ListenPacket(ctx, "udp4", netip.AddrPortFrom(h.addr, port).String())
		return err
	})
	return c, err
}

// Dial connects to a TCP port from the host.
func (h *Host) Dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	var c net.Conn
	err := h.enter(func() (err error) {
		var dialer net.Dialer // one address is dialled by the calling goroutine
		c, err = dialer.DialContext(ctx, "tcp4", to.String())
		return err
	})
	return c, err
}

// Process is one that runs on a host.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait; set before done is closed
}

// Start starts a command on the host. It is killed with the lab, and by the
// kernel if this process dies; for that its SysProcAttr.Pdeathsig is replaced.
// Do not call cmd.Wait: the Process does.
func (h *Host) Start(cmd *exec.Cmd) (*Process, error) {
	attr := unix.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	attr.Pdeathsig = unix.SIGKILL
	cmd.SysProcAttr = &attr
	p := &Process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel's tie is to the thread that started the process, so the thread
		// stays until it has ended.
		_ = h.enter(func() error {
			err := cmd.Start()
			started <- err
			if err == nil {
				p.err = cmd.Wait()
				close(p.done)
			}
			return nil
		})
		select {
		case started <- errors.New("the namespace cannot be entered"):
		default: // it was
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("clustertest: start on host %d: %w", h.index, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.processes = append(h.mu.processes, p)
	return p, nil
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended and its output is complete.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait returns how the process ended, as exec.Cmd.Wait does.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// Signal sends a signal. That the process has ended already is no error.
func (p *Process) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// stop kills the host's processes and waits until they have ended.
func (h *Host) stop() {
	h.mu.Lock()
	processes := h.mu.processes
	h.mu.processes = nil
	h.mu.Unlock()
	for _, p := range processes {
		_ = p.Signal(unix.SIGKILL) // the only error left is of a process that is not ours
	}
	for _, p := range processes {
		<-p.done
	}
}

// close gives the interface and the namespace back to the kernel.
func (h *Host) close() error {
	var errs []error
	for _, f := range []*os.File{h.tun, h.ns} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
