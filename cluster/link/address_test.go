package link_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/e2e/porttest"
)

// port is the number of the port that a link has.
func port(t *testing.T, l *link.Link) string {
	t.Helper()
	_, p, err := net.SplitHostPort(l.Listener(link.Raft).Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAdvertisedAddress(t *testing.T) {
	for _, c := range []struct{ listen, advertise, want string }{
		{"127.0.0.1:0", "", "127.0.0.1:PORT"},
		{"localhost:0", "", "localhost:PORT"},
		{"127.0.0.1:0", "a.example", "a.example:PORT"},
		{"127.0.0.1:0", "a.example:0", "a.example:PORT"},
		{"127.0.0.1:0", "a.example:7", "a.example:7"},
		{":0", "10.0.0.1:7", "10.0.0.1:7"},
		{"0.0.0.0:0", "fd00::1", "[fd00::1]:PORT"},
		{"0.0.0.0:0", "[fd00::1]", "[fd00::1]:PORT"},
		{"0.0.0.0:0", "[fd00::1]:7", "[fd00::1]:7"},
	} {
		l := bind(t, link.Config{Identity: member(t, 1), Listen: c.listen, Advertise: c.advertise})
		if want := strings.Replace(c.want, "PORT", port(t, l), 1); l.Address() != want {
			t.Errorf("listen %q, advertise %q: got %q, want %q", c.listen, c.advertise, l.Address(), want)
		}
	}
}

// TestAdvertisedByItself finds an address that is not only this machine's, or says
// that there is none.
func TestAdvertisedByItself(t *testing.T) {
	l, err := link.New(t.Context(), link.Config{Identity: member(t, 1), Listen: ":0"})
	if err != nil {
		wantFault(t, err, "cluster_address", "no address that other nodes could reach it at")
		return
	}
	defer func() { _ = l.Close() }()
	at, err := netip.ParseAddrPort(l.Address())
	if err != nil || !at.Addr().IsGlobalUnicast() || strconv.Itoa(int(at.Port())) != port(t, l) {
		t.Errorf("got %q, %v", l.Address(), err)
	}
}

// TestBadAddress refuses to start with an address that cannot work, and says why.
func TestBadAddress(t *testing.T) {
	taken := bind(t, link.Config{Identity: member(t, 1)})
	serveNames(t, nil)
	for _, c := range []struct{ listen, advertise, says string }{
		{"127.0.0.1", "", "is not host:port"},
		{"", "", "is not host:port"},
		{"192.0.2.1:0", "", "does not have that address"},
		{taken.Address(), "", "another process has it"},
		{"no-such-name.invalid:0", "", "the name is not known"},
		{"127.0.0.1:0", "0.0.0.0", "cannot be advertised"},
		{"127.0.0.1:0", "[::]:7", "cannot be advertised"},
		{"127.0.0.1:0", ":7", "cannot be advertised"},
		{"127.0.0.1:0", "a:b:c", "cannot be advertised"},
		{"127.0.0.1:0", "a.example:http", "cannot be advertised"},
		{"127.0.0.1:0", "a.example:65536", "cannot be advertised"},
		{"127.0.0.1:0", "239.0.0.1", "cannot be advertised"},
		{"127.0.0.1:0", "http://a.example", "cannot be advertised"},
	} {
		_, err := link.New(t.Context(), link.Config{Identity: member(t, 1), Listen: c.listen, Advertise: c.advertise})
		wantFault(t, err, "cluster_address", c.says)
	}
	if _, err := link.New(t.Context(), link.Config{Listen: "127.0.0.1:0"}); err == nil {
		t.Error("a link without an identity")
	}
}

// TestPortOfPacketsTaken refuses a port that is free for one of TCP and UDP only.
func TestPortOfPacketsTaken(t *testing.T) {
	address := porttest.Free(t).String()
	udp, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = udp.Close() }()
	_, err = link.New(t.Context(), link.Config{Identity: member(t, 1), Listen: address})
	wantFault(t, err, "cluster_address", "another process has it")
	tcp, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatalf("the port was not given back: %v", err)
	}
	_ = tcp.Close()
}

// serveNames lets names be looked up in a table until the test ends.
func serveNames(t *testing.T, table map[string][][4]byte) {
	t.Helper()
	former := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return &nameServer{table: table}, nil
	}}
	t.Cleanup(func() { net.DefaultResolver = former })
}

// nameServer is a connection to a server of names that answers as soon as it is
// asked, behind two bytes of length as always on streams.
type nameServer struct {
	net.Conn

	table  map[string][][4]byte
	answer bytes.Buffer
}

func (s *nameServer) Read(b []byte) (int, error)  { return s.answer.Read(b) }
func (s *nameServer) Close() error                { return nil }
func (s *nameServer) SetDeadline(time.Time) error { return nil }

