package awstoken_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/awstoken"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/cloud/token"
	"github.com/modelgateway/modelgateway/cluster/cloud/tokentest"
)

const (
	region  = "eu-west-1"
	stsHost = "sts." + region + ".amazonaws.com"
	role    = "arn:aws:iam::123456789012:role/gateway"
	imds    = "169.254.169.254:80"
)

// key is a key that the token service knows.
type key struct {
	secret, session string
	expires         time.Time // zero: never
}

// sts is the token service of AWS. It verifies signatures, session tokens and web identities.
type sts struct {
	keys     map[string]key
	external string          // the external id that the role demands
	issuer   *rsa.PrivateKey // of web identities
	ahead    time.Duration   // of its clock
}

// newFetcher is a tokentest.Make.
func newFetcher(of cloud.Credential, clients *outbound.Clients) token.Fetcher {
	return awstoken.New(of, clients)
}

// fault is a failure of the token service: a code and a text.
type fault struct{ code, text string }

// failure returns the body of a failure. A text may begin with a code and a bar.
func failure(text string) string {
	code, said, ok := strings.Cut(text, "|")
	if !ok {
		code, said = "InternalFailure", text
	}
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(said)) // a buffer takes all
	return `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>` + code + `</Code><Message>` + b.String() + `</Message></Error><RequestId>1</RequestId></ErrorResponse>`
}

// serve puts the token service into a network.
func (s *sts) serve(n *tokentest.Network, g *tokentest.Gate) {
	n.ServeTLS(stsHost, g.Pass(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(s.ahead).UTC().Format(http.TimeFormat))
		body, err := io.ReadAll(r.Body)
		if err != nil {
			g.Reject(w, http.StatusBadRequest, err.Error())
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var f *fault
		switch action := r.FormValue("Action"); action {
		case "AssumeRole":
			if f = s.signature(r, body); f == nil && (r.FormValue("RoleArn") != role || r.FormValue("ExternalId") != s.external || r.FormValue("DurationSeconds") != "3600" || r.FormValue("RoleSessionName") == "") {
				f = &fault{"AccessDenied", "User: arn:aws:iam::123456789012:user/gateway is not authorized to perform: sts:AssumeRole on resource: " + r.FormValue("RoleArn")}
			}
		case "AssumeRoleWithWebIdentity":
			f = s.identity(r)
		default:
			f = &fault{"InvalidAction", action}
		}
		if f != nil {
			g.Reject(w, http.StatusForbidden, f.code+"|"+f.text)
			return
		}
		w.Header().Set("Content-Type", "text/xml")
		_, _ = fmt.Fprintf(w, `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials><AccessKeyId>ASIA1</AccessKeyId><SecretAccessKey>CANARY-secret</SecretAccessKey><SessionToken>%[2]s</SessionToken><Expiration>%[3]s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`,
			r.FormValue("Action"), g.Issue(), time.Now().Add(tokentest.Life).UTC().Format(time.RFC3339))
	}))
}

