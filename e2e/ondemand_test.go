//go:build linux

package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// admin returns what Envoy's admin socket says at a path.
func (g *gatewayProcess) admin(path string) string {
	g.t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(g.data, "run", "admin.sock"))
	}}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://envoy" + path)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return string(b)
}

// clusters returns the names of Envoy's clusters.
func (g *gatewayProcess) clusters() map[string]bool {
	g.t.Helper()
	out := make(map[string]bool)
	for line := range strings.Lines(g.admin("/clusters")) {
		if name, _, ok := strings.Cut(line, "::"); ok {
			out[name] = true
		}
	}
	return out
}

// Envoy has one cluster for each of 2,000 addresses, and the clusters of later attempts
// only where a plan has needed them: a request falls back to one.
func TestManyAddresses(t *testing.T) {
	t.Parallel()
	const addresses = 2000
	var b strings.Builder
	b.WriteString(models(newUpstream(t), "good=openai/fake-gpt"))
	for i := range addresses {
		fmt.Fprintf(&b, "  - model_name: m%d\n    gateway_params: {model: openai/gpt, api_base: \"http://127.1.%d.%d:1/v1\", api_key: provider-key-m, input_cost_per_token: 0, output_cost_per_token: 0}\n", i, i/250, 1+i%250)
	}
	b.WriteString("router_settings:\n  num_retries: 0\n  fallbacks: [{m7: [good]}]\n")
	g := startGateway(t, b.String())
	twinsOf := func() (n, twins int) {
		for name := range g.clusters() {
			if n++; strings.Contains(name, "~") {
				twins++
			}
		}
		return n, twins
	}
	if n, twins := twinsOf(); n > addresses+10 || twins != 0 {
		t.Errorf("Envoy has %d clusters, %d of them for later attempts that nothing has needed", n, twins)
	}
	envoy := children(t, g.cmd.Process.Pid)
	if len(envoy) != 1 {
		t.Fatalf("the gateway has the children %v, want one Envoy", envoy)
	}
	if memory := resident(t, envoy[0]); memory > 150<<20 {
		t.Errorf("Envoy takes %d MiB", memory>>20)
	}
	a := g.chat(strings.Replace(good, "fast", "m7", 1))
	if a.status != http.StatusOK || a.header.Get("x-gateway-model-id") != "good-id" {
		t.Errorf("the request that falls back gets %d from %q: %s", a.status, a.header.Get("x-gateway-model-id"), a.body)
	}
	if _, twins := twinsOf(); twins != 1 {
		t.Errorf("Envoy has %d clusters for later attempts, and one was needed", twins)
	}
}

// Of 300 https endpoints Envoy has the clusters of the first 100 from the start, and of
// the others when a request needs them, which is answered nevertheless.
func TestManyHTTPSNames(t *testing.T) {
	const names, asked, early = 300, 40, 100
	host := func(i int) string { return fmt.Sprintf("h%d.localhost", i) }
	all := []string{"localhost"}
	for i := range names {
		all = append(all, host(i))
	}
	cert, authority := certificate(t, all...)
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", bundle)
	provider, url, _ := newTLSUpstream(t, cert)
	var b strings.Builder
	b.WriteString("model_list:\n  - {model_name: down, gateway_params: {model: openai/x, api_base: \"http://127.0.0.1:1/v1\", api_key: k}}\n")
	for i := range names {
		fmt.Fprintf(&b, "  - {model_name: m%d, gateway_params: {model: openai/fake-gpt, api_base: %q, api_key: k}}\n", i, strings.Replace(url, "localhost", host(i), 1)+"/v1")
	}
	fmt.Fprintf(&b, "router_settings:\n  num_retries: 0\n  fallbacks: [{down: [m%d]}]\n", names-1)
	g := startGateway(t, b.String())
	before := len(g.clusters())
	if before > early+10 {
		t.Errorf("Envoy has %d clusters before any request", before)
	}
	var requests sync.WaitGroup
	for i := range asked {
		requests.Go(func() {
			for range 2 {
				if a := g.chat(request(fmt.Sprintf("m%d", i), "")); a.status != http.StatusOK {
					t.Errorf("m%d: %d %s", i, a.status, a.body)
				}
			}
		})
	}
	requests.Wait()
	if n := provider.Counters().Total; n != 2*asked {
		t.Errorf("the provider got %d requests, want %d", n, 2*asked)
	}
	if n := len(g.clusters()) - before; n < 1 || n > asked {
		t.Errorf("%d clusters were made for %d endpoints", n, asked)
	}
	if a := g.chat(request("down", "")); a.status != http.StatusOK {
		t.Errorf("a fallback to an endpoint without clusters: %d %s", a.status, a.body)
	}
}
