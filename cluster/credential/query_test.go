package credential_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/credential"
)

// A key may stand in the query of a client of Google's; two that differ are rejected.
func TestAddQuery(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"key=sk-one": "sk-one", "alt=sse&key=sk-one": "sk-one", "key=sk%2Done": "sk-one", "": "", "alt=sse": "", "xkey=sk-one": "", "key=": "", "key=sk-one&key=sk-two": "",
	} {
		var p credential.Presented
		p.AddQuery(query)
		if got, err := credential.Parse(p); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", query, got, err)
		}
	}
	var p credential.Presented
	p.Add(credential.HeaderGoogle, "sk-one")
	p.AddQuery("key=sk-two")
	if got, err := credential.Parse(p); err == nil {
		t.Errorf("of two keys it is %s", got)
	}
}

// A signature for AWS is no credential here: the key next to it counts, and without one the error says what to send.
func TestSignedForAWS(t *testing.T) {
	t.Parallel()
	const signature = "AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=abc"
	var p credential.Presented
	p.Add(credential.HeaderAuthorization, signature)
	if _, err := credential.Parse(p); err == nil || !strings.Contains(err.Error(), "AWS_BEARER_TOKEN_BEDROCK") {
		t.Errorf("a signature alone: %v", err)
	}
	p.Add(credential.HeaderAnthropic, "sk-one")
	if got, err := credential.Parse(p); got != "sk-one" || err != nil {
		t.Errorf("a signature and a key: %q, %v", got, err)
	}
	p.Add(credential.HeaderGateway, "sk-two")
	if got, err := credential.Parse(p); err == nil {
		t.Errorf("of two keys it is %s", got)
	}
}
