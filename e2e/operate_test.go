package e2e

import (
	"bytes"
	"context"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// Every secret and every text is a mark of its own, so that a leak names itself.
const (
	promptMark = "mark-of-the-prompt-5fe1"
	userMark   = "sk-mark-of-the-callers-key-77ab"
	vendorMark = "mark-of-the-providers-key-90cd"
)

// Nothing that is secret is found anywhere that an operator or a caller can look.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, `
model_list:
  - model_name: fast
    gateway_params: {model: openai/fake-gpt, api_base: "`+p.url+`/v1", api_key: `+vendorMark+`}
  - model_name: wrong
    gateway_params: {model: openai/fail-401, api_base: "`+p.url+`/v1", api_key: `+vendorMark+`}
  - model_name: bad
    gateway_params: {model: openai/fail-400, api_base: "`+p.url+`/v1", api_key: `+vendorMark+`}
  - model_name: broken
    gateway_params: {model: openai/garbage, api_base: "`+p.url+`/v1", api_key: `+vendorMark+`}
  - model_name: hanging
    gateway_params: {model: openai/reset, api_base: "`+p.url+`/v1", api_key: `+vendorMark+`}
router_settings: {num_retries: 1, retry_after: 0.01}
keys:
  - {key_alias: app, key: `+userMark+`}
`)
	var seen strings.Builder
	for _, model := range []string{"fast", "wrong", "bad", "broken", "hanging", "nope"} {
		for _, more := range []string{"", `,"stream":true`, `,"max_tokens":"x"`} {
			a := g.chat(`{"model":"`+model+`","messages":[{"role":"user","content":"`+promptMark+`"}]`+more+`}`, with("Authorization", "Bearer "+userMark))
			if a.status != http.StatusOK {
				seen.WriteString(a.body)
			}
			for name, values := range a.header {
				seen.WriteString(name + strings.Join(values, ","))
			}
		}
	}
	for _, key := range []string{userMark + "x", "Basic " + userMark} {
		seen.WriteString(g.chat(request("fast", ""), with("Authorization", "Bearer "+key)).body)
	}
	for _, path := range []string{"/spend/logs", "/metrics", "/v1/models", "/health/readiness", "/nothing"} {
		seen.WriteString(g.get(path).body)
	}
	g.stop()
	seen.WriteString(g.log.String())
	files := 0
	err := filepath.WalkDir(g.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		files++
		seen.Write(b)
		return err
	})
	if err != nil || files < 3 {
		t.Fatalf("%d files in the data directory, %v", files, err)
	}
	for _, mark := range []string{promptMark, userMark, vendorMark, adminKey} {
		if i := strings.Index(seen.String(), mark); i >= 0 {
			t.Errorf("%s is to be seen: …%q…", mark, seen.String()[max(0, i-200):min(seen.Len(), i+100)])
		}
	}
	if !strings.Contains(seen.String(), "req_") {
		t.Error("nothing was looked at")
	}
}

// The names that dashboards are built on.
func TestMetrics(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt", "down=openai/fail-500")+"router_settings: {num_retries: 1, retry_after: 0.01, fallbacks: [{down: [fast]}]}\n")
	g.chat(request("fast", ""))
	g.chat(request("fast", `,"stream":true`))
	g.chat(request("down", ""))
	g.chat(request("nope", ""))
	text := g.get("/metrics").body
	for _, name := range []string{
		`gen_ai_client_token_usage_bucket{`, `gen_ai_token_type="input"`, `gen_ai_token_type="output"`,
		`gen_ai_client_operation_duration_seconds_count{`, `gen_ai_server_time_to_first_token_seconds_count{`,
		`gateway_requests_total{`, `gateway_cluster_leader 1`, `gateway_cluster_has_leader 1`, `gateway_cluster_applied_index `, `gateway_cluster_staleness_seconds `,
		`gateway_cluster_members_alive 1`, `gateway_journal_backlog `, `gateway_audit_records `, `gateway_requests_refused_total{error_type="not_found"`, `gateway_attempts_failed_total{`, `gateway_cost_usd_total{`,
		`gen_ai_operation_name="chat"`, `gen_ai_provider_name="openai"`, `gen_ai_request_model="fast"`, `gateway_deployment_id="fast-id"`,
		`go_goroutines `, `process_resident_memory_bytes `,
	} {
		if !strings.Contains(text, name) {
			t.Errorf("/metrics has no %s", name)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// The log of a shutdown names its cause and each stage, in order.
func TestShutdownIsLogged(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, "shutdown_delay: 50ms\n"+models(p, "fast=openai/fake-gpt"))
	g.stop()
	log := g.log.String()
	for _, stage := range []string{
		`"msg":"shutdown requested","cause":"terminated`, "not ready any more", "Envoy accepts no more requests",
		"ending the servers", "writing the journal", `"msg":"shut down","failed":false`,
	} {
		_, after, found := strings.Cut(log, stage)
		if !found {
			t.Fatalf("the log does not say %q, or not in its turn:\n%s", stage, g.log.String())
		}
		log = after
	}
}

// The log names one request by one id, from the refusal to the event.
func TestOneRequestID(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt"))
	a := g.chat(request("fast", ""))
	id := a.header.Get("x-gateway-request-id")
	if id == "" || a.header.Get("x-request-id") != id {
		t.Fatalf("ids %q and %q", id, a.header.Get("x-request-id"))
	}
	if e := g.one(a); e.RequestID != id {
		t.Errorf("the event is of %s", e.RequestID)
	}
	bad := g.chat(request("nope", ""))
	sent := p.Requests()[0].Headers.Get("X-Request-Id")
	g.stop()
	log := g.log.String()
	for _, want := range []string{id, bad.header.Get("x-request-id")} {
		if !strings.Contains(log, `"request_id":"`+want+`"`) {
			t.Errorf("the log does not know %s:\n%s", want, log)
		}
	}
	if sent != id {
		t.Errorf("the provider knows it as %s, we as %s", sent, id)
	}
}

// A LiteLLM configuration starts unchanged, and says what of it has no effect.
func TestLiteLLMConfig(t *testing.T) {
	p := newUpstream(t)
	t.Setenv("FAKE_API_KEY", "fake-key")
	t.Setenv("LITELLM_MASTER_KEY", adminKey)
	g := startGateway(t, `
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: openai/fake-gpt
      api_base: `+p.url+`/v1
      api_key: os.environ/FAKE_API_KEY
      rpm: 600
    model_info:
      mode: chat
  - model_name: claude
    litellm_params: {model: anthropic/fake-claude, api_base: "`+p.url+`", api_key: "os.environ/FAKE_API_KEY"}

litellm_settings:
  drop_params: true
  num_retries: 2
  set_verbose: false
  success_callback: ["langfuse"]

router_settings:
  routing_strategy: simple-shuffle
  fallbacks: [{"gpt-4o": ["claude"]}]

general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY
  database_url: "postgresql://user:password@host/db"
`)
	for _, model := range []string{"gpt-4o", "claude"} {
		if a := g.chat(request(model, `,"seed":1`)); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", model, a.status, a.body)
		}
	}
	log := g.log.String()
	for _, want := range []string{"success_callback", "database_url"} {
		if !strings.Contains(log, want) {
			t.Errorf("no warning about %s", want)
		}
	}
	if strings.Contains(log, "password@") {
		t.Error("the log has the database's password in it")
	}
}

func TestConfigCheck(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		file := filepath.Join(dir, "gateway.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	run := func(args ...string) (string, string, error) {
		cmd := exec.Command(binary(t), args...)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		return out.String(), errs.String(), err
	}
	sound := "model_list:\n  - model_name: fast\n    gateway_params: {model: openai/gpt-4o, api_key: " + vendorMark + "}\ngeneral_settings: {master_key: " + adminKey + "}\n"
	out, errs, err := run("config", "check", write(sound))
	if err != nil || !strings.Contains(out, "num_retries: 2") || !strings.Contains(out, "[redacted]") {
		t.Errorf("%v\n%s%s", err, out, errs)
	}
	if strings.Contains(out+errs, vendorMark) || strings.Contains(out+errs, adminKey) {
		t.Errorf("the effective configuration has secrets in it:\n%s", out)
	}
	out, errs, err = run("config", "check", write(strings.Replace(sound, "api_key", "api_kye", 1)+"oops: 1\n"))
	if err == nil || out != "" || !strings.Contains(errs, `gateway.yaml:3:`) || !strings.Contains(errs, `did you mean "api_key"`) || !strings.Contains(errs, "oops") {
		t.Errorf("%v\n%s%s", err, out, errs)
	}
	// What serve would refuse later: where the audit log goes.
	for _, place := range []string{"bucket_url: file:///var/audit?" + vendorMark, "queue_url: nats://user:" + vendorMark + "@host"} {
		out, errs, err = run("config", "check", write(sound+"audit: {"+place+"}\n"))
		if err == nil || out != "" || !strings.Contains(errs, "gateway.yaml:5:") || strings.Contains(errs, vendorMark) {
			t.Errorf("%v\n%s%s", err, out, errs)
		}
	}
	if out, _, err := run("version"); err != nil || !strings.HasPrefix(out, "modelgateway ") {
		t.Errorf("%v %s", err, out)
	}
	if _, errs, err := run("serve"); err == nil || !strings.Contains(errs, "config") {
		t.Errorf("%v %s", err, errs)
	}
}

// least_busy sends a request where the fewest are under way.
func TestLeastBusy(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, `
model_list:
  - {model_name: pair, model_info: {id: a}, gateway_params: {model: openai/a+hang, api_base: "`+p.url+`/v1", api_key: k}}
  - {model_name: pair, model_info: {id: b}, gateway_params: {model: openai/b+hang, api_base: "`+p.url+`/v1", api_key: k}}
router_settings: {routing_strategy: least_busy}
`)
	const n = 8
	callers, leave := context.WithCancel(context.Background())
	var gone sync.WaitGroup
	for i := range n {
		gone.Go(func() {
			r, err := http.NewRequestWithContext(callers, http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(request("pair", "")))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer "+adminKey)
			r.Header.Set("Content-Type", "application/json")
			if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
				_ = resp.Body.Close()
			}
		})
		// One after the other: of two that choose at the same moment neither sees the other.
		wait, stop := context.WithTimeout(context.Background(), time.Minute)
		if err := p.Await(wait, func(c fake.Counters) bool { return c.Open == i+1 }); err != nil {
			t.Errorf("request %d did not reach the provider", i)
		}
		stop()
	}
	if c := p.Counters().ByModel; c["a+hang"] != n/2 || c["b+hang"] != n/2 {
		t.Errorf("requests went to %v, want half to each", c)
	}
	leave()
	gone.Wait()
}
