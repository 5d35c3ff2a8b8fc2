package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

const (
	awsSecret  = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	awsSession = "IQoJb3JpZ2luX2VjE//session+token=="
	awsProfile = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123def456"
)

// bedrockModels is a model_list of deployments at Bedrock, name=model, that sign with a temporary key.
func bedrockModels(p *upstream, pairs ...string) string {
	var b strings.Builder
	b.WriteString("model_list:\n")
	for _, pair := range pairs {
		name, model, _ := strings.Cut(pair, "=")
		region := "us-west-2"
		if strings.Contains(model, "eu-central-1") {
			region = "eu-central-1"
		}
		of, at := "bedrock", "aws_bedrock_runtime_endpoint"
		if id, ok := strings.CutPrefix(model, "mantle/"); ok {
			of, at, model = "bedrock_mantle", "api_base", id
		}
		fmt.Fprintf(&b, "  - model_name: %s\n    gateway_params: {model: \"%s/%s\", %s: %q, aws_region_name: %s, aws_access_key_id: AKIDEXAMPLE, "+
			"aws_secret_access_key: %q, aws_session_token: %q, input_cost_per_token: 0.000001, output_cost_per_token: 0.00001}\n    model_info: {id: %s-id}\n",
			name, of, model, at, p.url, region, awsSecret, awsSession, name)
	}
	return b.String()
}

// withKey is a deployment at Bedrock with an API key.
func withKey(p *upstream) string {
	return "  - {model_name: keyed, gateway_params: {model: bedrock/amazon.nova-lite-v1:0, api_base: \"" + p.url + "\", aws_region_name: us-west-2, api_key: bedrock-api-key}}\n"
}

const (
	sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
	nova   = "amazon.nova-pro-v1:0"
)

// The SDKs of OpenAI and Anthropic use models of Bedrock, with tools, reasoning and fallbacks. AWS's SDK finds that
// each request is valid, and that its signature is right for the bytes that arrived.
func TestBedrockBySDK(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, bedrockModels(p,
		"claude="+sonnet+":tools-2", "converse=converse/"+sonnet+":tools-2", "invoke=invoke/"+sonnet+":tools-2", "nova="+nova+":tools-2", "profile="+awsProfile,
		"oss=openai.gpt-oss-120b-1:0:tools-2", "sol=us.openai.gpt-5.6-sol:tools-2", "mantle=mantle/us-west-2/openai.gpt-oss-120b:tools-2", "mantle-claude=mantle/anthropic.claude-haiku-4-5:tools-2",
		"dribbles="+sonnet+":dribble", "breaks-off="+sonnet+":error-5th", "context="+nova+":context", "refused="+nova+":403", "limited="+nova+":limit-1", "first-fails="+nova+":error-first:flaky-1",
	)+withKey(p)+"  - {model_name: openai-fails, gateway_params: {model: openai/fail-500, api_base: \""+p.url+"/v1\", api_key: k}}\n"+
		"router_settings: {num_retries: 0, retry_on: [5xx, 429, timeout, connection, stream_error], fallbacks: [{first-fails: [claude]}, {openai-fails: [nova]}]}\n")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, pythonPath(t), "e2e/testdata/python/bedrock_sdk.py")
	cmd.Env = append(os.Environ(), "GATEWAY_URL="+g.url, "API_KEY="+adminKey)
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count("\n"+string(out), "\nok ") != 40 {
		t.Errorf("%v\n%s", err, out)
	}
	var signed []fake.Request
	for _, r := range p.Requests() {
		switch {
		case strings.HasPrefix(r.Headers.Get("authorization"), "Bearer k"): // OpenAI's
		case r.Model != "amazon.nova-lite-v1:0":
			signed = append(signed, r)
		case r.Headers.Get("authorization") != "Bearer bedrock-api-key" || r.Headers.Get("x-amz-date") != "":
			t.Errorf("with a key: %v", r.Headers)
		}
	}
	if judgeBedrock(t, signed); len(signed) < 60 {
		t.Errorf("only %d requests were signed", len(signed))
	}
}

// Every attempt has a signature of its own, also those to one deployment. What an attempt has set is not left for the next
// provider.
func TestBedrockRetries(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, bedrockModels(p, "flaky="+nova+":flaky-2:fail-503", "gone="+nova+":fail-500")+
		"  - {model_name: other, gateway_params: {model: openai/fake-gpt, api_base: \""+p.url+"/v1\", api_key: openai-key}}\n"+
		"router_settings: {num_retries: 2, fallbacks: [{gone: [other]}]}\n")
	if a := g.chat(request("flaky", "")); a.status != 200 || a.header.Get("x-gateway-attempted-retries") != "2" {
		t.Errorf("%d after %s retries: %s", a.status, a.header.Get("x-gateway-attempted-retries"), a.body)
	}
	if a := g.chat(request("gone", "")); a.status != 200 {
		t.Errorf("%d: %s", a.status, a.body)
	}
	var signed []fake.Request
	for _, r := range p.Requests() {
		if strings.Contains(r.Path, "/model/") {
			signed = append(signed, r)
			continue
		}
		if r.Headers.Get("authorization") != "Bearer openai-key" || r.Headers.Get("x-amz-date")+r.Headers.Get("x-amz-security-token") != "" {
			t.Errorf("the next provider gets the signature: %v", r.Headers)
		}
	}
	judgeBedrock(t, signed)
	seen := map[string]bool{}
	for _, r := range signed {
		seen[r.Headers.Get("authorization")] = true
	}
	if len(signed) != 6 {
		t.Errorf("there were %d attempts at Bedrock, with %d signatures", len(signed), len(seen))
	}
}

