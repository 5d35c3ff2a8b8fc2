package outbound_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// get calls an address and returns how it ends.
func get(t *testing.T, c *http.Client, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.Do(r)
	switch {
	case errors.Is(err, outbound.ErrForbidden):
		return "forbidden"
	case err != nil:
		return "other"
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return answer.Status
}

// Where credentials lead depends on who brought them.
func TestWhereCredentialsLead(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/", http.StatusFound))
	t.Cleanup(s.Close)
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	for name, c := range map[string]struct {
		private bool
		client  func(*outbound.Clients) *http.Client
		address string
		want    string
	}{
		"the file's, this machine":       {false, trusted, s.URL, "302 Found"},
		"the file's, metadata":           {false, trusted, "http://169.254.169.254/", "forbidden"},
		"the file's, another link-local": {false, machine, "http://169.254.1.1/", "forbidden"},
		"the machine's, by a name":       {false, machine, "http://localhost:" + port, "302 Found"},
		"the API's, this machine":        {false, foreign, s.URL, "forbidden"},
		"the API's, by a name":           {false, foreign, "http://localhost:" + port, "forbidden"},
		"the API's, metadata":            {true, foreign, "http://169.254.169.254/", "forbidden"},
		"the API's, mapped metadata":     {true, foreign, "http://[::ffff:169.254.169.254]/", "forbidden"},
		"the API's, where permitted":     {true, foreign, s.URL, "302 Found"},
	} {
		clients := outbound.NewClients(outbound.Config{Private: c.private})
		if got := get(t, c.client(clients), c.address); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		clients.Close()
	}
}

func trusted(c *outbound.Clients) *http.Client { return c.For(cloud.Credential{Trusted: true}) }
func foreign(c *outbound.Clients) *http.Client { return c.For(cloud.Credential{}) }
func machine(c *outbound.Clients) *http.Client { return c.Machine() }

func TestClockThatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		off  time.Duration
		want string
	}{
		{0, ""},
		{2 * time.Minute, ""},
		{6*time.Minute + 500*time.Millisecond, "the clock of this machine is 6m"},
		{-6*time.Minute - 500*time.Millisecond, "the clock of this machine is 6m"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(-c.off).UTC().Format(http.TimeFormat))
		}))
		clients := outbound.NewClients(outbound.Config{})
		ctx, clock := outbound.WithClock(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := trusted(clients).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		got := clock.Problem()
		direction := " ahead of that of 127.0.0.1:"
		if c.off < 0 {
			direction = " behind that of 127.0.0.1:"
		}
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") || c.want != "" && !strings.Contains(got, direction) {
			t.Errorf("%s: the problem is %q", c.off, got)
		}
		clients.Close()
		s.Close()
	}
}

func TestScrub(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t/with+signs=="
	of := cloud.CredentialOf(cloud.Azure, cloud.Of(map[string]vault.Secret{
		cloud.AzureClientSecret: vault.NewSecret(secret), cloud.AzureClient: vault.NewSecret("the-application"),
	}), true)
	long := strings.Repeat("aB3_", 10)
	for text, want := range map[string]string{
		"invalid client secret " + secret + "!":                                  "invalid client secret [redacted]!",
		"body client_secret=s3cr3t%2Fwith%2Bsigns%3D%3D":                         "body client_secret=[redacted]",
		"token eyJhbGciOi." + long + ".x is\nnot\tvalid ":                        "token [redacted] is not valid",
		"with Authorization:[Bearer short-token-of-22-bytes] and a bearer token": "with Authorization:[Bearer [redacted] and a bearer token",
		"the-application is unknown":                                             "the-application is unknown",
		"open /var/run/secrets/azure/tokens/azure-identity-token: no such file":  "open /var/run/secrets/azure/tokens/azure-identity-token: no such file",
		"User: arn:aws:iam::123456789012:user/Bob is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::123456789012:role/r": "User: arn:aws:iam::123456789012:user/Bob is not authorized to perform: sts:AssumeRole on resource: arn:aws:iam::123456789012:role/r",
		"AADSTS7000215 Trace ID: 0e1b4e5c-8f0d-4b8e-9a57-3c2f6a4b1d00":                                                                        "AADSTS7000215 Trace ID: 0e1b4e5c-8f0d-4b8e-9a57-3c2f6a4b1d00",
		strings.Repeat("a b ", 200): strings.Repeat("a b ", 100) + "…",
	} {
		if got := outbound.Scrub(text, of); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestOAuthErrors(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret. Trace ID: x"}`: "the token service responds with status 401, invalid_client: AADSTS7000215: Invalid client secret.",
		`{"error":"invalid_grant"}`: "the token service responds with status 401, invalid_grant",
		`{"error":{"code":403,"message":"denied","status":"PERMISSION_DENIED"}}`: "the token service responds with status 401, PERMISSION_DENIED: denied",
		`{"error":{"code":403}}`: "the token service responds with status 401",
		`<html>`:                 "the token service responds with status 401",
		``:                       "the token service responds with status 401",
	} {
		if got := outbound.OAuth(http.StatusUnauthorized, []byte(body)).Error(); got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
}
