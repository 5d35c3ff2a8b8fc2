package discover_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/discover"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

// tokenFinder is a finder whose deployments have a token.
func tokenFinder(t cloud.Token) *discover.Finder {
	return discover.New(discover.Config{
		Providers: provider.Providers(), Private: true, Now: time.Now,
		Token: func(context.Context, *catalog.Deployment) (cloud.Token, error) { return t, nil },
	})
}

// clouded is account with settings instead of a key.
func clouded(t *testing.T, of string, settings map[string]string, handler http.HandlerFunc) *catalog.Deployment {
	t.Helper()
	d := account(t, of, handler)
	values := make(map[string]vault.Secret)
	for name, value := range settings {
		values[name] = vault.NewSecret(value)
	}
	d.APIKey, d.Cloud = vault.Secret{}, cloud.Of(values)
	return d
}

// pages serves pages by their path and query to requests that check accepts.
func pages(t *testing.T, all map[string]string, check func(r *http.Request) string) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		if why := check(r); why != "" || r.Method != http.MethodGet {
			t.Errorf("%s %s: %s", r.Method, r.URL, why)
		}
		page, ok := all[r.URL.String()]
		if !ok {
			http.Error(w, `{"error":{"code":404,"status":"NOT_FOUND","message":"no such page"}}`, http.StatusNotFound)
			return
		}
		_, _ = fmt.Fprint(w, page)
	}
}

// signedAs says what is wrong with the signature of a request for a service.
func signedAs(t *testing.T, r *http.Request, by cloud.Token, service string) string {
	t.Helper()
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil {
		return err.Error()
	}
	again, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.Host+r.URL.String(), http.NoBody)
	if err != nil {
		return err.Error()
	}
	if media := r.Header.Get("Content-Type"); media != "" {
		again.Header.Set("Content-Type", media)
	}
	nothing := sha256.Sum256(nil)
	err = v4.NewSigner().SignHTTP(t.Context(), aws.Credentials{AccessKeyID: by.AccessKeyID, SecretAccessKey: by.SecretKey.Reveal(), SessionToken: by.SessionToken.Reveal()}, again, hex.EncodeToString(nothing[:]), service, "eu-west-1", at)
	if want := again.Header.Get("Authorization"); err != nil || r.Header.Get("Authorization") != want {
		return fmt.Sprintf("the signature is %s, want %s (%v)", r.Header.Get("Authorization"), want, err)
	}
	return ""
}

// TestBedrock: the models that can be invoked, and the inference profiles. Each request is signed as AWS demands.
func TestBedrock(t *testing.T) {
	t.Parallel()
	token := cloud.Token{AccessKeyID: "AKIA1", SecretKey: vault.NewSecret("s3cret"), SessionToken: vault.NewSecret("session")}
	signed := func(r *http.Request) string { return signedAs(t, r, token, "bedrock") }
	d := clouded(t, "bedrock", map[string]string{cloud.AWSRegion: "eu-west-1"}, pages(t, map[string]string{
		"/foundation-models": `{"modelSummaries":[
			{"modelId":"anthropic.claude-3-haiku-20240307-v1:0","inferenceTypesSupported":["ON_DEMAND"],"modelLifecycle":{"status":"ACTIVE"}},
			{"modelId":"anthropic.claude-sonnet-4-20250514-v1:0","inferenceTypesSupported":["INFERENCE_PROFILE"]},
			{"modelId":"amazon.titan-embed-text-v2:0","inferenceTypesSupported":["ON_DEMAND"]},
			{"modelId":"amazon.titan-text-lite-v1:0:4k","inferenceTypesSupported":["PROVISIONED"]}]}`,
		"/inference-profiles?maxResults=1000": `{"inferenceProfileSummaries":[
			{"inferenceProfileId":"eu.anthropic.claude-sonnet-4-20250514-v1:0","type":"SYSTEM_DEFINED","status":"ACTIVE"},
			{"inferenceProfileId":"eu.anthropic.claude-old-v1:0","type":"SYSTEM_DEFINED","status":"DELETED"}],"nextToken":"a+/="}`,
		"/inference-profiles?maxResults=1000&nextToken=a%2B%2F%3D": `{"inferenceProfileSummaries":[
			{"inferenceProfileId":"abc123","inferenceProfileArn":"arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123","type":"APPLICATION","status":"ACTIVE"}]}`,
	}, signed))
	want := []string{
		"amazon.titan-embed-text-v2:0", "anthropic.claude-3-haiku-20240307-v1:0", "arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123", "eu.anthropic.claude-sonnet-4-20250514-v1:0",
	}
	got, err := tokenFinder(token).Models(t.Context(), d)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the models are %v, error %v; want %v", got, err, want)
	}
}

// TestMantle: the endpoint with the vendors' APIs has OpenAI's list, and a service name of its own in signatures.
func TestMantle(t *testing.T) {
	t.Parallel()
	token := cloud.Token{AccessKeyID: "AKIA1", SecretKey: vault.NewSecret("s3cret")}
	d := clouded(t, "bedrock_mantle", map[string]string{cloud.AWSRegion: "eu-west-1"}, pages(t, map[string]string{
		"/v1/models": `{"object":"list","data":[{"id":"openai.gpt-oss-120b"},{"id":"anthropic.claude-opus-4-7"}]}`,
	}, func(r *http.Request) string { return signedAs(t, r, token, "bedrock-mantle") }))
	got, err := tokenFinder(token).Models(t.Context(), d)
	if err != nil || !slices.Equal(got, []string{"anthropic.claude-opus-4-7", "openai.gpt-oss-120b"}) {
		t.Errorf("the models are %v, error %v", got, err)
	}
}

