package entratoken_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" // Entra ID names certificates by it
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/entratoken"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/cloud/token"
	"github.com/modelgateway/modelgateway/cluster/cloud/tokentest"
)

const (
	tenant      = "11111111-2222-3333-4444-555555555555"
	application = "66666666-7777-8888-9999-000000000000"
	authority   = "login.example.com"
	scope       = "https://cognitiveservices.azure.com/.default"
)

// entra is Entra ID. It gives tokens to an application that proves who it is.
type entra struct {
	secrets []string
	key     *rsa.PrivateKey // of the application
	certs   []*x509.Certificate
	issuer  *rsa.PrivateKey // whose tokens it accepts
	ahead   time.Duration   // of its clock

	mu   sync.Mutex
	seen map[string]bool // assertions
}

// newFetcher is a tokentest.Make.
func newFetcher(of cloud.Credential, clients *outbound.Clients) token.Fetcher {
	return entratoken.New(of, clients)
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func failure(text string) string {
	body, err := json.Marshal(map[string]string{"error": "invalid_client", "error_description": "AADSTS7000215: " + text + " Trace ID: 1"})
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// serve puts Entra ID into a network.
func (e *entra) serve(n *tokentest.Network, g *tokentest.Gate) {
	e.mu.Lock()
	e.seen = make(map[string]bool)
	e.mu.Unlock()
	at := "https://" + authority + "/" + tenant
	m := http.NewServeMux()
	m.HandleFunc("GET /{tenant}/v2.0/.well-known/openid-configuration", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.PathValue("tenant") != tenant {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"error":"invalid_tenant","error_description":"AADSTS90002: Tenant not found."}`)
			return
		}
		_, _ = fmt.Fprintf(w, `{"token_endpoint": "%s/oauth2/v2.0/token", "issuer": "%s/v2.0", "authorization_endpoint": "%s/oauth2/v2.0/authorize"}`, at, at, at)
	})
	m.Handle("POST /"+tenant+"/oauth2/v2.0/token", g.Pass(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(e.ahead).UTC().Format(http.TimeFormat))
		if why := e.problem(r); why != "" {
			g.Reject(w, http.StatusUnauthorized, why)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"token_type": "Bearer", "expires_in": %d, "ext_expires_in": %d, "access_token": %q}`, int(tokentest.Life.Seconds()), int(tokentest.Life.Seconds()), g.Issue())
	}))
	n.ServeTLS(authority, m)
}

// problem says what is wrong with a request for a token.
func (e *entra) problem(r *http.Request) string {
	switch {
	case r.FormValue("grant_type") != "client_credentials" || r.FormValue("client_id") != application || !strings.HasPrefix(r.FormValue("scope"), scope):
		return fmt.Sprintf("the request is %v", r.PostForm)
	case r.PostForm.Has("client_secret"):
		for _, s := range e.secrets {
			if r.FormValue("client_secret") == s {
				return ""
			}
		}
		return "the secret is wrong: " + r.FormValue("client_secret")
	case r.FormValue("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer":
		return fmt.Sprintf("the request has neither a secret nor an assertion: %v", r.PostForm)
	}
	return e.assertion(r.FormValue("client_assertion"))
}

// assertion says what is wrong with an assertion.
func (e *entra) assertion(text string) string {
	now := time.Now().Add(e.ahead)
	if e.issuer != nil {
		j, err := tokentest.VerifyJWT(text, &e.issuer.PublicKey)
		if err != nil || j.Claims["aud"] != "api://AzureADTokenExchange" || j.Number("exp") <= now.Unix() {
			return fmt.Sprintf("the issuer's token is %v: %v", j, err)
		}
		return ""
	}
	j, err := tokentest.VerifyJWT(text, &e.key.PublicKey)
	if err != nil {
		return "the signature is not that of the certificate: " + err.Error()
	}
	known := false
	for _, c := range e.certs {
		long, short := sha256.Sum256(c.Raw), sha1.Sum(c.Raw)
		known = known || named(j.Header["x5t#S256"], long[:]) || named(j.Header["x5t"], short[:])
	}
	id, _ := j.Claims["jti"].(string)
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case !known:
		return fmt.Sprintf("the assertion names another certificate: %v", j.Header)
	case j.Claims["iss"] != application || j.Claims["sub"] != application || j.Claims["aud"] != "https://"+authority+"/"+tenant+"/oauth2/v2.0/token":
		return fmt.Sprintf("the claims are %v", j.Claims)
	case j.Number("exp") <= now.Unix() || j.Number("nbf") > now.Unix()+300:
		return "AADSTS700024: Client assertion is not within its valid time range."
	case id == "" || e.seen[id]:
		return "the assertion was used before"
	}
	e.seen[id] = true
	return ""
}

// named reports whether a header has a hash, in either alphabet.
func named(header any, hash []byte) bool {
	return header == base64.RawURLEncoding.EncodeToString(hash) || header == base64.StdEncoding.EncodeToString(hash)
}

// certificate returns a certificate of the application's key, and both in PEM.
func (e *entra) certificate(t *testing.T, number int64) (*x509.Certificate, string) {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: "application"}, NotBefore: time.Unix(0, 0), NotAfter: time.Now().AddDate(10, 0, 0)}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &e.key.PublicKey, e.key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(e.key)
	if err != nil {
		t.Fatal(err)
	}
	return c, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})) + string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// application returns the settings of the application with one more.