// judgeBedrock has AWS's SDK validate requests as they arrived, and compute their signatures.
func judgeBedrock(t *testing.T, requests []fake.Request) {
	t.Helper()
	now := time.Now().UTC().Format("20060102T150405Z")
	var in bytes.Buffer
	add := func(name, kind, value string) {
		line, err := json.Marshal(map[string]string{"name": name, "kind": kind, "value": value})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	for _, r := range requests {
		headers := map[string]string{"host": r.Host}
		for name := range r.Headers {
			headers[strings.ToLower(name)] = r.Headers.Get(name)
		}
		region := "us-west-2"
		if strings.HasPrefix(r.Model, "arn:") {
			region = "eu-central-1"
		}
		service := "bedrock"
		if strings.HasPrefix(r.Path, "/v1/") || strings.HasPrefix(r.Path, "/anthropic/") {
			service = "bedrock-mantle"
		}
		value, err := json.Marshal(map[string]any{
			"service": service, "method": r.Method, "host": r.Host, "path": cmp.Or(r.Escaped, r.Path), "query": r.Query, "headers": headers, "body": []byte(r.Body), "at": now,
			"region": region, "key": "AKIDEXAMPLE", "secret": awsSecret, "token": awsSession, "model": r.Model,
		})
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%d %s", r.Seq, r.Path)
		add(name, "signature", string(value))
		for end, operation := range map[string]string{"/converse": "Converse", "/converse-stream": "ConverseStream", "/count-tokens": "CountTokens"} {
			if strings.HasSuffix(r.Path, end) {
				add(name, operation+" request", r.Body)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), pythonPath(t), "extproc/bedrock/testdata/judge.py")
	cmd.Stdin = &in
	verdicts, err := cmd.Output()
	if err != nil || !bytes.Contains(verdicts, []byte(`"problems"`)) {
		t.Fatalf("%v: %s", err, verdicts)
	}
	for line := range bytes.Lines(verdicts) {
		if !bytes.Contains(line, []byte(`"problems": []`)) {
			t.Errorf("%s", line)
		}
	}
}

// What goes wrong with a stream of Bedrock's reaches the caller as an error or not at all, and is charged for what was
// reported, or else for what came.
func TestBedrockFaults(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, bedrockModels(p,
		"odd="+nova+":dribble:words-20", "nousage="+nova+":nousage:words-20", "bad="+nova+":badusage-negative:words-20",
		"error="+nova+":error-4th:words-20", "garbage="+nova+":garbage:words-20", "cut="+nova+":cut-6:words-20:pace-20ms", "unfinished="+nova+":nodone:words-20",
	)+"router_settings: {num_retries: 0}\n")
	for model, want := range map[string]spendLog{
		"odd":        {Status: "success", Source: "provider", CompletionTokens: 20},
		"nousage":    {Status: "success", Source: "estimated", CompletionTokens: 20},
		"bad":        {Status: "success", Source: "estimated", CompletionTokens: 20, Capped: true},
		"unfinished": {Status: "success", Source: "estimated", CompletionTokens: 20},
		"error":      {Status: "failed", Source: "estimated", CompletionTokens: 2, ErrorCode: "upstream_rate_limited"},
		"garbage":    {Status: "failed", Source: "estimated", CompletionTokens: 0, ErrorCode: "upstream_invalid_response"},
	} {
		a := g.chat(request(model, `,"stream":true`))
		whole := strings.HasSuffix(a.body, "data: [DONE]\n\n") && !strings.Contains(a.body, `"error"`)
		e := g.one(a)
		got := spendLog{Status: e.Status, Source: e.Source, CompletionTokens: e.CompletionTokens, ErrorCode: e.ErrorCode, Capped: e.Capped}
		if want.Status == "success" {
			got.ErrorCode = ""
		}
		if diff := gocmp.Diff(want, got); diff != "" || whole != (want.Status == "success") {
			t.Errorf("%s: (-want +got) %s\n%s", model, diff, a.body)
		}
	}
	cut := g.chat(request("cut", `,"stream":true`))
	g.eventually(cut.header.Get("x-gateway-request-id"), func(e spendLog) bool {
		return e.Status == "failed" && e.ErrorCode == "upstream_cut" && e.Source == "estimated" && e.CompletionTokens > 0 && e.CompletionTokens <= 6
	})
}
