package bedrock_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// at is when the requests of the tests are signed.
func at() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }

const (
	host    = "bedrock-runtime.us-east-1.amazonaws.com"
	profile = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123def456"
)

// target is a deployment with a temporary key.
func target(model string) driver.Target {
	return driver.Target{
		Model:    model,
		Settings: cloud.Of(map[string]vault.Secret{cloud.AWSRegion: vault.NewSecret("us-east-1")}),
		Token:    cloud.Token{AccessKeyID: "AKIDEXAMPLE", SecretKey: vault.NewSecret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), SessionToken: vault.NewSecret("session/token==")},
	}
}

// signed returns the call of a chat, signed.
func signed(tb testing.TB, t driver.Target, body string) driver.Call {
	tb.Helper()
	c, err := bedrock.Driver{}.Address(t, driver.Operation{Endpoint: driver.Chat})
	if err != nil {
		tb.Fatal(err)
	}
	c.Body = []byte(body)
	if err := (bedrock.Driver{}).Sign(&c, t, host, at()); err != nil {
		tb.Fatal(err)
	}
	return c
}

func header(c *driver.Call, name string) string {
	for _, h := range c.Headers {
		if h.Name == name {
			return h.Value.Reveal()
		}
	}
	return ""
}

func TestSignedHeaders(t *testing.T) {
	t.Parallel()
	c := signed(t, target("anthropic.claude-3-5-sonnet-20241022-v2:0"), "{}")
	const want = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261124/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature="
	if got := header(&c, "authorization"); !strings.HasPrefix(got, want) || len(got) != len(want)+64 {
		t.Errorf("got %s", got)
	}
	if got := header(&c, "x-amz-date"); got != "20261124T120000Z" {
		t.Errorf("the date is %s", got)
	}
	if got := header(&c, "x-amz-security-token"); got != "session/token==" {
		t.Errorf("the session token is %s", got)
	}
	long := target("amazon.nova-pro-v1:0")
	long.Token.SessionToken = vault.Secret{}
	c = signed(t, long, "{}")
	if header(&c, "x-amz-security-token") != "" || strings.Contains(header(&c, "authorization"), "security-token") {
		t.Errorf("a key that is not temporary has a session token: %v", c.Headers)
	}
}

// Path, body, time, region and each header change the signature.
func TestASignatureIsOfOneRequest(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	try := func(name string, c driver.Call) {
		got := header(&c, "authorization")
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s have one signature", name, other)
		}
		seen[got] = name
	}
	const model = "anthropic.claude-3-5-sonnet-20241022-v2:0"
	try("a request", signed(t, target(model), "{}"))
	try("another body", signed(t, target(model), "{ }"))
	try("another model", signed(t, target("amazon.nova-pro-v1:0"), "{}"))
	try("an ARN", signed(t, target(profile), "{}"))
	other := target(model)
	other.Token.SessionToken = vault.NewSecret("another")
	try("another session", signed(t, other, "{}"))
	other = target(model)
	other.Token.SecretKey = vault.NewSecret("another")
	try("another key", signed(t, other, "{}"))
	other = target(model)
	other.Settings = nil
	c, err := bedrock.Driver{}.Address(other, driver.Operation{Endpoint: driver.Chat})
	if err != nil {
		t.Fatal(err)
	}
	if err := (bedrock.Driver{}).Sign(&c, other, "bedrock-runtime.eu-west-1.amazonaws.com", at().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	try("another region and time", c)
	if !strings.Contains(header(&c, "authorization"), "/eu-west-1/") {
		t.Errorf("the region is not that of the host: %s", header(&c, "authorization"))
	}
}

func TestKeysAndTokensAreNotSigned(t *testing.T) {
	t.Parallel()
	key := target("amazon.nova-pro-v1:0")
	key.APIKey = vault.NewSecret("bedrock-api-key")
	c := signed(t, key, "{}")
	if header(&c, "authorization") != "Bearer bedrock-api-key" || header(&c, "x-amz-date") != "" || header(&c, "x-amz-security-token") != "" {
		t.Errorf("with a key: %v", c.Headers)
	}
	bearer := target("amazon.nova-pro-v1:0")
	bearer.Token = cloud.Token{Bearer: vault.NewSecret("token")}
	c = signed(t, bearer, "{}")
	if header(&c, "authorization") != "Bearer token" || header(&c, "x-amz-date") != "" {
		t.Errorf("with a token: %v", c.Headers)
	}
}

func TestWithoutCredentialOrRegion(t *testing.T) {
	t.Parallel()
	none := target("amazon.nova-pro-v1:0")
	none.Token = cloud.Token{}
	if err := (bedrock.Driver{}).Sign(&driver.Call{Path: "/"}, none, host, at()); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("without a credential: %v", err)
	}
	nowhere := target("amazon.nova-pro-v1:0")
	nowhere.Settings = nil
	if err := (bedrock.Driver{}).Sign(&driver.Call{Path: "/"}, nowhere, "proxy.example.com", at()); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "aws_region_name") {
		t.Errorf("without a region: %v", err)
	}
}

func BenchmarkSign(b *testing.B) {
	for _, size := range []int{1 << 10, 256 << 10} {
		body := string(bytes.Repeat([]byte("x"), size))
		b.Run(byteSize(size), func(b *testing.B) {
			t := target("us.anthropic.claude-sonnet-4-5-20250929-v1:0")
			c := signed(b, t, body)
			c.Headers = c.Headers[:1]
			b.ReportAllocs()
			for b.Loop() {
				one := c
				if err := (bedrock.Driver{}).Sign(&one, t, host, at()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("sha256-"+byteSize(size), func(b *testing.B) {
			raw := []byte(body)
			for b.Loop() {
				_ = sha256.Sum256(raw)
			}
		})
	}
}

// BenchmarkSignAgainstHash signs a body of 256 KiB and hashes the same one in turns, so that what else the machine does slows both, and reports
// the median of their ratios.
func BenchmarkSignAgainstHash(b *testing.B) {
	body := string(bytes.Repeat([]byte("x"), 256<<10))
	t, raw := target("us.anthropic.claude-sonnet-4-5-20250929-v1:0"), []byte(body)
	c := signed(b, t, body)
	c.Headers = c.Headers[:1]
	var ratios []float64
	for b.Loop() {
		begin := time.Now()
		one := c
		if err := (bedrock.Driver{}).Sign(&one, t, host, at()); err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		_ = sha256.Sum256(raw)
		ratios = append(ratios, float64(between.Sub(begin))/float64(time.Since(between)))
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x-sha256")
}

func byteSize(n int) string {
	if n < 1<<11 {
		return "1KiB"
	}
	return "256KiB"
}
