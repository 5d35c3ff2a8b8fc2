package xds_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/xds"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	clusterType = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
	routeType   = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"
)

// records counts log records of a level.
type records struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *records) count(what string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Count(r.text.String(), what)
}

// TestServerWithEnvoy goes through what happens to a server in its life.
func TestServerWithEnvoy(t *testing.T) {
	log := &records{}
	r := newRig(t, xds.Config{Linger: 3 * time.Second, Logger: slog.New(slog.NewTextHandler(log, nil))})
	a, b, c := newProvider(t, fine), newProvider(t, fine), newProvider(t, fine)
	serves := func(e catalog.Endpoint) int {
		r.proc.set(order{plan: plan(0, e)})
		return r.post(`{}`).status
	}

	e := r.publish(usual, a.URL)
	if r.server.Ready() || acked(r.server, e[0].ID) {
		t.Error("ready before any Envoy has connected")
	}
	r.serve(e...)

	e = r.publish(usual, a.URL, b.URL)
	if !acked(r.server, e[0].ID) {
		t.Error("an endpoint that was not touched is no longer acked")
	}
	r.eventually("the new endpoint is acked", func() bool { return acked(r.server, e[1].ID) })
	if got := serves(e[1]); got != 200 {
		t.Errorf("the new endpoint answers %d", got)
	}

	gone := e[0]
	r.publish(usual, b.URL)
	if acked(r.server, gone.ID) {
		t.Error("a new plan may name an endpoint that is no longer wanted")
	}
	if got := serves(gone); got != 200 {
		t.Errorf("an old plan that names an endpoint on its way out gets %d", got)
	}
	r.eventually("the endpoint is gone", func() bool { return serves(gone) == 503 })

	// A resource that Envoy refuses: the others keep serving, and it is not sent again.
	r.caFile = "/does/not/exist.pem"
	e = r.publish(usual, b.URL, c.URL, "https://127.0.0.1:1")
	r.eventually("the rejection is logged", func() bool { return log.count("rejected a configuration") > 0 })
	if got := serves(e[0]); got != 200 {
		t.Errorf("after a refused configuration the last one answers %d", got)
	}
	if acked(r.server, e[2].ID) {
		t.Error("what Envoy refused counts as acked")
	}
	r.eventually("its neighbour of the refused response is acked", func() bool { return acked(r.server, e[1].ID) })
	if n := log.count("rejected a configuration"); n != 1 {
		t.Errorf("the refusal was logged %d times", n)
	}

	// Envoy dies and comes back with nothing.
	if err := syscall.Kill(<-r.pids, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.serve(e[:2]...)
	if got := serves(e[1]); got != 200 {
		t.Errorf("after a restart of Envoy the endpoint answers %d", got)
	}
}

// TestTLS reaches a provider whose certificate is known, and no other.
func TestTLS(t *testing.T) {
	r := newRig(t, xds.Config{})
	p := newTLSProvider(t)
	dir := t.TempDir()
	known := filepath.Join(dir, "known.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw}
	if err := os.WriteFile(known, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	r.caFile = known
	e := r.publish(usual, p.URL)
	r.serve(e...)
	r.proc.set(order{plan: plan(0, e...)})
	if got := r.post(`{}`); got.status != 200 || got.body != "HTTP/2.0" {
		t.Errorf("known certificate: %d %s", got.status, got.body)
	}
	other, err := xds.FindCAFile("")
	if err != nil {
		t.Fatal(err)
	}
	r.caFile = other
	r.publish(usual, p.URL)
	r.eventually("the certificate is refused", func() bool { return r.post(`{}`).status == 503 })
}

// client is a delta ADS client under the test's control, in place of an Envoy.
type client struct {
	t      *testing.T
	stream discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
	got    chan *discovery.DeltaDiscoveryResponse
}

func (c *client) send(r *discovery.DeltaDiscoveryRequest) {
	c.t.Helper()
	if err := c.stream.Send(r); err != nil {
		c.t.Fatal(err)
	}
}

// next returns the names of the next response after checking its type, and its nonce.
func (c *client) next(typ string) (changed, removed []string, nonce string) {
	c.t.Helper()
	select {
	case r := <-c.got:
		if r.GetTypeUrl() != typ {
			c.t.Fatalf("response of type %s, want %s", r.GetTypeUrl(), typ)
		}
		for _, one := range r.GetResources() {
			changed = append(changed, one.GetName())
		}
		return changed, r.GetRemovedResources(), r.GetNonce()
	case <-time.After(patience):
		c.t.Fatal("no response")
		return nil, nil, ""
	}
}

// nothing proves that no response is under way: the answer to a probe comes first.
func (c *client) nothing() {
	c.t.Helper()
	const probe = "type.googleapis.com/envoy.service.runtime.v3.Runtime"
	c.send(&discovery.DeltaDiscoveryRequest{TypeUrl: probe})
	c.next(probe)
}

type backend struct {
	server *xds.Server
	dial   func() *client
}

func newBackend(t *testing.T) backend {
	t.Helper()
	s := xds.NewServer(xds.Config{Linger: -1})
	g := grpc.NewServer()
	s.Register(g)
	l := bufconn.Listen(1 << 20)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = g.Serve(l) })
	running.Go(func() { _ = s.Run(ctx) })
	conn, err := grpc.NewClient("passthrough:///bufconn", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		cancel()
		g.Stop()
		running.Wait()
	})
	return backend{s, func() *client {
		ctx, cancel := context.WithCancel(context.Background())
		stream, err := discovery.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx)
		if err != nil {
			t.Fatal(err)
		}
		c := &client{t: t, stream: stream, got: make(chan *discovery.DeltaDiscoveryResponse, 100)}
		running.Go(func() {
			for {
				r, err := stream.Recv()
				if err != nil {
					return
				}
				c.got <- r
			}
		})
		t.Cleanup(cancel)
		return c
	}}
}

