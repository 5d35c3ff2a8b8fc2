// Package address says which networks an address belongs to, for callers that connect
// to addresses that somebody else has set. Such an address is a way to have the
// gateway call what only the gateway can reach: services of its own network, and the
// metadata services of clouds, which hand out credentials.
package address

import (
	"net/netip"
	"slices"
	"strings"
)

// Class is what is known of a host without asking DNS.
type Class int

// The classes, the most restricted first.
const (
	Forbidden Class = iota // link-local, metadata services, multicast, reserved, this host
	Private                // private networks, loopback, and names that public DNS does not have
	Public
)

// Of returns the class of an IP address.
func Of(addr netip.Addr) Class {
	addr = addr.Unmap().WithZone("")
	if inside, ok := embedded(addr); ok {
		if of := Of(inside); of != Public || within(addr, nat64()) {
			return of
		}
		return Private // the relays of the other forms are not the public Internet
	}
	switch {
	case within(addr, never()):
		return Forbidden
	case addr.Is6() && (!within(addr, public6()) || within(addr, special6())):
		return Private
	case addr.Is4() && within(addr, special4()):
		return Private
	}
	return Public
}

// OfHost returns the class of a host: an IP address, without brackets, or a name. It
// does not resolve names, which may lead anywhere at any time: a name is Private or
// Forbidden only if it says so itself.
func OfHost(host string) Class {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if addr, err := netip.ParseAddr(host); err == nil {
		return Of(addr)
	}
	labels := strings.Split(host, ".")
	switch {
	case IsNumber(labels[len(labels)-1]), slices.Contains(metadataNames(), host):
		return Forbidden
	case IsLocalName(labels):
		return Private
	}
	return Public
}

// metadataNames are the names by which clouds' metadata services are known inside them.
func metadataNames() []string {
	return []string{"metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal"}
}

// IsNumber reports whether the last label of a host makes many resolvers read all of it
// as an IPv4 address: 127.1, 0x7f.1, 0177.0.0.1 and 2130706433 are 127.0.0.1.
func IsNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// IsLocalName reports names that public DNS does not have.
func IsLocalName(labels []string) bool {
	if len(labels) == 1 {
		return true
	}
	return slices.Contains([]string{"localhost", "local", "internal", "localdomain", "lan", "home", "corp", "intranet", "test", "invalid", "onion"}, labels[len(labels)-1]) ||
		strings.HasSuffix(strings.Join(labels, "."), ".home.arpa")
}