func (s *nameServer) Write(b []byte) (int, error) {
	var m dnsmessage.Message
	if err := m.Unpack(b[2:]); err != nil {
		return 0, err
	}
	q := m.Questions[0]
	m = dnsmessage.Message{
		Header:    dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true},
		Questions: m.Questions,
	}
	addresses, known := s.table[q.Name.String()]
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addresses {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: a},
			})
		}
	}
	packed, err := m.Pack()
	if err != nil {
		return 0, err
	}
	s.answer.Write(binary.BigEndian.AppendUint16(nil, uint16(len(packed))))
	s.answer.Write(packed)
	return len(b), nil
}

// TestSharedName dials a name that all nodes have, as a headless service's: a node
// gets another one if there is one, and whom it asks for if it asks for one.
func TestSharedName(t *testing.T) {
	serveNames(t, map[string][][4]byte{"nodes.test.": {{127, 0, 0, 1}, {127, 0, 0, 2}, {127, 0, 0, 3}}})
	a := start(t, link.Config{Identity: member(t, 1)})
	b := bind(t, link.Config{Identity: member(t, 2), Listen: "127.0.0.2:" + port(t, a)})
	stop := run(t, b)
	name := "nodes.test:" + port(t, a)
	peer := func(conn net.Conn, err error) id.Node {
		if err != nil {
			t.Fatal(err)
		}
		who, _ := link.PeerOf(conn)
		_ = conn.Close()
		return who
	}
	if who := peer(a.Dial(t.Context(), name, link.Peer)); who != nodeID(2) {
		t.Errorf("node 1 got %s", who)
	}
	if who := peer(b.Dial(t.Context(), name, link.Peer)); who != nodeID(1) {
		t.Errorf("node 2 got %s", who)
	}
	for n := 1; n <= 2; n++ {
		if who := peer(a.DialNode(t.Context(), name, nodeID(n), link.Peer)); who != nodeID(n) {
			t.Errorf("asked for node %d, got %s", n, who)
		}
	}
	_, err := a.DialNode(t.Context(), name, nodeID(3), link.Peer)
	wantFault(t, err, "wrong_node", string(nodeID(3)))
	stop()
	if who := peer(a.Dial(t.Context(), name, link.Peer)); who != nodeID(1) {
		t.Errorf("alone, node 1 got %s", who)
	}
}

// TestPacketsByName sends packets to a name, and to an address of version 4 as
// version 6 writes it.
func TestPacketsByName(t *testing.T) {
	serveNames(t, map[string][][4]byte{"b.test.": {{127, 0, 0, 1}}})
	a, b := bind(t, link.Config{Identity: member(t, 1)}), bind(t, link.Config{Identity: member(t, 2)})
	for i, host := range []string{"b.test", "b.test", "[::ffff:127.0.0.1]"} {
		text := strconv.Itoa(i)
		if err := a.WritePacket([]byte(text), host+":"+port(t, b)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 10)
		n, from, err := b.ReadPacket(buf)
		if err != nil || string(buf[:n]) != text || from.String() != a.Address() {
			t.Errorf("%q of %v, %v", buf[:n], from, err)
		}
	}
}

// TestNamesAreRemembered: a name is looked up again after some seconds, and who was
// found before stays when it cannot be.
func TestNamesAreRemembered(t *testing.T) {
	table := map[string][][4]byte{"b.test.": {{127, 0, 0, 1}}}
	serveNames(t, table)
	synctest.Test(t, func(t *testing.T) {
		a := bind(t, link.Config{Identity: member(t, 1)})
		b := bind(t, link.Config{Identity: member(t, 2)})
		c := bind(t, link.Config{Identity: member(t, 3), Listen: "127.0.0.2:" + port(t, b)})
		arrives := func(at *link.Link) {
			t.Helper()
			if err := a.WritePacket([]byte("x"), "b.test:"+port(t, b)); err != nil {
				t.Fatal(err)
			}
			if n, _, err := at.ReadPacket(make([]byte, 10)); n != 1 || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		}
		arrives(b)
		table["b.test."] = [][4]byte{{127, 0, 0, 2}}
		arrives(b)
		<-time.After(5 * time.Second)
		arrives(c)
		delete(table, "b.test.")
		<-time.After(5 * time.Second)
		arrives(c)
		// What is not known is remembered as well.
		unknown := "c.test:" + port(t, b)
		if err := a.WritePacket([]byte("x"), unknown); err == nil {
			t.Error("sent to a name that is not known")
		}
		table["c.test."] = [][4]byte{{127, 0, 0, 1}}
		if err := a.WritePacket([]byte("x"), unknown); err == nil {
			t.Error("a name was looked up for each packet")
		}
		<-time.After(5 * time.Second)
		if err := a.WritePacket([]byte("x"), unknown); err != nil {
			t.Error(err)
		}
	})
}
