package googletoken_test

import (
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/googletoken"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/cloud/token"
	"github.com/modelgateway/modelgateway/cluster/cloud/tokentest"
)

const (
	robot     = "robot@project.iam.gserviceaccount.com"
	wide      = "https://www.googleapis.com/auth/cloud-platform"
	audience  = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/issuer"
	oauthHost = "oauth2.googleapis.com"
	stsHost   = "sts.googleapis.com"
	iamHost   = "iamcredentials.googleapis.com"
	robotPath = "/v1/projects/-/serviceAccounts/" + robot + ":generateAccessToken"
	federated = "CANARY-federated-token"
)

// google has the token services of Google.
type google struct {
	keys   []*rsa.PrivateKey // of the service account
	issuer *rsa.PrivateKey   // of tokens of another issuer
	ahead  time.Duration     // of its clock
}

// newFetcher is a tokentest.Make.
func newFetcher(of cloud.Credential, clients *outbound.Clients) token.Fetcher {
	return googletoken.New(of, clients)
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
	body, err := json.Marshal(map[string]string{"error": "invalid_grant", "error_description": text})
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// answer responds with JSON.
func answer(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, format, args...)
}

// oauth serves the token service of service accounts and users.
func (s *google) oauth(n *tokentest.Network, g *tokentest.Gate) {
	m := http.NewServeMux()
	m.Handle("POST /token", g.Pass(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(s.ahead).UTC().Format(http.TimeFormat))
		var why string
		switch kind := r.FormValue("grant_type"); kind {
		case "urn:ietf:params:oauth:grant-type:jwt-bearer":
			why = s.assertion(r.FormValue("assertion"))
		case "refresh_token":
			if r.FormValue("client_id") != "client" || r.FormValue("client_secret") != "CANARY-client" || !strings.HasPrefix(r.FormValue("refresh_token"), "1//CANARY-refresh") {
				why = fmt.Sprintf("the request of a user is %v", r.PostForm)
			}
		default:
			why = "the grant type is " + kind
		}
		if why != "" {
			g.Reject(w, http.StatusBadRequest, why)
			return
		}
		answer(w, `{"access_token": %q, "expires_in": %d, "token_type": "Bearer"}`, g.Issue(), int(tokentest.Life.Seconds()))
	}))
	n.ServeTLS(oauthHost, m)
}

// assertion says what is wrong with what a service account has signed.
func (s *google) assertion(text string) string {
	now := time.Now().Add(s.ahead).Unix()
	for _, key := range s.keys {
		j, err := tokentest.VerifyJWT(text, &key.PublicKey)
		if err != nil {
			continue
		}
		from, to := j.Number("iat"), j.Number("exp")
		switch {
		case j.Claims["iss"] != robot || j.Claims["aud"] != "https://"+oauthHost+"/token" || j.Claims["scope"] != wide || j.Header["kid"] != "k1":
			return fmt.Sprintf("the assertion is %v", j)
		case from > now+300 || to <= now || to-from > 3600:
			return "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim."
		}
		return ""
	}
	return "Invalid JWT Signature."
}

// sts serves the exchange of other issuers' tokens, and the service account that they may be exchanged for.
func (s *google) sts(n *tokentest.Network, g *tokentest.Gate) {
	n.ServeTLS(stsHost, g.Pass(s.exchange(g, g.Issue)))
}

// impersonation is sts for the tokens of a service account.
func (s *google) impersonation(n *tokentest.Network, g *tokentest.Gate) {
	n.ServeTLS(stsHost, s.exchange(g, func() string { return federated }))
	s.iam(n, g, federated)
}

// exchange returns a token for one of the issuer.
func (s *google) exchange(g *tokentest.Gate, issue func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		j, err := tokentest.VerifyJWT(r.FormValue("subject_token"), &s.issuer.PublicKey)
		switch {
		case err != nil || j.Claims["aud"] != "https:"+audience || j.Number("exp") <= time.Now().Unix():
			g.Reject(w, http.StatusBadRequest, fmt.Sprintf("the token of the issuer is %v: %v", j, err))
		case r.FormValue("grant_type") != "urn:ietf:params:oauth:grant-type:token-exchange" || r.FormValue("audience") != audience ||
			r.FormValue("subject_token_type") != "urn:ietf:params:oauth:token-type:jwt" || r.FormValue("requested_token_type") != "urn:ietf:params:oauth:token-type:access_token":
			g.Reject(w, http.StatusBadRequest, fmt.Sprintf("the request is %v", r.PostForm))
		case r.URL.Path != "/v1/token":
			g.Reject(w, http.StatusNotFound, r.URL.Path)
		default:
			answer(w, `{"access_token": %q, "issued_token_type": "urn:ietf:params:oauth:token-type:access_token", "token_type": "Bearer", "expires_in": %d}`, issue(), int(tokentest.Life.Seconds()))
		}
	}
}

// iam serves tokens of the service account to the bearer of another token.
func (s *google) iam(n *tokentest.Network, g *tokentest.Gate, bearer string) {
	n.ServeTLS(iamHost, g.Pass(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Scope []string `json:"scope"`
		}
		if err := json.UnmarshalRead(r.Body, &body); err != nil || r.URL.Path != robotPath || !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer "+bearer) || !slices.Equal(body.Scope, []string{wide}) {
			g.Reject(w, http.StatusForbidden, fmt.Sprintf("the request is %s %v %v", r.URL, r.Header, body))
			return
		}
		answer(w, `{"accessToken": %q, "expireTime": %q}`, g.Issue(), time.Now().Add(tokentest.Life).UTC().Format(time.RFC3339))
	}))
}