// signature says what is wrong with the signature of a request.
func (s *sts) signature(r *http.Request, body []byte) *fault {
	given := r.Header.Get("Authorization")
	_, rest, _ := strings.Cut(given, "Credential=")
	scope, rest, _ := strings.Cut(rest, ", SignedHeaders=")
	signed, _, _ := strings.Cut(rest, ", ")
	id, _, _ := strings.Cut(scope, "/")
	k, known := s.keys[id]
	now := time.Now().Add(s.ahead)
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	switch {
	case !known || r.Header.Get("X-Amz-Security-Token") != k.session:
		return &fault{"InvalidClientTokenId", "The security token included in the request is invalid."}
	case !k.expires.IsZero() && !now.Before(k.expires):
		return &fault{"ExpiredToken", "The security token included in the request is expired"}
	case err != nil || at.Before(now.Add(-5*time.Minute)):
		return &fault{"SignatureDoesNotMatch", "Signature expired: " + r.Header.Get("X-Amz-Date") + " is now earlier than the limit"}
	case at.After(now.Add(5 * time.Minute)):
		return &fault{"SignatureDoesNotMatch", "Signature not yet current: " + r.Header.Get("X-Amz-Date")}
	}
	again, err := http.NewRequestWithContext(r.Context(), r.Method, "https://"+r.Host+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return &fault{"InternalFailure", err.Error()}
	}
	for name := range strings.SplitSeq(signed, ";") {
		if name != "host" && name != "content-length" {
			again.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(r.Context(), aws.Credentials{AccessKeyID: id, SecretAccessKey: k.secret}, again, hex.EncodeToString(sum[:]), "sts", region, at); err != nil {
		return &fault{"InternalFailure", err.Error()}
	}
	if want := again.Header.Get("Authorization"); want != given {
		return &fault{"SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided."}
	}
	return nil
}

// identity says what is wrong with a web identity.
func (s *sts) identity(r *http.Request) *fault {
	j, err := tokentest.VerifyJWT(r.FormValue("WebIdentityToken"), &s.issuer.PublicKey)
	switch {
	case err != nil || j.Claims["aud"] != "sts.amazonaws.com" || r.Header.Get("Authorization") != "":
		return &fault{"InvalidIdentityToken", fmt.Sprint("The web identity token is not valid: ", j, err)}
	case j.Number("exp") <= time.Now().Unix():
		return &fault{"ExpiredTokenException", "Token expired: current date/time must be before the expiration date/time"}
	case r.FormValue("RoleArn") != role || r.FormValue("RoleSessionName") == "":
		return &fault{"AccessDenied", "Not authorized to perform sts:AssumeRoleWithWebIdentity"}
	}
	return nil
}

// subject returns a web identity that is valid for some time.
func (s *sts) subject(t *testing.T, valid time.Duration) string {
	t.Helper()
	text, err := tokentest.SignJWT(s.issuer, map[string]any{"iss": "https://issuer.example.com", "sub": "gateway", "aud": "sts.amazonaws.com", "exp": time.Now().Add(valid).Unix()})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// settings returns settings, as names and values.
func settings(values ...string) map[string]string {
	all := map[string]string{cloud.AWSRegion: region}
	for i := 0; i < len(values); i += 2 {
		all[values[i]] = values[i+1]
	}
	return all
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// replace replaces a file at once.
func replace(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

func TestRoleKeepsItsKeys(t *testing.T) {
	t.Parallel()
	s := &sts{external: "CANARY-external", keys: map[string]key{
		"AKIAONE": {secret: "CANARY/one+secret"}, "AKIATWO": {secret: "CANARY/two+secret"}, "ASIATHREE": {secret: "CANARY/three", session: "CANARY-session=="},
	}}
	for name, more := range map[string][]string{
		"of a user":    {cloud.AWSAccessKeyID, "AKIAONE", cloud.AWSSecretAccessKey, "CANARY/one+secret"},
		"of a session": {cloud.AWSAccessKeyID, "ASIATHREE", cloud.AWSSecretAccessKey, "CANARY/three", cloud.AWSSessionToken, "CANARY-session=="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			two := []string{cloud.AWSRole, role, cloud.AWSExternalID, s.external, cloud.AWSRoleSession, "named", cloud.AWSAccessKeyID, "AKIATWO", cloud.AWSSecretAccessKey, "CANARY/two+secret"}
			tokentest.Laws(t, tokentest.Case{
				Of: cloud.AWS, Make: newFetcher, Failure: failure,
				Serve:      func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) { s.serve(n, g) },
				Credential: settings(append(more, cloud.AWSRole, role, cloud.AWSExternalID, s.external)...), Rotated: settings(two...),
				Canaries: []string{"CANARY"},
			})
		})
	}
}

func TestWebIdentityKeepsItsKeys(t *testing.T) {
	t.Parallel()
	s := &sts{issuer: newKey(t)}
	text := s.subject(t, 24*365*time.Hour)
	for name, value := range map[string]string{"the token": text, "a file": write(t, "token", text+"\n"), "LiteLLM's reference": "oidc/file/" + write(t, "token", text)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tokentest.Laws(t, tokentest.Case{
				Of: cloud.AWS, Make: newFetcher, Failure: failure,
				Serve:      func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) { s.serve(n, g) },
				Credential: settings(cloud.AWSRole, role, cloud.AWSWebIdentityToken, value), Rotated: settings(cloud.AWSRole, role, cloud.AWSWebIdentityToken, value, cloud.AWSRoleSession, "another"),
				Canaries: []string{"CANARY", "eyJ"},
			})
		})
	}
}

// clean removes the environment and the files of the one who runs the test.
func clean(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_EC2_METADATA_DISABLED", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AWS_CA_BUNDLE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", write(t, "config", ""))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", write(t, "credentials", ""))
}

// instance serves the metadata of a virtual machine, in its second version alone.
func instance(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) {
	const session = "session-of-metadata=="
	m := http.NewServeMux()
	m.HandleFunc("PUT /latest/api/token", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", r.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds"))
		_, _ = io.WriteString(w, session)
	})
	with := func(h http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Aws-Ec2-Metadata-Token") != session {
				g.Reject(w, http.StatusUnauthorized, "no session")
				return
			}
			h(w, r)
		}
	}
	m.HandleFunc("GET /latest/meta-data/iam/security-credentials/{$}", with(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "machine") }))
	m.Handle("GET /latest/meta-data/iam/security-credentials/machine", g.Pass(with(func(w http.ResponseWriter, _ *http.Request) {
		keys(w, `"Code": "Success", "Type": "AWS-HMAC", `, g.Issue())
	})))
	n.Serve(imds, m)
}

