package delivery_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
)

func TestAddressesThatWebhooksMayHave(t *testing.T) {
	for _, url := range []string{
		"https://hooks.example.com/a", "https://hooks.example.com:443/a?token=b", "https://example.com", "HTTPS://EXAMPLE.COM/",
		"https://93.184.216.34/x", "https://[2606:2800:220:1::1]/x", "https://xn--mnchen-3ya.example/", "https://example.com./x", "https://a_b.example.com/",
		"https://1password.com/", "https://hooks.0x.org/", "https://[::ffff:93.184.216.34]/", "https://[64:ff9b::5db8:d822]/",
	} {
		if err := (delivery.Guard{}).CheckURL(url); err != nil {
			t.Errorf("%s is refused: %v", url, err)
		}
	}
	for _, url := range []string{"http://127.0.0.1:9000/a", "http://hooks", "https://10.1.2.3/", "http://[fd12::1]:80/", "https://localhost:8443", "http://hooks.internal/"} {
		if err := (delivery.Guard{AllowPrivate: true}).CheckURL(url); err != nil {
			t.Errorf("%s is refused where private networks are allowed: %v", url, err)
		}
	}
	if err := (delivery.Guard{Ports: []uint16{8443}}).CheckURL("https://example.com:8443/"); err != nil {
		t.Errorf("a port that is listed is refused: %v", err)
	}
}

// TestAddressesThatWebhooksMayNotHave goes through the ways in which people have had
// servers call their own networks.
func TestAddressesThatWebhooksMayNotHave(t *testing.T) {
	always := []string{ // whatever is allowed
		"", "x", "/a", "//example.com/", "file:///etc/passwd", "gopher://example.com/", "ftp://example.com/", "javascript:1", "https:example.com", "https://", "https:///a",
		"https://user@example.com/", "https://user:pass@example.com/", "https://example.com/#a", "https://example.com/#", "https://example.com:0/", "https://example.com:65536/", "https://example.com:/", "https://example.com:x/",
		"https://169.254.169.254/latest/meta-data/", "https://[::ffff:169.254.169.254]/", "https://[::ffff:a9fe:a9fe]/", "https://[64:ff9b::a9fe:a9fe]/", "https://[fe80::1]/", "https://[fe80::1%25eth0]/", "https://[fd00:ec2::254]/",
		"https://100.100.100.200/", "https://168.63.129.16/", "https://metadata.google.internal/computeMetadata/v1/", "https://METADATA.google.internal./",
		"https://0.0.0.0/", "https://0/", "https://[::]/", "https://224.0.0.1/", "https://[ff02::1]/", "https://255.255.255.255/", "https://240.0.0.1/",
		"https://127.1/", "https://0x7f.1/", "https://0x7f000001/", "https://0177.0.0.1/", "https://017700000001/", "https://2130706433/", "https://2852039166/", "https://0xa9fea9fe/", "https://169.254.43518/", "https://0xA9.0xFE.0xA9.0xFE/", "https://127.0.0.01/", "https://1.1.1.256/", "https://127.0.0.1.1/",
		"https://127。0。0。1/", "https://①②⑦.⓪.⓪.①/", "https://exämple.com/", "https://example.com\\@127.0.0.1/", "https://exam ple.com/", "https://example.com\n/", "https://%31%32%37.0.0.1/", "https://a..b/", "https://.a/", "https://-/\x00",
		"https://[127.0.0.1]x/", "https://[::1", "https://" + strings.Repeat("a", 64) + ".com/", "https://" + strings.Repeat("a.", 127) + "com/", "https://example.com/" + strings.Repeat("a", 2048),
	}
	public := []string{ // unless private networks are allowed
		"http://example.com/", "https://example.com:22/", "https://example.com:8443/", "https://example.com:80/",
		"https://127.0.0.1/", "https://127.255.0.9/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[0:0:0:0:0:ffff:10.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[64:ff9b:1::1]/",
		"https://10.0.0.1/", "https://172.16.0.1/", "https://172.31.255.255/", "https://192.168.1.1/", "https://100.64.0.1/", "https://198.18.0.1/", "https://192.0.2.1/", "https://192.0.0.1/", "https://203.0.113.9/", "https://192.88.99.1/",
		"https://[fc00::1]/", "https://[fd12:3456::1]/", "https://[fec0::1]/", "https://[2001:db8::1]/", "https://[2002:7f00:1::1]/", "https://[2001:0:7f00:1::]/", "https://[::7f00:1]/", "https://[3fff::1]/", "https://[100::1]/",
		"https://localhost/", "https://LOCALHOST./", "https://a.localhost/", "https://printer.local/", "https://vault.internal/", "https://hooks/", "https://nas.lan/", "https://a.home.arpa/",
	}
	check := func(g delivery.Guard, urls []string) {
		t.Helper()
		for _, url := range urls {
			err := g.CheckURL(url)
			f := fault.From(err)
			if f == nil || f.Kind != fault.Malformed || f.Param != "alerting_webhook_url" {
				t.Errorf("with %+v, %q is answered with %v", g, url, err)
				continue
			}
			if strings.Contains(f.Detail, "169.254.169.254") || strings.Contains(f.Detail, "pass@") {
				t.Errorf("the text repeats the address: %s", f.Detail)
			}
		}
	}
	check(delivery.Guard{}, always)
	check(delivery.Guard{}, public)
	check(delivery.Guard{AllowPrivate: true}, always)
}