// TestHostOfBedrocksList: AWS has the list at another host, which is the one that is signed.
func TestHostOfBedrocksList(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"bedrock-runtime.us-east-1.amazonaws.com":           "bedrock.us-east-1.amazonaws.com",
		"bedrock-runtime-fips.us-gov-west-1.amazonaws.com":  "bedrock-fips.us-gov-west-1.amazonaws.com",
		"bedrock-agent-runtime.cn-north-1.amazonaws.com.cn": "bedrock.cn-north-1.amazonaws.com.cn",
		"bedrock-runtimes.example.com":                      "bedrock-runtimes.example.com",
		"127.0.0.1:8080":                                    "127.0.0.1:8080",
	} {
		if got := (bedrock.Driver{}).ListHost(host); got != want {
			t.Errorf("the list of %s is at %s, want %s", host, got, want)
		}
	}
}

// TestVertex: the models of publishers that the gateway reaches. A publisher that the location does not have is left out.
func TestVertex(t *testing.T) {
	t.Parallel()
	d := clouded(t, "vertex_ai", map[string]string{cloud.VertexProject: "p", cloud.VertexLocation: "europe-west4"}, pages(t, map[string]string{
		"/v1beta1/publishers/google/models?pageSize=100": `{"publisherModels":[{"name":"publishers/google/models/gemini-2.5-pro"},{"name":"publishers/google/models/bert-base"},
			{"name":"publishers/google/models/text-embedding-005"}],"nextPageToken":"x y"}`,
		"/v1beta1/publishers/google/models?pageSize=100&pageToken=x+y": `{"publisherModels":[{"name":"publishers/google/models/imagen-4.0-generate-001"}]}`,
		"/v1beta1/publishers/anthropic/models?pageSize=100":            `{"publisherModels":[{"name":"publishers/anthropic/models/claude-sonnet-4-5"}]}`,
		"/v1beta1/publishers/mistralai/models?pageSize=100":            `{"publisherModels":[{"name":"publishers/mistralai/models/mistral-large-2411"},{"name":"publishers/mistralai/models/mixtral"}]}`,
		"/v1beta1/publishers/meta/models?pageSize=100":                 `{"publisherModels":[{"name":"publishers/meta/models/llama-4-scout-17b-16e-instruct-maas"},{"name":"publishers/meta/models/llama3"}]}`,
	}, func(r *http.Request) string {
		if r.Header.Get("Authorization") != "Bearer ya29.token" {
			return "the token is missing"
		}
		return ""
	}))
	want := []string{"claude-sonnet-4-5", "gemini-2.5-pro", "imagen-4.0-generate-001", "meta/llama-4-scout-17b-16e-instruct-maas", "mistral-large-2411", "text-embedding-005"}
	got, err := tokenFinder(cloud.Token{Bearer: vault.NewSecret("ya29.token")}).Models(t.Context(), d)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the models are %v, error %v; want %v", got, err, want)
	}
}

// TestAzure: the deployments of a resource, whatever part of its address is configured.
func TestAzure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ provider, path string }{
		{"azure", ""},
		{"azure", "/openai/v1"},
		{"azure", "/openai/deployments/chat/chat/completions"},
		{"azure_ai", "/models"},
		{"azure_ai", "/openai/v1"},
		{"azure_ai", "/anthropic"},
	} {
		d := clouded(t, c.provider, nil, pages(t, map[string]string{
			"/openai/deployments?api-version=2022-12-01": `{"data":[{"id":"chat","model":"gpt-4o","status":"succeeded","object":"deployment"},{"id":"new","status":"creating"},{"id":"vectors","model":"text-embedding-3-small"}],"object":"list"}`,
		}, func(r *http.Request) string {
			if r.Header.Get("Authorization") != "Bearer entra" {
				return "the token is missing"
			}
			return ""
		}))
		d.BasePath = c.path
		got, err := tokenFinder(cloud.Token{Bearer: vault.NewSecret("entra")}).Models(t.Context(), d)
		if err != nil || !slices.Equal(got, []string{"chat", "vectors"}) {
			t.Errorf("%v: the deployments are %v, error %v", c, got, err)
		}
	}
	d := clouded(t, "azure_ai", nil, func(http.ResponseWriter, *http.Request) { t.Error("an endpoint of one model was called") })
	if _, err := tokenFinder(cloud.Token{}).Models(t.Context(), d); fault.KindOf(err) != fault.Unsupported || !strings.Contains(fault.From(err).Message(), "Send the address of the resource") {
		t.Errorf("the error for the endpoint of one model is %v", err)
	}
}

// TestNoToken: what the token service says is the error.
func TestNoToken(t *testing.T) {
	t.Parallel()
	f := discover.New(discover.Config{
		Providers: provider.Providers(), Private: true, Now: time.Now,
		Token: func(context.Context, *catalog.Deployment) (cloud.Token, error) {
			return cloud.Token{}, fault.New(fault.Unavailable, "no_credential", "The role may not be assumed.")
		},
	})
	d := clouded(t, "bedrock", nil, func(http.ResponseWriter, *http.Request) { t.Error("the provider was called") })
	if _, err := f.Models(t.Context(), d); fault.From(err).Code != "no_credential" {
		t.Errorf("the error is %v", err)
	}
}