func translate(t *testing.T, urls ...string) (*xds.Resources, []catalog.Endpoint) {
	t.Helper()
	in := xds.Input{Router: catalog.RouterSettings{RetryOn: usual}}
	for _, u := range urls {
		e, _, err := catalog.ParseBase(u)
		if err != nil {
			t.Fatal(err)
		}
		in.Endpoints = append(in.Endpoints, e)
	}
	r, err := xds.Translate(in)
	if err != nil {
		t.Fatal(err)
	}
	return r, in.Endpoints
}

func TestPublishSendsWhatChanged(t *testing.T) {
	b := newBackend(t)
	publish := func(urls ...string) []catalog.Endpoint {
		t.Helper()
		r, e := translate(t, urls...)
		if err := b.server.Publish(r); err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := publish("http://a.test")
	c := b.dial()
	c.send(&discovery.DeltaDiscoveryRequest{TypeUrl: clusterType})
	changed, _, nonce := c.next(clusterType)
	want(t, changed, "a.test_80_tcp", "a.test_80_tcp~rewrite")
	if acked(b.server, e[0].ID) {
		t.Error("acked before the answer")
	}
	c.send(&discovery.DeltaDiscoveryRequest{TypeUrl: clusterType, ResponseNonce: nonce})
	c.send(&discovery.DeltaDiscoveryRequest{TypeUrl: routeType, ResourceNamesSubscribe: []string{"ingress"}})
	changed, _, nonce = c.next(routeType)
	want(t, changed, "ingress")
	if !acked(b.server, e[0].ID) || b.server.Ready() {
		t.Error("acked clusters and unanswered routes must be acked and not ready")
	}
	c.send(&discovery.DeltaDiscoveryRequest{TypeUrl: routeType, ResponseNonce: nonce})
	c.nothing()
	if !b.server.Ready() {
		t.Error("not ready")
	}

	publish("http://a.test")
	c.nothing()

	e = publish("http://a.test", "http://b.test")
	changed, _, nonce = c.next(clusterType)
	want(t, changed, "b.test_80_tcp", "b.test_80_tcp~rewrite")
	c.send(&discovery.DeltaDiscoveryRequest{TypeUrl: clusterType, ResponseNonce: nonce, ErrorDetail: &status.Status{Code: 13, Message: "no"}})
	c.nothing()
	if acked(b.server, e[1].ID) || !acked(b.server, e[0].ID) {
		t.Error("a refusal must leave the new endpoint out and the old one in")
	}
	publish("http://a.test", "http://b.test")
	changed, _, nonce = c.next(clusterType)
	want(t, changed, "b.test_80_tcp", "b.test_80_tcp~rewrite")
	c.send(&discovery.DeltaDiscoveryRequest{TypeUrl: clusterType, ResponseNonce: nonce})
	c.nothing()
	if !acked(b.server, e[1].ID) {
		t.Error("not acked after the second offer")
	}

	publish("http://b.test")
	_, removed, _ := c.next(clusterType)
	want(t, removed, "a.test_80_tcp", "a.test_80_tcp~rewrite")
	if acked(b.server, e[0].ID) {
		t.Error("a removed endpoint is acked")
	}
}

// TestSecondEnvoy joins while another serves: it must not hold that one up, and
// once it serves both must have accepted an endpoint.
func TestSecondEnvoy(t *testing.T) {
	b := newBackend(t)
	publish := func(urls ...string) []catalog.Endpoint {
		r, e := translate(t, urls...)
		if err := b.server.Publish(r); err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := publish("http://a.test")
	accept := func(c *client) {
		_, _, nonce := c.next(clusterType)
		c.send(&discovery.DeltaDiscoveryRequest{TypeUrl: clusterType, ResponseNonce: nonce})
		c.nothing()
	}
	one, two := b.dial(), b.dial()
	one.send(&discovery.DeltaDiscoveryRequest{TypeUrl: clusterType})
	accept(one)
	two.nothing()
	if !acked(b.server, e[0].ID) {
		t.Error("an Envoy that does not serve yet holds up another")
	}
	two.send(&discovery.DeltaDiscoveryRequest{TypeUrl: clusterType, InitialResourceVersions: map[string]string{"a.test_80_tcp": "old"}})
	two.next(clusterType)
	two.nothing()
	if acked(b.server, e[0].ID) {
		t.Error("an Envoy that serves lacks one of the clusters, and the endpoint is acked")
	}
}

// acked reports whether a plan may name the Bare and Rewrite clusters of an endpoint.
func acked(s *xds.Server, e id.Endpoint) bool {
	return s.Acked(e, contract.Bare) && s.Acked(e, contract.Rewrite)
}

func want(t *testing.T, got []string, names ...string) {
	t.Helper()
	set := map[string]bool{}
	for _, name := range got {
		set[name] = true
	}
	expected := map[string]bool{}
	for _, name := range names {
		expected[name] = true
	}
	if diff := cmp.Diff(expected, set); diff != "" {
		t.Errorf("resources (-want +got):\n%s", diff)
	}
}
