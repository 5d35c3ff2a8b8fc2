package e2e

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// While callers hold every connection of the listener, probes, management over REST and
// over gRPC, and the gateway's own socket are reached all the same.
func TestManagementListener(t *testing.T) {
	t.Parallel()
	management := freePort(t)
	g := newGateway(t, models(newUpstream(t), "fast=openai/fake-gpt")+"limits: {max_connections: 8}\nmanagement_listen: "+management+"\n")
	g.start()
	key := g.tenant(tree{})
	http.DefaultClient.CloseIdleConnections()
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close()
		}
	}()
	g.until("no connection is left", func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
		resp, err := http.Get(g.url + "/health/readiness")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err != nil
	})
	public := g.url
	g.url = "http://" + management
	defer func() { g.url = public }()
	for _, path := range []string{"/health/readiness", "/health/liveliness", "/key/info?key=" + key, "/metrics"} {
		if a := g.get(path); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := g.chat(good, with("Authorization", "Bearer "+key)); a.status != http.StatusNotFound || !strings.Contains(a.body, "listen") {
		t.Errorf("inference at the listener of management: %d %s", a.status, a.body)
	}
	if a := g.do(http.MethodTrace, "/", nil); a.status != http.StatusMethodNotAllowed || !requestID.MatchString(a.header.Get("x-request-id")) {
		t.Errorf("TRACE: %d %v %s", a.status, a.header, a.body)
	}
	local := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(g.data, "run", "http.sock"))
	}}}
	defer local.CloseIdleConnections()
	resp, err := local.Get("http://localhost/health/readiness")
	if err != nil {
		t.Fatal(err)
	}
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Errorf("readiness at the socket: %s", resp.Status)
	}
	if _, err := gatewayv1.NewKeyServiceClient(grpcConn(t, g)).GenerateKey(grpcAs(t, adminKey), &gatewayv1.GenerateKeyRequest{}); err != nil {
		t.Errorf("management over gRPC: %v", err)
	}
}
