package bedrock

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// service is the name that requests are signed for. It is not that of the host.
const service = "bedrock"

// Sign adds the signature of a call (SigV4). With an API key nothing is signed.
func (Driver) Sign(c *driver.Call, t driver.Target, host string, at time.Time) error {
	return sign(c, t, host, service, at)
}

// sign is Sign for a service of AWS.
func sign(c *driver.Call, t driver.Target, host, service string, at time.Time) error {
	if has(c.Headers, "authorization") {
		return nil
	}
	if !t.Token.Bearer.IsEmpty() {
		c.Headers = append(c.Headers, driver.Header{Name: "authorization", Value: vault.NewSecret("Bearer " + t.Token.Bearer.Reveal())})
		return nil
	}
	if t.Token.SecretKey.IsEmpty() || t.Token.AccessKeyID == "" {
		return fault.New(fault.Unavailable, "upstream_auth_error", "The deployment has no credential of AWS.")
	}
	n, err := parse(t.Model)
	if err != nil {
		return err
	}
	region, err := regionOf(&n, t.Settings)
	if err != nil {
		return err
	}
	if region == "" {
		region = regionOfHost(host)
	}
	if region == "" {
		return fault.New(fault.Unavailable, "upstream_auth_error", "The deployment has no %s, which the signature of a request needs.", cloud.AWSRegion)
	}
	r := signable(c, host)
	sum := sha256.Sum256(c.Body)
	err = v4.NewSigner().SignHTTP(context.Background(), aws.Credentials{
		AccessKeyID: t.Token.AccessKeyID, SecretAccessKey: t.Token.SecretKey.Reveal(), SessionToken: t.Token.SessionToken.Reveal(),
	}, r, hex.EncodeToString(sum[:]), service, region, at)
	if err != nil {
		return &fault.Error{Op: "sign", Kind: fault.Internal, Err: err}
	}
	for _, name := range signatureHeaders() {
		if value := r.Header.Get(name); value != "" {
			c.Headers = append(c.Headers, driver.Header{Name: name, Value: vault.NewSecret(value)})
		}
	}
	return nil
}

// signatureHeaders are the headers that a signature adds.
func signatureHeaders() [3]string {
	return [3]string{"authorization", "x-amz-date", "x-amz-security-token"}
}

// signable returns what is signed of a call: its path, its host, and those headers that no proxy
// changes. The length of the body is not among them.
func signable(c *driver.Call, host string) *http.Request {
	path, query, _ := strings.Cut(c.Path, "?")
	r := &http.Request{
		Method: cmp.Or(c.Method, http.MethodPost), Host: host, Header: make(http.Header, len(c.Headers)),
		URL: &url.URL{Scheme: "https", Host: host, Opaque: "//" + host + path, RawQuery: query},
	}
	for _, h := range c.Headers {
		if h.Name == "content-type" || strings.HasPrefix(h.Name, "x-amz-") {
			r.Header.Set(h.Name, h.Value.Reveal())
		}
	}
	return r
}

func has(headers []driver.Header, name string) bool {
	for i := range headers {
		if headers[i].Name == name {
			return true
		}
	}
	return false
}
