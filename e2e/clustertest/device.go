//go:build linux

package clustertest

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// maxPacket is more than the interfaces' MTU of 1,500 bytes.
const maxPacket = 2048

// device is the interface's name on every host.
const device = "lab0"

// openInterface makes the calling thread's namespace an interface with an
// address, from which the whole lab is reached, and returns its other end: each
// Read is one IP packet that the kernel sends there, each Write one that it
// receives.
func openInterface(addr netip.Addr) (*os.File, error) {
	const path = "/dev/net/tun"
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s is needed: %w", path, err)
	}
	if err := configure(fd, addr); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), unix.Close(fd))
	}
	// Only now: the poller takes no descriptor that is not attached yet.
	return os.NewFile(uintptr(fd), path), nil
}

// configure attaches fd to a new interface and brings it up.
func configure(fd int, addr netip.Addr) error {
	request, err := unix.NewIfreq(device)
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		return err
	}
	return withSocket(func(socket int) error {
		a := addr.As4()
		for _, step := range []struct {
			op    uint
			value [4]byte
		}{{unix.SIOCSIFADDR, a}, {unix.SIOCSIFNETMASK, [4]byte{255, 255, 255, 0}}} {
			request, err := unix.NewIfreq(device)
			if err != nil {
				return err
			}
			if err := request.SetInet4Addr(step.value[:]); err != nil {
				return err
			}
			if err := unix.IoctlIfreq(socket, step.op, request); err != nil {
				return err
			}
		}
		return up(socket, device)
	})
}

// startLoopback brings lo up, with the address the kernel gives it.
func startLoopback() error {
	return withSocket(func(socket int) error { return up(socket, "lo") })
}

func up(socket int, name string) error {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(socket, unix.SIOCGIFFLAGS, request); err != nil {
		return err
	}
	request.SetUint16(request.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}

// withSocket calls f with a socket of the calling thread's namespace.
func withSocket(f func(socket int) error) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(f(socket), unix.Close(socket))
}
