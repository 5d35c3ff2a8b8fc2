package peer_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"go.uber.org/goleak"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/peer"
	"github.com/modelgateway/modelgateway/e2e/porttest"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// service answers ReadIndex with err, or with who asks.
type service struct {
	clusterv1.UnimplementedPeerServiceServer
	err    error
	caller chan id.Node
}

func (s *service) ReadIndex(ctx context.Context, _ *clusterv1.ReadIndexRequest) (*clusterv1.ReadIndexResponse, error) {
	who, _ := peer.Caller(ctx)
	s.caller <- who
	return &clusterv1.ReadIndexResponse{Index: 7}, s.err
}

// serve runs a server on loopback whose connections are all from one node.
func serve(t *testing.T, s *service) (address string, stop func()) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", porttest.Free(t).String())
	if err != nil {
		t.Fatal(err)
	}
	server := peer.NewServer(s, func(net.Conn) (id.Node, bool) { return "n1", true })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, l) }()
	return l.Addr().String(), func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func clients(t *testing.T) *peer.Clients {
	t.Helper()
	c := peer.NewClients(func(ctx context.Context, address string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func call(t *testing.T, c *peer.Clients, address string) (uint64, error) {
	t.Helper()
	client, err := c.At(address)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.ReadIndex(t.Context(), &clusterv1.ReadIndexRequest{})
	return answer.GetIndex(), err
}

// TestErrorsCrossWhole: an error has its kind, code, field and text on the other
// side, and one without a kind gives away nothing.
func TestErrorsCrossWhole(t *testing.T) {
	s := &service{caller: make(chan id.Node, 10)}
	address, stop := serve(t, s)
	defer stop()
	c := clients(t)
	if index, err := call(t, c, address); index != 7 || err != nil {
		t.Fatalf("index %d, %v", index, err)
	}
	if who := <-s.caller; who != "n1" {
		t.Errorf("the caller is %q", who)
	}
	sent := fault.Field("keys[1]", "duplicate_key", "It is there twice: ü.")
	s.err = sent
	_, err := call(t, c, address)
	got := fault.From(err)
	if got.Kind != sent.Kind || got.Code != sent.Code || got.Param != sent.Param || got.Detail != sent.Detail {
		t.Errorf("%+v arrives as %+v", sent, got)
	}
	s.err = errors.New("the password is hunter2")
	_, err = call(t, c, address)
	if got := fault.From(err); got.Kind != fault.Internal || got.Detail != (&fault.Error{}).Message() {
		t.Errorf("an internal error arrives as %+v", got)
	}
}

// TestNobodyThere: a node that is away is an error at once, and is found again
// when it is back.
func TestNobodyThere(t *testing.T) {
	s := &service{caller: make(chan id.Node, 1000)}
	address, stop := serve(t, s)
	c := clients(t)
	if _, err := call(t, c, address); err != nil {
		t.Fatal(err)
	}
	stop()
	_, err := call(t, c, address)
	if got := fault.From(err); got.Kind != fault.Unavailable || got.Code != "peer_unreachable" {
		t.Fatalf("a call of nobody: %v", err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- peer.NewServer(s, func(net.Conn) (id.Node, bool) { return "", false }).Run(ctx, l)
	}()
	for {
		if _, err := call(t, c, address); err == nil {
			break
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	c.Keep(func(string) bool { return false })
	if _, err := call(t, c, address); fault.From(err).Code != "peer_unreachable" {
		t.Errorf("a call after the end: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.At(address); err == nil {
		t.Error("closed clients give a client")
	}
}