func settings(name, value string) map[string]string {
	return map[string]string{cloud.AzureTenant: tenant, cloud.AzureClient: application, cloud.AzureAuthority: "https://" + authority, name: value}
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestClientSecret(t *testing.T) {
	t.Parallel()
	e := &entra{secrets: []string{"CANARY~secret/1", "CANARY~secret/2"}}
	tokentest.Laws(t, tokentest.Case{
		Of: cloud.Azure, Make: newFetcher, Failure: failure,
		Serve:      func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) { e.serve(n, g) },
		Credential: settings(cloud.AzureClientSecret, e.secrets[0]), Rotated: settings(cloud.AzureClientSecret, e.secrets[1]),
	})
}

func TestCertificate(t *testing.T) {
	t.Parallel()
	e := &entra{key: newKey(t)}
	first, one := e.certificate(t, 1)
	second, two := e.certificate(t, 2)
	e.certs = []*x509.Certificate{first, second}
	dir := t.TempDir()
	for name, c := range map[string][2]string{"PEM": {one, two}, "file": {write(t, dir, "1.pem", one), write(t, dir, "2.pem", two)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokentest.Laws(t, tokentest.Case{
				Of: cloud.Azure, Make: newFetcher, Failure: failure,
				Serve:      func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) { e.serve(n, g) },
				Credential: settings(cloud.AzureCertificate, c[0]), Rotated: settings(cloud.AzureCertificate, c[1]),
				Canaries: []string{one[len(one)-200 : len(one)-140]},
			})
		})
	}
}

// federated serves Entra ID for tokens of another issuer, and keeps such a token in two files, as a cluster's control plane does.
func federated(t *testing.T, e *entra, files ...string) func(*testing.T, *tokentest.Network, *tokentest.Gate) {
	t.Helper()
	return func(t *testing.T, n *tokentest.Network, g *tokentest.Gate) {
		t.Helper()
		e.serve(n, g)
		ctx := t.Context()
		renew := func() {
			for _, file := range files {
				write(t, filepath.Dir(file), "new", e.subject(t)+"\n")
				if err := os.Rename(filepath.Join(filepath.Dir(file), "new"), file); err != nil {
					t.Error(err)
				}
			}
		}
		renew()
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(10 * time.Minute): // its tokens are valid for half an hour
					renew()
				}
			}
		}()
	}
}

// subject returns a token of the issuer.
func (e *entra) subject(t *testing.T) string {
	t.Helper()
	now := time.Now()
	text, err := tokentest.SignJWT(e.issuer, map[string]any{
		"iss": "https://issuer.example.com", "sub": "system:serviceaccount:ns:gateway", "aud": "api://AzureADTokenExchange",
		"iat": now.Unix(), "exp": now.Add(30 * time.Minute).Unix(),
	})
	if err != nil {
		t.Error(err)
	}
	return text
}

func TestFederatedToken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]func(file string) (settings, environ map[string]string){
		"a file": func(file string) (map[string]string, map[string]string) {
			return settings(cloud.AzureFederatedFile, file), nil
		},
		"LiteLLM's reference": func(file string) (map[string]string, map[string]string) {
			return settings(cloud.AzureADToken, "oidc/file/"+file), nil
		},
		"a workload of AKS": func(file string) (map[string]string, map[string]string) {
			return map[string]string{}, map[string]string{"AZURE_FEDERATED_TOKEN_FILE": file, "AZURE_TENANT_ID": tenant, "AZURE_CLIENT_ID": application, "AZURE_AUTHORITY_HOST": "https://" + authority + "/"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, dir := &entra{issuer: newKey(t)}, t.TempDir()
			first, second := filepath.Join(dir, "1"), filepath.Join(dir, "2")
			credential, environ := c(first)
			rotated, _ := c(second)
			if len(rotated) == 0 {
				rotated = nil
			}
			tokentest.Laws(t, tokentest.Case{
				Of: cloud.Azure, Make: newFetcher, Failure: failure, Environ: environ,
				Serve: federated(t, e, first, second), Credential: credential, Rotated: rotated, Canaries: []string{"eyJhbGciOi"},
			})
		})
	}
}

// bearer responds with a token as services of managed identities do.
func bearer(w http.ResponseWriter, text string) {
	seconds := int(tokentest.Life.Seconds())
	_, _ = fmt.Fprintf(w, `{"access_token": %q, "expires_in": "%d", "expires_on": "%d", "resource": "https://cognitiveservices.azure.com", "token_type": "Bearer"}`, text, seconds, time.Now().Unix()+int64(seconds))
}

// machine is the metadata service of a virtual machine.
func machine(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) {
	m := http.NewServeMux()
	m.Handle("GET /metadata/identity/oauth2/token", g.Pass(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if client := q.Get("client_id"); r.Header.Get("Metadata") != "true" || q.Get("resource") != "https://cognitiveservices.azure.com" || client != "" && client != application && client != "another" {
			g.Reject(w, http.StatusBadRequest, fmt.Sprintf("the request is %s %v", r.URL, r.Header))
			return
		}
		bearer(w, g.Issue())
	}))
	n.Serve("169.254.169.254:80", m)
}

func TestManagedIdentity(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]map[string]string{
		"of the machine": {{}, nil},
		"of a user":      {{cloud.AzureClient: application}, {cloud.AzureClient: "another"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokentest.Laws(t, tokentest.Case{Of: cloud.Azure, Make: newFetcher, Failure: failure, Serve: machine, Credential: c[0], Rotated: c[1]})
		})
	}
}
