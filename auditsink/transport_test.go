package auditsink_test

import (
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/signature"
)

// TestWebhookOverTLS posts to a real server by the transport that is in use: with
// the certificates that are trusted, without a proxy of the environment, and where
// the Guard lets it.
func TestWebhookOverTLS(t *testing.T) {
	var good, bad, proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	defer proxy.Close()
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("NO_PROXY", "")
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get(signature.Header) == "" || len(body) == 0 {
			bad.Add(1)
		}
		good.Add(1)
		w.WriteHeader(http.StatusOK)
	}))
	defer receiver.Close()
	roots := x509.NewCertPool()
	roots.AddCert(receiver.Certificate())

	b := newBench(t)
	b.log.add(20)
	b.change(func(s *delivery.Settings) { s.URL = receiver.URL + "/canary-token" })
	c := b.config()
	c.Transport = nil
	c.Guard = delivery.Guard{AllowPrivate: true}
	d, stop := b.start(c)
	eventually(t, "a certificate that nobody vouches for is refused", func() bool { return strings.Contains(d.Status()[0].Problem, "certificate") })
	stop()
	c.Roots = roots
	_, stop = b.start(c)
	eventually(t, "20 deliveries", func() bool { return good.Load() == 20 })
	stop()
	if bad.Load() != 0 || proxied.Load() != 0 {
		t.Errorf("%d bad deliveries, %d requests to the proxy", bad.Load(), proxied.Load())
	}

	// A name that leads to this machine, where that is not allowed.
	_, port, err := net.SplitHostPort(receiver.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b.log.add(1)
	b.change(func(s *delivery.Settings) { s.URL = "https://localhost:" + port + "/canary-token" })
	c.Guard = delivery.Guard{}
	d, stop = b.start(c)
	eventually(t, "it is refused", func() bool { return d.Status()[0].Problem != "" })
	stop()
	if good.Load() != 20 || strings.Contains(b.logged.String(), "canary") {
		t.Errorf("%d deliveries; log: %s", good.Load(), b.logged)
	}
}
