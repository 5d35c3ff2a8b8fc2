//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// clusters returns the names of Envoy's clusters.
func (g *gatewayProcess) clusters() map[string]bool {
	g.t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", filepath.Join(g.data, "run", adminSocket))
	}}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://envoy/clusters")
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	out := make(map[string]bool)
	for line := range strings.Lines(string(b)) {
		if name, _, ok := strings.Cut(line, "::"); ok {
			out[name] = true
		}
	}
	return out
}

// Envoy has one cluster for each of 2,000 addresses, and the clusters of later attempts
// only where a plan has needed them: a request falls back to one.
func TestManyAddresses(t *testing.T) {
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
