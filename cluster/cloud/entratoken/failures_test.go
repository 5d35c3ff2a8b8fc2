package entratoken_test

import (
	"crypto/x509"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/tokentest"
)

// node starts a node with one deployment, a, in a network with Entra ID.
func node(t *testing.T, e *entra, credential map[string]string) *tokentest.Node {
	t.Helper()
	n := tokentest.NewNetwork(t)
	e.serve(n, tokentest.NewGate(t, failure))
	return n.NewNode(cloud.Azure, newFetcher, nil, map[string]map[string]string{"a": credential})
}

// What an operator sees when there can be no token: the cause, and no secret.
func TestWhyThereIsNoToken(t *testing.T) {
	t.Parallel()
	e := &entra{key: newKey(t), secrets: []string{"good-secret"}}
	_, unknown := e.certificate(t, 7)
	other := settings(cloud.AzureClientSecret, "CANARY~wrong~secret")
	other[cloud.AzureTenant] = "00000000-0000-0000-0000-000000000000"
	elsewhere := settings(cloud.AzureClientSecret, "CANARY~wrong~secret")
	elsewhere[cloud.AzureAuthority] = "https://no-such-host.example.com"
	key := unknown[strings.Index(unknown, "-----BEGIN PRIVATE KEY"):]
	for name, c := range map[string]struct {
		credential map[string]string
		want       string
	}{
		"a wrong secret":                    {settings(cloud.AzureClientSecret, "CANARY~wrong~secret"), "the token service responds with status 401, invalid_client: AADSTS7000215: the secret is wrong: [redacted]"},
		"a certificate that is not known":   {settings(cloud.AzureCertificate, unknown), "the token service responds with status 401, invalid_client: AADSTS7000215: the assertion names another certificate"},
		"a tenant that does not exist":      {other, "AADSTS90002"},
		"a host that does not exist":        {elsewhere, "connection refused"},
		"a file that does not exist":        {settings(cloud.AzureFederatedFile, "/nowhere/token"), "azure_federated_token_file cannot be read: open /nowhere/token: no such file"},
		"a certificate without a key":       {settings(cloud.AzureCertificate, strings.TrimSuffix(unknown, key)), "azure_certificate is not a certificate with its private key, without a password"},
		"a key without a certificate":       {settings(cloud.AzureCertificate, key), "azure_certificate is not a certificate with its private key, without a password"},
		"a machine without an identity":     {map[string]string{}, "connection refused"},
		"a token that refers to a variable": {settings(cloud.AzureADToken, "oidc/env/NOT_SET"), "azure_ad_token refers to NOT_SET, which the environment of the gateway does not have"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := node(t, e, c.credential)
				if why := n.Reason("a"); !strings.Contains(why, c.want) {
					t.Errorf("the reason is %q; want %q", why, c.want)
				}
				if printed := n.Printed(); strings.Contains(printed, "CANARY") || strings.Contains(printed, key[60:100]) || !strings.Contains(printed, "models=a") {
					t.Errorf("the log and the problems are %s", printed)
				}
			})
		})
	}
}

// A clock that is wrong is named as the cause. What is signed with it is rejected.
func TestClockThatIsWrong(t *testing.T) {
	t.Parallel()
	for off, want := range map[time.Duration]string{
		12 * time.Minute: "the clock of this machine is 12m0s behind that of " + authority, -6 * time.Minute: "the clock of this machine is 6m0s ahead of that of " + authority,
	} {
		e := &entra{key: newKey(t)}
		c, text := e.certificate(t, 1)
		e.certs, e.ahead = []*x509.Certificate{c}, off
		synctest.Test(t, func(t *testing.T) {
			n := node(t, e, settings(cloud.AzureCertificate, text))
			if why := n.Reason("a"); !strings.HasPrefix(why, want) || !strings.Contains(why, "correct the clock") || !strings.Contains(why, "AADSTS700024") {
				t.Errorf("with a clock that is off by %s, the reason is %q", off, why)
			}
		})
	}
}

// A service whose certificate no known authority has signed gets no secret.
func TestUnknownAuthority(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, other := tokentest.NewNetwork(t), tokentest.NewNetwork(t)
		called := false
		other.ServeTLS(authority, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
		n := one.NewNodeAt(other, cloud.Azure, newFetcher, map[string]map[string]string{"a": settings(cloud.AzureClientSecret, "CANARY~secret")})
		if why := n.Reason("a"); !strings.Contains(why, "certificate signed by unknown authority") || called {
			t.Errorf("the reason is %q; the service was called: %t", why, called)
		}
	})
}

// An application of App Service has its identity from a service that its environment names.
func TestIdentityOfAppService(t *testing.T) {
	t.Setenv("IDENTITY_ENDPOINT", "http://127.0.0.1:41741/msi/token")
	t.Setenv("IDENTITY_HEADER", "CANARY-header")
	tokentest.Laws(t, tokentest.Case{
		Of: cloud.Azure, Make: newFetcher, Failure: failure, Credential: map[string]string{cloud.AzureClient: application}, Canaries: []string{"CANARY"},
		Environ: map[string]string{"IDENTITY_ENDPOINT": "http://127.0.0.1:41741/msi/token"},
		Serve: func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) {
			n.Serve("127.0.0.1:41741", g.Pass(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/msi/token" || r.Header.Get("X-Identity-Header") != "CANARY-header" || r.URL.Query().Get("client_id") != application {
					g.Reject(w, http.StatusBadRequest, r.URL.String())
					return
				}
				bearer(w, g.Issue())
			}))
		},
	})
}

// The file with a federated token is read for each token, so that a rotated one is used.
func TestFederatedFileIsReadAgain(t *testing.T) {
	t.Parallel()
	e, dir := &entra{issuer: newKey(t)}, t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		n := tokentest.NewNetwork(t)
		e.serve(n, tokentest.NewGate(t, failure))
		file := write(t, dir, "token", "not.a.token")
		node := n.NewNode(cloud.Azure, newFetcher, nil, map[string]map[string]string{"a": settings(cloud.AzureFederatedFile, filepath.Join(dir, "token"))})
		if why := node.Reason("a"); !strings.Contains(why, "status 401") {
			t.Errorf("with a token that is none, the reason is %q", why)
		}
		write(t, "", file, e.subject(t))
		time.Sleep(2 * time.Second)
		if node.Token("a").IsZero() {
			t.Errorf("the file is right, and there is no token: %s", node.Reason("a"))
		}
	})
}
