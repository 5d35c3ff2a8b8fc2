package address

import "net/netip"

// embedded returns the IPv4 address that a gateway or relay reaches for an IPv6
// address: NAT64 (in networks without IPv4 the resolver answers with those for every
// host), 6to4, and the deprecated IPv4-compatible form.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	b := addr.As16()
	switch {
	case !addr.Is6():
		return netip.Addr{}, false
	case within(addr, nat64()):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case within(addr, []string{"2002::/16"}):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case within(addr, []string{"::/96"}) && addr != netip.IPv6Unspecified() && addr != netip.IPv6Loopback():
		return netip.AddrFrom4([4]byte(b[12:])), true
	}
	return netip.Addr{}, false
}

func nat64() []string { return []string{"64:ff9b::/96"} }

func within(addr netip.Addr, prefixes []string) bool {
	for _, p := range prefixes {
		if netip.MustParsePrefix(p).Contains(addr) {
			return true
		}
	}
	return false
}

// never are addresses that no peer has, not even in a private network.
func never() []string {
	return []string{
		"0.0.0.0/8", "::/128", // this host
		"169.254.0.0/16", "fe80::/10", // link-local: metadata services of most clouds
		"100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32", "fd00:ec2::/32", "fd20:ce::/32", // those of Alibaba, Oracle, Azure, AWS, Google
		"224.0.0.0/4", "ff00::/8", // multicast
		"240.0.0.0/4", // reserved, and broadcast
	}
}

// special4 are the other parts of IPv4 that are not the public Internet, as the
// registry of special-purpose addresses has them (RFC 6890).
func special4() []string {
	return []string{
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", // private
		"100.64.0.0/10", // carriers' NAT
		"127.0.0.0/8",
		"192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", // protocols, documentation
		"192.88.99.0/24", // 6to4 relays
		"198.18.0.0/15",  // benchmarks
	}
}

// public6 is the assigned part of IPv6.
func public6() []string { return []string{"2000::/3"} }

// special6 are the parts of it that are not the public Internet. Teredo and 6to4
// hold an IPv4 address that a relay would reach.
func special6() []string {
	return []string{"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"}
}
