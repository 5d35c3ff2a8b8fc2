package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// certificate makes one that is its own authority.
func certificate(t *testing.T, names ...string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// newTLSUpstream is a fake provider that offers HTTP/2, and ends its answers with
// trailers.
func newTLSUpstream(t *testing.T, cert tls.Certificate) (*fake.Server, string, *[]string) {
	t.Helper()
	f := fake.New(fake.Options{})
	seen := &[]string{}
	var mu sync.Mutex
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		*seen = append(*seen, r.Proto+" "+r.TLS.ServerName)
		mu.Unlock()
		w.Header().Set("Trailer", "X-Trailer")
		f.ServeHTTP(w, r)
		w.Header().Set("X-Trailer", "1")
	}))
	srv.EnableHTTP2 = true
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	t.Cleanup(func() {
		f.Close()
		srv.Close()
	})
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return f, "https://localhost:" + port, seen
}

// A provider over https is found by its name, verified, and spoken to in HTTP/2
// where it offers that.
func TestHTTPSProvider(t *testing.T) {
	cert, authority := certificate(t, "localhost")
	stranger, _ := certificate(t, "localhost")
	misnamed, misnamedAuthority := certificate(t, "other.example")
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, append(authority, misnamedAuthority...), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", bundle)
	good, goodURL, seen := newTLSUpstream(t, cert)
	bad, badURL, _ := newTLSUpstream(t, stranger)
	other, otherURL, _ := newTLSUpstream(t, misnamed)
	list := func(name, url string) string {
		return "  - {model_name: " + name + ", gateway_params: {model: openai/fake-gpt, api_base: \"" + url + "/v1\", api_key: k}}\n"
	}
	g := startGateway(t, "model_list:\n"+list("good", goodURL)+list("stranger", badURL)+list("misnamed", otherURL)+"router_settings: {num_retries: 0}\n")
	for _, more := range []string{"", `,"stream":true`} {
		a := g.chat(request("good", more))
		if a.status != http.StatusOK || more != "" && !strings.HasSuffix(a.body, "data: [DONE]\n\n") {
			t.Errorf("%d %s", a.status, a.body)
		}
		if e := g.one(a); e.Status != "success" || e.Source != "provider" {
			t.Errorf("event %+v", e)
		}
	}
	if got := strings.Join(*seen, ","); got != "HTTP/2.0 localhost,HTTP/2.0 localhost" {
		t.Errorf("the provider was spoken to as %s", got)
	}
	refused(t, "a certificate that nobody has signed", g.chat(request("stranger", "")), 503, "all_deployments_failed")
	refused(t, "a certificate of another name", g.chat(request("misnamed", "")), 503, "all_deployments_failed")
	if bad.Counters().Total+other.Counters().Total != 0 || good.Counters().Total != 2 {
		t.Error("a provider that could not be verified got a request")
	}
}

// tlsFront serves a gateway over TLS, as what operators put in front of one does. It returns the address, and a file with
// the authority of its certificate.
func tlsFront(t *testing.T, g *gatewayProcess) (url, authority string) {
	t.Helper()
	cert, text := certificate(t, "localhost")
	authority = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(authority, text, 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := neturl.Parse(g.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1, // streams
	}
	srv := httptest.NewUnstartedServer(proxy)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.URL, authority
}
