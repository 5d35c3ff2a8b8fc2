package googletoken_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/googletoken"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// service is Google's token service. It gives a token only for an assertion that a service account has signed.
type service struct {
	*httptest.Server
	key    *rsa.PrivateKey
	answer string // if not empty, with status 400
	got    map[string]string
}

func newService(t *testing.T) *service {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := &service{key: key, got: map[string]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.answer != "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, strings.ReplaceAll(s.answer, "ASSERTION", r.FormValue("assertion")))
			return
		}
		for name := range r.PostForm {
			s.got[name] = r.PostForm.Get(name)
		}
		if problem := s.problem(r); problem != "" {
			t.Error(problem)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"access_token": "ya29.fresh", "expires_in": 3599, "token_type": "Bearer"}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// problem says what is wrong with a request.
func (s *service) problem(r *http.Request) string {
	switch r.FormValue("grant_type") {
	case "refresh_token":
		if r.FormValue("refresh_token") != "1//refresh" || r.FormValue("client_id") != "client" || r.FormValue("client_secret") != "CANARY-client" {
			return fmt.Sprintf("the request of a user's token is %v", r.PostForm)
		}
		return ""
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		return s.assertion(r.FormValue("assertion"))
	}
	return "the grant type is " + r.FormValue("grant_type")
}

// assertion verifies the signature and the claims.
func (s *service) assertion(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "the assertion is no JSON web token"
	}
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err := rsa.VerifyPKCS1v15(&s.key.PublicKey, crypto.SHA256, sum[:], signature); err != nil {
		return "the signature of the assertion is wrong"
	}
	body, _ := base64.RawURLEncoding.DecodeString(parts[1])
	var claims struct {
		Issuer   string `json:"iss"`
		Audience string `json:"aud"`
		Scope    string `json:"scope"`
		Issued   int64  `json:"iat"`
		Expires  int64  `json:"exp"`
	}
	if err := json.Unmarshal(body, &claims); err != nil {
		return err.Error()
	}
	if claims.Issuer != "robot@project.iam.gserviceaccount.com" || claims.Audience != s.URL+"/token" || claims.Scope != "https://www.googleapis.com/auth/cloud-platform" ||
		claims.Expires-claims.Issued > 3600+20 || claims.Expires <= claims.Issued {
		return fmt.Sprintf("the claims are %s", body)
	}
	return ""
}

func (s *service) account(t *testing.T) string {
	t.Helper()
	return account(t, s.key, s.URL+"/token")
}

// account returns the file of a service account.
func account(t *testing.T, key *rsa.PrivateKey, tokenURI string) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "project", "private_key_id": "k1", "client_email": "robot@project.iam.gserviceaccount.com",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokenURI,
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func fetch(t *testing.T, value string, trusted bool) (cloud.Token, error) {
	t.Helper()
	clients := outbound.NewClients(outbound.Config{Private: true})
	t.Cleanup(clients.Close)
	c := cloud.CredentialOf(cloud.Google, cloud.Of(map[string]vault.Secret{cloud.VertexCredentials: vault.NewSecret(value)}), trusted)
	got, err := googletoken.New(c, clients).Fetch(t.Context())
	if err != nil {
		err = fmt.Errorf("%s", outbound.Scrub(err.Error(), c))
	}
	return got, err
}

func TestServiceAccount(t *testing.T) {
	t.Parallel()
	s := newService(t)
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, []byte(s.account(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"JSON": s.account(t), "a file": file} {
		got, err := fetch(t, value, true)
		if err != nil || got.Bearer.Reveal() != "ya29.fresh" || time.Until(got.Expires) < 50*time.Minute || time.Until(got.Expires) > time.Hour {
			t.Errorf("with %s, the token is %q until %s, and the error %v", name, got.Bearer.Reveal(), got.Expires, err)
		}
	}
}

func TestUser(t *testing.T) {
	t.Parallel()
	if _, err := fetch(t, `{"type": "authorized_user", "client_id": "client", "client_secret": "CANARY-client"}`, true); err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("the error of a user without a refresh token is %v", err)
	}
}

func TestFailuresSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newService(t)
	account := s.account(t)
	for name, c := range map[string]struct {
		value   string
		trusted bool
		answer  string
		want    string
	}{
		"a rejected signature": {account, true, `{"error": "invalid_grant", "error_description": "Invalid JWT Signature."}`, "the token service responds with status 400, invalid_grant: Invalid JWT Signature."},
		"an echo":              {account, true, `{"error": "invalid_grant", "error_description": "bad: ASSERTION"}`, "the token service responds with status 400, invalid_grant: bad: [redacted]"},
		"broken JSON":          {account, true, `<html>`, "the token service responds with status 400"},
		"a broken key":         {strings.Replace(account, "PRIVATE KEY-----\\nMII", "PRIVATE KEY-----\\nCANARY", 1), true, "", "the private_key in vertex_credentials is not an RSA key in PEM"},
		"no JSON":              {`{"type": "service_account", CANARY`, true, "", "vertex_credentials is not a JSON object of a credential of Google"},
		"another kind":         {`{"type": "CANARY"}`, true, "", "vertex_credentials has a type that cannot be used"},
		"no kind":              {`{"installed": {"client_secret": "CANARY"}}`, true, "", "vertex_credentials has no type"},
		"a foreign federation": {`{"type": "external_account", "credential_source": {"file": "/etc/CANARY"}}`, false, "", "vertex_credentials has the type external_account, which may refer to the gateway's machine"},
		"no file":              {"/nowhere/key.json", true, "", "vertex_credentials cannot be read: open /nowhere/key.json: no such file"},
	} {
		s.answer = c.answer
		_, err := fetch(t, c.value, c.trusted)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("with %s, the error is %v; want %s", name, err, c.want)
		}
	}
}