// TestEveryConnectionIsGuarded asks for the addresses themselves, as a resolver
// would have them.
func TestEveryConnectionIsGuarded(t *testing.T) {
	for address, want := range map[string][2]bool{ // allowed, and with AllowPrivate
		"93.184.216.34:443":              {true, true},
		"[2606:2800:220:1::1]:443":       {true, true},
		"[::ffff:93.184.216.34]:443":     {true, true},
		"93.184.216.34:22":               {false, true},
		"127.0.0.1:443":                  {false, true},
		"[::1]:443":                      {false, true},
		"[::ffff:127.0.0.1]:443":         {false, true},
		"10.0.0.1:443":                   {false, true},
		"[fd12::1]:443":                  {false, true},
		"[64:ff9b::10.0.0.1]:443":        {false, true},
		"169.254.169.254:443":            {false, false},
		"[::ffff:169.254.169.254]:443":   {false, false},
		"[64:ff9b::169.254.169.254]:443": {false, false},
		"[fe80::1%lo]:443":               {false, false},
		"0.0.0.0:443":                    {false, false},
		"nonsense":                       {false, false},
	} {
		for i, g := range []delivery.Guard{{}, {AllowPrivate: true}} {
			if got := g.Control("tcp", address, nil) == nil; got != want[i] {
				t.Errorf("%+v lets through %s: %v", g, address, got)
			}
		}
	}
}

// TestRebinding: a name leads to a public address when the settings are made, and to
// this machine when it is called.
func TestRebinding(t *testing.T) {
	receiver, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = receiver.Close() })
	var reached atomic.Int32
	go func() {
		for {
			conn, err := receiver.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			_ = conn.Close()
		}
	}()
	port := receiver.Addr().(*net.TCPAddr).AddrPort().Port()
	g := delivery.Guard{Ports: []uint16{port}}
	if err := g.CheckURL("https://rebind.example:" + portText(receiver) + "/"); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"127.0.0.1", "::1", "169.254.169.254", "::ffff:127.0.0.1", "0.0.0.0"} {
		asked := &atomic.Int32{}
		d := g.Dialer()
		d.Resolver = resolver(t, netip.MustParseAddr(to), asked)
		conn, err := d.DialContext(t.Context(), "tcp", "rebind.example:"+portText(receiver))
		if err == nil {
			_ = conn.Close()
			t.Errorf("a name that leads to %s was called", to)
		}
		if asked.Load() == 0 {
			t.Errorf("%s: the name was not asked for: the test shows nothing", to)
		}
		if f := fault.From(err); f != nil && f.Code != "address_not_allowed" {
			t.Errorf("%s: refused with %v", to, err)
		}
	}
	// The same name is called where that is allowed, so it is the guard that refuses.
	d := delivery.Guard{AllowPrivate: true}.Dialer()
	d.Resolver = resolver(t, netip.MustParseAddr("127.0.0.1"), &atomic.Int32{})
	conn, err := d.DialContext(t.Context(), "tcp", "rebind.example:"+portText(receiver))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Read(make([]byte, 1)) // until the receiver has counted and closed it
	_ = conn.Close()
	if n := reached.Load(); n != 1 {
		t.Errorf("the receiver was reached %d times", n)
	}
}

func portText(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// resolver answers every question with one address.
func resolver(t *testing.T, with netip.Addr, asked *atomic.Int32) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			asked.Add(1)
			_, _ = server.WriteTo(answer(buf[:n], with), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func answer(question []byte, with netip.Addr) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil
	}
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	q := m.Questions[0]
	head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 0}
	switch {
	case q.Type == dnsmessage.TypeA && with.Is4():
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: with.As4()}}}
	case q.Type == dnsmessage.TypeAAAA && with.Is6():
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: with.As16()}}}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}
