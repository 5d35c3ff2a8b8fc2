package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// parseClusterListen returns IP:port, or what is wrong.
func parseClusterListen(s string) (address, why string) {
	const remedy = `write IP:port, such as "0.0.0.0:7400"`
	address, err := parseListen(s)
	if err == nil && strings.HasSuffix(address, ":0") {
		err = errors.New("with port 0 it would be another after each start, and nobody would find it")
	}
	if err != nil {
		return "", fmt.Sprintf("is not an address for the other nodes (%v): %s", err, remedy)
	}
	return address, ""
}

// parseAdvertise returns host:port, or what is wrong.
func parseAdvertise(s string) (address, why string) {
	address, err := parseNode(s, 0)
	if err != nil {
		return "", fmt.Sprintf(`is no address that others could reach this node by (%v): write host:port, such as "10.0.0.1:7400"`, err)
	}
	return address, ""
}

// parseNode returns host:port of a node. port is what holds for an address
// without one; 0 means that it must have one. Its errors name no part of s.
func parseNode(s string, port uint16) (string, error) {
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
