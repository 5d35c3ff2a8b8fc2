package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestDiscoverModels: what a provider lists is a model_list that a gateway starts with.
func TestDiscoverModels(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai/fake-gpt")+"\ngeneral_settings: {master_key: "+adminKey+", allow_private_endpoints: true}\n")
	c := newTerminal(t, g)
	out := c.run("model", "discover", "openai_compatible", "--api-key", "secret-canary", "--api-base", p.url+"/v1")
	if !strings.Contains(out, "openai_compatible/fake-gpt") || !strings.Contains(out, "PRICED") || strings.Contains(out, "canary") {
		t.Errorf("the models are\n%s", out)
	}
	list := c.run("model", "discover", "openai_compatible", "--api-key", "secret-canary", "--api-base", p.url+"/v1", "-o", "yaml")
	if strings.Contains(list, "canary") || !strings.Contains(list, "os.environ/OPENAI_COMPATIBLE_API_KEY") {
		t.Errorf("the list is\n%s", list)
	}
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte(list+"general_settings: {master_key: "+adminKey+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "OPENAI_COMPATIBLE_API_KEY=k")
	if out, err := c.try("config", "check", file); err != nil {
		t.Errorf("the list is no model_list: %v\n%s\n%s", err, out, list)
	}
}

// TestDiscoverModelsOfACloud: the models of an account at a cloud are a model_list with the account's settings, in which secrets are
// variables of the environment.
func TestDiscoverModelsOfACloud(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	aws := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if !strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/bedrock/aws4_request") || r.Header.Get("X-Amz-Security-Token") != "session-canary" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if r.URL.Path == "/foundation-models" {
			_, _ = io.WriteString(w, `{"modelSummaries":[{"modelId":"amazon.nova-lite-v1:0","inferenceTypesSupported":["ON_DEMAND"]}]}`)
			return
		}
		_, _ = io.WriteString(w, `{"inferenceProfileSummaries":[{"inferenceProfileId":"eu.anthropic.claude-sonnet-4-20250514-v1:0","type":"SYSTEM_DEFINED","status":"ACTIVE"}]}`)
	}))
	t.Cleanup(aws.Close)
	p := newUpstream(t)
	g := startGateway(t, models(p, "gpt=openai/fake-gpt")+"\ngeneral_settings: {master_key: "+adminKey+", allow_private_endpoints: true}\n")
	c := newTerminal(t, g)
	settings := []string{"aws_region_name=eu-west-1", "aws_access_key_id=AKIACANARY", "aws_secret_access_key=secret-canary", "aws_session_token=session-canary", "aws_bedrock_runtime_endpoint=" + aws.URL}
	args := []string{"model", "discover", "bedrock", "-o", "yaml"}
	for _, s := range settings {
		args = append(args, "--provider-settings", s)
	}
	list := c.run(args...)
	for _, want := range []string{"bedrock/amazon.nova-lite-v1:0", "bedrock/eu.anthropic.claude-sonnet-4-20250514-v1:0", "aws_region_name: eu-west-1", "os.environ/AWS_SECRET_ACCESS_KEY"} {
		if !strings.Contains(list, want) {
			t.Errorf("there is no %s in\n%s", want, list)
		}
	}
	if strings.Contains(strings.ToLower(list), "canary") || calls.Load() != 2 {
		t.Errorf("after %d calls, the list is\n%s", calls.Load(), list)
	}
	file := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(file, []byte(list+"general_settings: {master_key: "+adminKey+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_SESSION_TOKEN=c")
	if out, err := c.try("config", "check", file); err != nil {
		t.Errorf("the list is no model_list: %v\n%s\n%s", err, out, list)
	}
	if out, err := c.try("model", "discover", "voyage", "--api-key", "k"); err == nil || !strings.Contains(out, "voyage does not list its models; its documentation has their names") {
		t.Errorf("the models of a provider without a list are\n%s", out)
	}
}