// keys responds with a temporary key, as metadata services do.
func keys(w http.ResponseWriter, more, session string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{%s"AccessKeyId": "ASIA1", "SecretAccessKey": "CANARY-secret", "Token": %q, "Expiration": %q}`, more, session, time.Now().Add(tokentest.Life).UTC().Format(time.RFC3339))
}

func TestMachineKeepsItsKeys(t *testing.T) {
	clean(t)
	tokentest.Laws(t, tokentest.Case{Of: cloud.AWS, Make: newFetcher, Failure: failure, Serve: instance, Credential: settings(), Canaries: []string{"CANARY"}})
}

// podToken has the length of a segment of a token.
const podToken = "CANARY0123456789012345678901234567890123456789"

// containerFailure is the body of a failure of the service of tasks and pods.
func containerFailure(text string) string {
	body, err := json.Marshal(map[string]string{"code": "InternalServerError", "message": text})
	if err != nil {
		return err.Error()
	}
	return string(body)
}

// container serves the keys of tasks and pods.
func container(token string) func(*testing.T, *tokentest.Network, *tokentest.Gate) {
	return func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) {
		serve := g.Pass(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/credentials" || r.Header.Get("Authorization") != token {
				g.Reject(w, http.StatusBadRequest, fmt.Sprintf("the request is %s %v", r.URL, r.Header))
				return
			}
			keys(w, "", g.Issue())
		})
		n.Serve("169.254.170.2:80", serve)
		n.Serve("169.254.170.23:80", serve)
	}
}

func TestTaskKeepsItsKeys(t *testing.T) {
	clean(t)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v1/credentials")
	tokentest.Laws(t, tokentest.Case{Of: cloud.AWS, Make: newFetcher, Failure: containerFailure, Serve: container(""), Credential: settings(), Canaries: []string{"CANARY"}})
}

func TestPodKeepsItsKeys(t *testing.T) {
	clean(t)
	const address = "http://169.254.170.23/v1/credentials"
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", address)
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", write(t, "token", podToken))
	tokentest.Laws(t, tokentest.Case{
		Of: cloud.AWS, Make: newFetcher, Failure: containerFailure, Serve: container(podToken), Credential: settings(), Canaries: []string{"CANARY"},
		Environ: map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": address},
	})
}

// A pod whose service account has a role: EKS puts its token into a file.
func TestServiceAccountOfAPodKeepsItsKeys(t *testing.T) {
	clean(t)
	s := &sts{issuer: newKey(t)}
	t.Setenv("AWS_ROLE_ARN", role)
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", write(t, "token", s.subject(t, 24*365*time.Hour)))
	tokentest.Laws(t, tokentest.Case{
		Of: cloud.AWS, Make: newFetcher, Failure: failure, Credential: settings(), Canaries: []string{"CANARY", "eyJ"},
		Serve: func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) { s.serve(n, g) },
	})
}

// authorities is a file with a certificate that no service has.
const authorities = `-----BEGIN CERTIFICATE-----
MIIBhTCCASugAwIBAgIUdUddhULz6xoLDixiwVJnIdV85uswCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMYW4gYXV0aG9yaXR5MCAXDTI2MTEyNDE1MjEzMVoYDzIxMjYx
MDMxMTUyMTMxWjAXMRUwEwYDVQQDDAxhbiBhdXRob3JpdHkwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAR3SAoP9ltH8rv7oH0/+HtVgVITIgLqk9GMqUkWwy3/Kmqc
xBMWmf9ry4nkR+GuHMMgMvzLiY/uvqFuC9zLP7Oco1MwUTAdBgNVHQ4EFgQUucxz
quO8xtcrn/TFXkWtXk3UakAwHwYDVR0jBBgwFoAUucxzquO8xtcrn/TFXkWtXk3U
akAwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEA4YuDEsiy5haE
VJZS8T+KzBHCdp79kScRm953Lp/P9EMCIByoIhb6njVe6mP/v7NCPsaQ+RDShH7I
+QF8g8vBIHJd
-----END CERTIFICATE-----
`

// A profile that assumes a role with the keys of another profile.
func TestProfileKeepsItsKeys(t *testing.T) {
	clean(t)
	s := &sts{keys: map[string]key{"AKIAONE": {secret: "CANARY/one"}}}
	t.Setenv("AWS_CONFIG_FILE", write(t, "config", "[profile bedrock]\nrole_arn = "+role+"\nsource_profile = base\nduration_seconds = 3600\n"))
	t.Setenv("AWS_CA_BUNDLE", write(t, "authorities.pem", authorities)) // next to the ones that the gateway knows
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", write(t, "credentials", "[base]\naws_access_key_id = AKIAONE\naws_secret_access_key = CANARY/one\n"))
	tokentest.Laws(t, tokentest.Case{
		Of: cloud.AWS, Make: newFetcher, Failure: failure, Credential: settings(cloud.AWSProfile, "bedrock"), Canaries: []string{"CANARY"},
		Serve: func(_ *testing.T, n *tokentest.Network, g *tokentest.Gate) { s.serve(n, g) },
	})
}
