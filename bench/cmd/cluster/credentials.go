package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	dueSilence   = 2 * time.Second
	dueRotation  = 2 * time.Second
	silentRounds = 7
	accounts     = 20 // credentials
	ofAccounts   = 200
	cloudModel   = "cloud"
)

// measureSilence starts one node with deployments at three clouds while no token service responds, and, to
// compare with, with as many that have keys.
func measureSilence(ctx context.Context, o options, w io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	var calls atomic.Int64
	go func() {
		for {
			if _, err := l.Accept(); err != nil { // an accepted connection stays open, and nothing is read or written
				return
			}
			calls.Add(1)
		}
	}()
	silent, err := cloudDeployments(l.Addr().String())
	if err != nil {
		return err
	}
	r := &report{}
	for name, all := range map[string][]deployment{"credentials of clouds whose token services are silent": silent, "keys": keyedDeployments()} {
		var times []time.Duration
		for round := range silentRounds {
			one := o
			one.dir = filepath.Join(o.dir, strings.ReplaceAll(name, " ", "-"), strconv.Itoa(round))
			took, _, err := startMany(ctx, one, all)
			if err != nil {
				return err
			}
			times = append(times, took)
		}
		r.add(fmt.Sprintf("start to ready with %d deployments of %d %s", ofAccounts, accounts, name), times, dueSilence)
	}
	r.note("The token services were called %d times in %d starts.", calls.Load(), silentRounds)
	r.print(w)
	return nil
}

// keyedDeployments have the keys of as many accounts.
func keyedDeployments() []deployment {
	var all []deployment
	for i := range ofAccounts {
		all = append(all, deployment{model: fmt.Sprintf("model-%d", i), params: fmt.Sprintf("model: openai/%s, api_base: http://127.0.0.1:9/v1, api_key: bench-key-%d", model, i%accounts)})
	}
	return all
}

// cloudDeployments have credentials whose tokens a service gives.
func cloudDeployments(service string) ([]deployment, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var all []deployment
	for i := range ofAccounts {
		account := i % accounts
		var params string
		switch account % 3 {
		case 0:
			params = fmt.Sprintf("model: bedrock/amazon.nova-lite-v1:0, aws_region_name: us-east-1, aws_access_key_id: AKIA%d, aws_secret_access_key: bench, aws_role_name: 'arn:aws:iam::123456789012:role/bench', aws_sts_endpoint: 'http://%s'", account, service)
		case 1:
			file, err := json.Marshal(map[string]string{
				"type": "service_account", "project_id": "bench", "private_key_id": "1", "client_email": fmt.Sprintf("bench-%d@bench.iam.gserviceaccount.com", account),
				"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": "http://" + service + "/token",
			})
			if err != nil {
				return nil, err
			}
			params = fmt.Sprintf("model: vertex_ai/gemini-2.5-flash, vertex_location: us-central1, vertex_credentials: '%s'", file)
		default:
			params = fmt.Sprintf("model: azure/chat, api_base: 'https://bench-%d.openai.azure.com', tenant_id: bench, client_id: application-%d, client_secret: bench, azure_authority_host: 'https://%s'", account, account, service)
		}
		all = append(all, deployment{model: fmt.Sprintf("model-%d", i), params: params})
	}
	return all, nil
}

// startCloud serves AWS's token service and a model of Bedrock, whose response is the id of the key that signed the request. An
// assumed role's key has the number of the key that has assumed it.
func startCloud() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, scope, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		id, _, _ := strings.Cut(scope, "/")
		if r.URL.Path != "/" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"output":{"message":{"role":"assistant","content":[{"text":%q}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}`, id)
			return
		}
		w.Header().Set("Content-Type", "text/xml")
		_, _ = fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIA%s</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
			strings.TrimPrefix(id, "AKIA"), time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
}

// measureRotations rotates a credential while all nodes use it. Each node then gets a token with the new one.
func (c *cluster) measureRotations(ctx context.Context, o options, r *report) error {
	aws := startCloud()
	defer aws.Close()
	values := func(n int) map[string]string {
		return map[string]string{"aws_access_key_id": fmt.Sprintf("AKIA%d", n), "aws_secret_access_key": fmt.Sprintf("bench-%d", n)}
	}
	first := values(0)
	first["aws_role_name"], first["aws_sts_endpoint"], first["aws_region_name"] = "arn:aws:iam::123456789012:role/bench", aws.URL, "us-east-1"
	if err := c.ask(ctx, c.nodes[0], http.MethodPost, "/credentials", map[string]any{"credential_name": "aws", "credential_values": first}, nil); err != nil {
		return err
	}
	if err := c.ask(ctx, c.nodes[0], http.MethodPost, "/model/new", map[string]any{"model_name": cloudModel, "gateway_params": map[string]string{
		"model": "bedrock/amazon.nova-lite-v1:0", "credential_name": "aws", "aws_bedrock_runtime_endpoint": aws.URL,
	}}, nil); err != nil {
		return err
	}
	if _, err := c.changed(ctx, "ASIA0", c.useCloud, func() error { return nil }); err != nil {
		return err
	}
	var inForce, answered []time.Duration
	late := 0
	for round := 1; round <= o.rotations; round++ {
		at := c.nodes[round%len(c.nodes)]
		d, err := c.changed(ctx, fmt.Sprintf("ASIA%d", round), c.useCloud, func() error {
			return c.ask(ctx, at, http.MethodPatch, "/credentials/aws", map[string]any{"credential_values": values(round)}, nil)
		})
		if err != nil {
			return err
		}
		inForce, answered = append(inForce, d.inForce), append(answered, d.answered)
		late += d.late
	}
	r.add("rotated credential in force on all nodes", inForce, dueRotation)
	r.add("rotation of a credential answered", answered, dueRotation)
	r.note("Requests that were begun after the answer to a rotation and were signed with the earlier credential: %d.", late)
	return nil
}

// useCloud sends a request and returns the id of the key that signed it; empty while a node has none.
func (c *cluster) useCloud(ctx context.Context, n *node) (string, error) {
	code, body, err := c.call(ctx, n, http.MethodPost, "/v1/chat/completions", "", []byte(`{"model":"`+cloudModel+`","messages":[{"role":"user","content":"hello"}]}`))
	switch {
	case err != nil:
		return "", err
	case code == http.StatusServiceUnavailable || code == http.StatusNotFound: // the node has no token, or does not know the model yet
		return "", nil
	case code != http.StatusOK:
		return "", fmt.Errorf("/v1/chat/completions: %d %s", code, body)
	}
	var answer struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", fmt.Errorf("/v1/chat/completions: %s: %w", body, err)
	}
	if len(answer.Choices) != 1 {
		return "", fmt.Errorf("/v1/chat/completions: %s", body)
	}
	return answer.Choices[0].Message.Content, nil
}
