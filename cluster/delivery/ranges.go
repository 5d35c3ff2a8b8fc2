package delivery

import "net/netip"

// mayDial reports whether a webhook may be called at an address.
func (g Guard) mayDial(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if inside, ok := translated(addr); ok {
		return g.mayDial(inside)
	}
	switch {
	case within(addr, never()):
		return false
	case g.AllowPrivate:
		return true
	case addr.Is6():
		return within(addr, public6()) && !within(addr, special6())
	default:
		return !within(addr, special4())
	}
}

// translated is the IPv4 address that a NAT64 gateway reaches for an IPv6 address.
// In networks without IPv4 the resolver answers with those for every host.
func translated(addr netip.Addr) (netip.Addr, bool) {
	if !addr.Is6() || !netip.MustParsePrefix("64:ff9b::/96").Contains(addr) {
		return netip.Addr{}, false
	}
	b := addr.As16()
	return netip.AddrFrom4([4]byte(b[12:])), true
}

func within(addr netip.Addr, prefixes []string) bool {
	for _, p := range prefixes {
		if netip.MustParsePrefix(p).Contains(addr) {
			return true
		}
	}
	return false
}

// never are addresses that no receiver has, in a private network neither.
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

// public6 is what of IPv6 is given out.
func public6() []string { return []string{"2000::/3"} }

// special6 are the parts of it that are not the public Internet. Teredo and 6to4
// hold an IPv4 address that a relay would reach.
func special6() []string {
	return []string{"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"}
}
