package link

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestGateLaws: nobody who is new is turned away; there are never more inside than
// the bounds allow; who makes way is the oldest, of the same origin if that has its
// quarter, and learns of it once.
func TestGateLaws(t *testing.T) {
	origins := make([]netip.Prefix, 6)
	for i := range origins {
		origins[i] = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 32)
	}
	rapid.Check(t, func(t *rapid.T) {
		var g gate
		g.init(rapid.IntRange(1, 12).Draw(t, "total"))
		var inside []*pass // the model: the oldest first
		evicted := map[int]int{}
		entered, places := 0, map[*pass]int{}
		count := func(from netip.Prefix) (n int) {
			for _, p := range inside {
				if p.from == from {
					n++
				}
			}
			return n
		}
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				from := rapid.SampledFrom(origins).Draw(t, "from")
				var want *pass
				if crowded := count(from) >= g.each; crowded || len(inside) >= g.total {
					at := slices.IndexFunc(inside, func(p *pass) bool { return !crowded || p.from == from })
					want = inside[at]
					inside = slices.Delete(inside, at, at+1)
				}
				entered++
				number := entered
				p := g.enter(from, func() { evicted[number]++ })
				inside, places[p] = append(inside, p), number
				if want != nil && (g.leave(want) || evicted[places[want]] != 1) {
					t.Error("the oldest did not make way")
				}
			},
			"leave": func(t *rapid.T) {
				if len(inside) == 0 {
					return
				}
				at := rapid.IntRange(0, len(inside)-1).Draw(t, "at")
				for range 2 {
					if !g.leave(inside[at]) {
						t.Error("it made way for nobody")
					}
				}
				inside = slices.Delete(inside, at, at+1)
			},
			"": func(t *rapid.T) {
				if len(inside) > g.total || g.mu.inside.Len() != len(inside) {
					t.Errorf("%d inside, want %d of at most %d", g.mu.inside.Len(), len(inside), g.total)
				}
				for _, p := range inside {
					if evicted[places[p]] != 0 {
						t.Error("who is inside had to make way")
					}
				}
				for _, from := range origins {
					if n := g.mu.from[from]; n > g.each || n != count(from) {
						t.Errorf("%d of %s, want %d of at most %d", n, from, count(from), g.each)
					}
				}
			},
		})
	})
}

func TestOrigins(t *testing.T) {
	for _, c := range []struct{ address, want string }{
		{"10.1.2.3:7", "10.1.2.3/32"},
		{"[::ffff:10.1.2.3]:7", "10.1.2.3/32"},
		{"[2001:db8:1:2:3:4:5:6]:7", "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:7", "fe80::/64"},
	} {
		tcp := net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.address))
		if got := originOf(tcp).String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.address, got, c.want)
		}
	}
	if originOf(&net.UnixAddr{Name: "x"}) != (netip.Prefix{}) {
		t.Error("an origin of no address")
	}
}

// TestBestAddress prefers what other machines are likely to reach.
func TestBestAddress(t *testing.T) {
	for _, c := range []struct {
		addresses []string
		want      string
	}{
		{[]string{"127.0.0.1/8", "::1/128", "fe80::1/64", "169.254.1.1/16"}, ""},
		{[]string{"127.0.0.1/8", "2001:db8::1/64", "192.0.2.1/24", "fd00::1/64", "10.0.0.1/8", "10.0.0.2/8"}, "10.0.0.1"},
		{[]string{"2001:db8::1/64", "192.0.2.1/24", "fd00::1/64"}, "fd00::1"},
		{[]string{"2001:db8::1/64", "192.0.2.1/24"}, "192.0.2.1"},
		{[]string{"2001:db8::1/64"}, "2001:db8::1"},
	} {
		var addrs []net.Addr
		for _, a := range c.addresses {
			ip, network, err := net.ParseCIDR(a)
			if err != nil {
				t.Fatal(err)
			}
			addrs = append(addrs, &net.IPNet{IP: ip, Mask: network.Mask})
		}
		got, ok := bestOf(addrs)
		if ok != (c.want != "") || (ok && got.String() != c.want) {
			t.Errorf("%v: got %s, want %q", c.addresses, got, c.want)
		}
	}
}
