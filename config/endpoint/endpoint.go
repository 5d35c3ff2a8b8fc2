// Package endpoint reads the addresses of the configuration: those that the gateway listens at,
// and those of its nodes. Errors name no part of what they reject.
package endpoint

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// ClusterListen returns IP:port, or what is wrong.
func ClusterListen(s string) (address, why string) {
	const remedy = `write IP:port, such as "0.0.0.0:7400"`
	address, err := Listen(s)
	if err == nil && strings.HasSuffix(address, ":0") {
		err = errors.New("with port 0 it would be another after each start, and nobody would find it")
	}
	if err != nil {
		return "", fmt.Sprintf("is not an address for the other nodes (%v): %s", err, remedy)
	}
	return address, ""
}

// Advertise returns host:port, or what is wrong.
func Advertise(s string) (address, why string) {
	address, err := Node(s, 0)
	if err != nil {
		return "", fmt.Sprintf(`is no address that others could reach this node by (%v): write host:port, such as "10.0.0.1:7400"`, err)
	}
	return address, ""
}

// Node returns host:port of a node. port is what holds for an address
// without one; 0 means that it must have one. Its errors name no part of s.
func Node(s string, port uint16) (string, error) {
	host, digits, err := net.SplitHostPort(s)
	switch ip, ipErr := netip.ParseAddr(strings.Trim(s, "[]")); {
	case err == nil:
	case ipErr == nil && port != 0:
		host, digits = ip.String(), strconv.Itoa(int(port))
	case !strings.Contains(s, ":") && port != 0:
		host, digits = s, strconv.Itoa(int(port))
	default:
		return "", errors.New("no host and port with a colon between them")
	}
	number, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || number == 0 {
		return "", errors.New("the port is not a number from 1 to 65535")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.IsUnspecified() || ip.IsMulticast() || ip.Zone() != "" { // a zone means something on this machine only
			return "", errors.New("the host is not an address that means one machine everywhere")
		}
		return netip.AddrPortFrom(ip.Unmap(), uint16(number)).String(), nil
	}
	if !isHost(host) {
		return "", errors.New("the host is neither a name nor an IP address")
	}
	return net.JoinHostPort(strings.ToLower(host), strconv.FormatUint(number, 10)), nil
}

// isHost reports whether s may be the name of a machine: letters, digits, -, _
// and dots, and not digits and dots alone, which are a mistyped IP address.
func isHost(s string) bool {
	letters := false
	for label := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			switch {
			case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
				letters = true
			case c >= '0' && c <= '9', c == '-', c == '_':
			default:
				return false
			}
		}
	}
	return letters && len(s) <= 253
}

// Same reports whether two listeners cannot both have their address.
func Same(a, b string) bool {
	one, err := netip.ParseAddrPort(a)
	two, err2 := netip.ParseAddrPort(b)
	if err != nil || err2 != nil || one.Port() != two.Port() || one.Port() == 0 {
		return false
	}
	return one.Addr() == two.Addr() || one.Addr().IsUnspecified() || two.Addr().IsUnspecified()
}

// Listen returns host:port with an IP address as its host. Its errors name
// no part of s.
func Listen(s string) (string, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", errors.New("no host and port with a colon between them")
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", errors.New("the port is not a number from 0 to 65535")
	}
	switch host {
	case "", "*":
		host = "0.0.0.0"
	case "localhost":
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" {
		return "", errors.New("the host is not an IP address")
	}
	return netip.AddrPortFrom(ip, uint16(number)).String(), nil
}