// subject returns a token of the issuer.
func (s *google) subject(t *testing.T) string {
	t.Helper()
	now := time.Now()
	text, err := tokentest.SignJWT(s.issuer, map[string]any{"iss": "https://issuer.example.com", "sub": "workload", "aud": "https:" + audience, "iat": now.Unix(), "exp": now.AddDate(1, 0, 0).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func credential(value string) map[string]string {
	return map[string]string{cloud.VertexCredentials: value}
}

func TestServiceAccountKeepsItsTokens(t *testing.T) {
	t.Parallel()
	s := &google{keys: []*rsa.PrivateKey{newKey(t), newKey(t)}}
	var files []string
	for _, key := range s.keys {
		files = append(files, account(t, key, "https://"+oauthHost+"/token"))
	}
	tokentest.Laws(t, tokentest.Case{
		Of: cloud.Google, Make: newFetcher, Failure: failure, Credential: credential(files[0]), Rotated: credential(files[1]),
		Serve:    func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) { s.oauth(n, g) },
		Canaries: []string{files[0][strings.Index(files[0], "PRIVATE KEY-----")+200:][:60], "eyJhbGciOi"},
	})
}

func TestUserKeepsItsTokens(t *testing.T) {
	t.Parallel()
	user := func(refresh string) map[string]string {
		return credential(marshal(t, map[string]string{"type": "authorized_user", "client_id": "client", "client_secret": "CANARY-client", "refresh_token": refresh}))
	}
	tokentest.Laws(t, tokentest.Case{
		Of: cloud.Google, Make: newFetcher, Failure: failure, Credential: user("1//CANARY-refresh-1"), Rotated: user("1//CANARY-refresh-2"),
		Serve: func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) { (&google{}).oauth(n, g) }, Canaries: []string{"CANARY"},
	})
}

// Workload identity federation: a token of another issuer, from a file or an address, is exchanged for one of Google.
func TestFederationKeepsItsTokens(t *testing.T) {
	t.Parallel()
	s := &google{issuer: newKey(t)}
	subject := s.subject(t)
	for name, c := range map[string]struct {
		source       map[string]any
		impersonates bool
	}{
		"a file":                       {map[string]any{"file": write(t, "token", subject)}, false},
		"a file with JSON":             {map[string]any{"file": write(t, "json", `{"id_token": "`+subject+`"}`), "format": map[string]string{"type": "json", "subject_token_field_name": "id_token"}}, false},
		"an address":                   {map[string]any{"url": "http://127.0.0.1:7777/token", "headers": map[string]string{"Metadata": "true"}, "format": map[string]string{"type": "json", "subject_token_field_name": "access_token"}}, false},
		"a file for a service account": {map[string]any{"file": write(t, "token", subject)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := map[string]any{
				"type": "external_account", "audience": audience, "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
				"token_url": "https://" + stsHost + "/v1/token", "credential_source": c.source,
			}
			if c.impersonates {
				config["service_account_impersonation_url"] = "https://" + iamHost + robotPath
			}
			tokentest.Laws(t, tokentest.Case{
				Of: cloud.Google, Make: newFetcher, Failure: failure, Credential: credential(marshal(t, config)), Rotated: credential(write(t, "config.json", marshal(t, config))),
				Serve: func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) {
					if c.impersonates {
						s.impersonation(n, g)
					} else {
						s.sts(n, g)
					}
					n.Serve("127.0.0.1:7777", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if r.Header.Get("Metadata") != "true" {
							g.Reject(w, http.StatusBadRequest, "the header is missing")
							return
						}
						answer(w, `{"access_token": %q}`, subject)
					}))
				},
				Canaries: []string{"CANARY", "eyJhbGciOi"},
			})
		})
	}
}

// The user may have the tokens of a service account.
func TestImpersonationKeepsItsTokens(t *testing.T) {
	t.Parallel()
	config := marshal(t, map[string]any{
		"type": "impersonated_service_account", "service_account_impersonation_url": "https://" + iamHost + robotPath,
		"source_credentials": map[string]string{"type": "authorized_user", "client_id": "client", "client_secret": "CANARY-client", "refresh_token": "1//CANARY-refresh"},
	})
	tokentest.Laws(t, tokentest.Case{
		Of: cloud.Google, Make: newFetcher, Failure: failure, Credential: credential(config),
		Serve: func(t *testing.T, n *tokentest.Network, g *tokentest.Gate) {
			t.Helper()
			(&google{}).oauth(n, tokentest.NewGate(t, failure))
			(&google{}).iam(n, g, "token-")
		},
		Canaries: []string{"CANARY"},
	})
}

// The service account of a virtual machine.
func TestMachineKeepsItsTokens(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // no default credentials of the one who runs the test
	tokentest.Laws(t, tokentest.Case{
		Of: cloud.Google, Make: newFetcher, Failure: failure, Credential: map[string]string{},
		Serve: func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) {
			n.Serve("169.254.169.254:80", g.Pass(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Metadata-Flavor", "Google")
				if r.Header.Get("Metadata-Flavor") != "Google" || r.URL.Path != "/computeMetadata/v1/instance/service-accounts/default/token" || r.URL.Query().Get("scopes") != wide {
					g.Reject(w, http.StatusForbidden, fmt.Sprintf("the request is %s %v", r.URL, r.Header))
					return
				}
				answer(w, `{"access_token": %q, "expires_in": %d, "token_type": "Bearer"}`, g.Issue(), int(tokentest.Life.Seconds()))
			}))
		},
	})
}
