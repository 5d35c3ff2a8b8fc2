package memlink_test

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft" //nolint:depguard // what the links are for has to work over them
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/link/memlink"
)

func TestGRPCRunsOverIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := memlink.New(1)
		client, server := network.Node(here, "one"), network.Node(there, "two")
		s := grpc.NewServer()
		grpc_health_v1.RegisterHealthServer(s, health.NewServer())
		go func() { _ = s.Serve(server.Listener(link.Peer)) }() // ends with Stop
		defer s.Stop()
		conn, err := grpc.NewClient("passthrough:///"+there,
			grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
				return client.Dial(ctx, address, link.Peer)
			}),
			grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		network.Delay(20*time.Millisecond, 10*time.Millisecond)
		check := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{}, grpc.WaitForReady(true))
			return err
		}
		if err := check(); err != nil {
			t.Error(err)
		}
		network.Partition([]string{here}, []string{there})
		if check() == nil {
			t.Error("a call got through a partition")
		}
		network.Heal()
		if err := check(); err != nil {
			t.Error(err)
		}
	})
}

// layer is a link as Raft uses it.
type layer struct {
	net.Listener
	link *memlink.Link
}

func (l layer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return l.link.Dial(ctx, string(address), link.Raft)
}

func TestRaftsTransportRunsOverIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := memlink.New(1)
		transport := func(address string) *raft.NetworkTransport {
			l := network.Node(address, "")
			return raft.NewNetworkTransport(layer{l.Listener(link.Raft), l}, 2, time.Second, io.Discard)
		}
		one, two := transport(here), transport(there)
		answered := make(chan struct{})
		go func() {
			for {
				select {
				case rpc := <-two.Consumer():
					in := rpc.Command.(*raft.AppendEntriesRequest)
					rpc.Respond(&raft.AppendEntriesResponse{Term: in.Term + 1, Success: true}, nil)
				case <-answered:
					return
				}
			}
		}()
		ask := func() error {
			var out raft.AppendEntriesResponse
			err := one.AppendEntries("two", there, &raft.AppendEntriesRequest{Term: 4}, &out)
			if err == nil && out.Term != 5 {
				t.Errorf("got term %d", out.Term)
			}
			return err
		}
		network.Delay(5*time.Millisecond, 5*time.Millisecond)
		if err := ask(); err != nil {
			t.Error(err)
		}
		network.Isolate(there)
		if ask() == nil {
			t.Error("a request got through a partition")
		}
		network.Heal()
		if err := ask(); err != nil {
			t.Error(err)
		}
		close(answered)
		for _, tr := range []*raft.NetworkTransport{one, two} {
			tr.CloseStreams()
			if err := tr.Close(); err != nil {
				t.Error(err)
			}
		}
		network.Crash(here)
		network.Crash(there)
	})
}
