package e2e

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// measured returns the value of one series of /metrics, by its name and by all labels
// that are asked for; false if there is no such series. More than one is an error.
func measured(t *testing.T, text, name string, labels ...string) (value float64, found bool) {
	t.Helper()
	for line := range strings.Lines(text) {
		at := strings.LastIndexByte(line, ' ')
		if at < 0 || line[0] == '#' {
			continue
		}
		series := line[:at]
		if of, _, _ := strings.Cut(series, "{"); of != name {
			continue
		}
		all := true
		for _, label := range labels {
			all = all && (strings.Contains(series, "{"+label) || strings.Contains(series, ","+label))
		}
		if !all {
			continue
		}
		if found {
			t.Errorf("/metrics has more than one %s with %v", name, labels)
		}
		var err error
		if value, err = strconv.ParseFloat(strings.TrimSpace(line[at:]), 64); err != nil {
			t.Errorf("/metrics: %s: %v", line, err)
		}
		found = true
	}
	return value, found
}

// expect fails unless a series has a value.
func expect(t *testing.T, text string, want float64, name string, labels ...string) {
	t.Helper()
	if got, ok := measured(t, text, name, labels...); !ok || math.Abs(got-want) > 1e-9 {
		t.Errorf("%s with %v is %v (there: %v), want %v", name, labels, got, ok, want)
	}
}

// An operator sees what keys, teams, users and organizations have spent and have left, which model
// answered, and how long the gateway itself took.
func TestMetricsOfSpenders(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "fast=openai/fake-gpt", "claude=anthropic/fake-claude"))
	who := newPayers(g)
	stranger := g.keyOf("", tree{"key_alias": "paying"}) // an alias is unique in its place only
	g.changes("/organization/update", tree{"organization_id": who.organization, "max_budget": 7})
	g.changes("/user/update", tree{"user_id": who.user, "max_budget": 3})
	unnamed := g.changes("/key/generate", tree{"max_budget": 2})
	plain, _ := unnamed["key"].(string)
	hash, _ := unnamed["token"].(string)
	as := with("Authorization", "Bearer "+who.key)
	var cost int64
	var input, output int64
	for _, body := range []string{
		request("fast", ""), request("fast", `,"stream":true`), request("claude", ""), request("claude", `,"stream":true`),
	} {
		a := g.chat(body, as)
		if a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, a.status, a.body)
		}
		row := g.posted(a, 1)[0]
		cost += pico(t, string(row.Spend))
		input, output = input+row.PromptTokens, output+row.CompletionTokens
	}
	if s := g.asks(stranger, "fast", ""); s != "200" {
		t.Fatal(s)
	}
	a := g.chat(request("fast", ""), with("Authorization", "Bearer "+plain))
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	unnamedCost := float64(pico(t, string(g.posted(a, 1)[0].Spend))) / 1e12
	g.waitPosted()
	text := g.get("/metrics").body
	expect(t, text, unnamedCost, "gateway_key_cost_usd_total", `gateway_key_hash="sha256:`+strings.TrimPrefix(hash, "sha256:")+`"`)
	expect(t, text, 2-unnamedCost, "gateway_key_budget_remaining_usd", `gateway_key_hash="sha256:`+strings.TrimPrefix(hash, "sha256:")+`"`)
	spent := float64(cost) / 1e12
	for label, budget := range map[string]float64{`gateway_user_id="` + who.user: 3, `gateway_organization_id="` + who.organization: 7} {
		prefix := label[:strings.Index(label, "_id")]
		expect(t, text, spent, prefix+"_cost_usd_total", label+`"`)
		expect(t, text, budget-spent, prefix+"_budget_remaining_usd", label+`"`)
	}
	const red = `gateway_team_id="red"`
	for _, of := range []struct {
		prefix, label string
		budget        float64
	}{{"gateway_team", red, 5}, {"gateway_key", `gateway_key_alias="paying"`, 1}} {
		expect(t, text, spent, of.prefix+"_cost_usd_total", of.label, red)
		expect(t, text, float64(input), of.prefix+"_tokens_total", of.label, red, `gen_ai_token_type="input"`)
		expect(t, text, float64(output), of.prefix+"_tokens_total", of.label, red, `gen_ai_token_type="output"`)
		expect(t, text, of.budget-spent, of.prefix+"_budget_remaining_usd", of.label, red)
	}
	for _, c := range []struct{ deployment, model string }{{"fast-id", "fake-gpt"}, {"claude-id", "fake-claude"}} {
		want := 2.0
		if c.deployment == "fast-id" {
			want += 2 // those of the other keys
		}
		expect(t, text, want, "gateway_requests_total", `gateway_deployment_id="`+c.deployment+`"`, `gen_ai_response_model="`+c.model+`"`)
	}
	for _, stream := range []string{"true", "false"} {
		model, streamed := `gen_ai_request_model="claude"`, `gateway_stream="`+stream+`"`
		expect(t, text, 1, "gateway_request_overhead_seconds_count", model, streamed)
		if took, _ := measured(t, text, "gateway_request_overhead_seconds_sum", model, streamed); took <= 0 {
			t.Errorf("the gateway took %v s for a request with %s", took, streamed)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// The gateway's own time has no part of the provider's.
func TestOverheadWithoutProvider(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "stuck=openai/hang")+"router_settings: {num_retries: 0, timeout: 2, cooldown_time: 0}\n")
	g.chat(request("stuck", ""))
	text := g.get("/metrics").body
	all, _ := measured(t, text, "gen_ai_client_operation_duration_seconds_sum", `gen_ai_request_model="stuck"`)
	own, ok := measured(t, text, "gateway_request_overhead_seconds_sum", `gen_ai_request_model="stuck"`)
	if !ok || all < 1 || own <= 0 || own > all/2 {
		t.Errorf("of %v s the gateway itself took %v", all, own)
	}
}

// An operator sees what is under way, what is in cooldown, and how full the disk is; a
// key of a viewer may scrape, and one of a user without that role may not.
func TestMetricsOfState(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "fast=openai/fake-gpt", "stuck=openai/hang", "limited=openai/fail-429")+
		"router_settings: {num_retries: 0, retry_after: 0.01, cooldown_time: 300, fallbacks: [{limited: [fast]}]}\n")
	keys := map[string]string{}
	for _, role := range []string{"proxy_admin_viewer", "internal_user"} {
		keys[role], _ = g.changes("/user/new", tree{"user_id": role, "user_role": role})["key"].(string)
	}
	if a := g.get("/metrics", with("Authorization", "Bearer "+keys["internal_user"])); a.status != http.StatusForbidden {
		t.Errorf("/metrics with a key of an internal_user: %d", a.status)
	}
	a := g.get("/metrics", with("Authorization", "Bearer "+keys["proxy_admin_viewer"]))
	if a.status != http.StatusOK {
		t.Fatalf("/metrics with a key of a viewer: %d %s", a.status, a.body)
	}
	expect(t, a.body, 0, "gateway_requests_inflight")
	expect(t, a.body, 0, "gateway_deployments_in_cooldown")
	expect(t, a.body, 0, "gateway_envoy_restarts_total")
	if _, ok := measured(t, a.body, "gateway_deployment_cooldown_seconds"); ok {
		t.Error("a deployment is in cooldown before there was a request")
	}
	for _, name := range []string{"gateway_disk_free_bytes", "gateway_data_size_bytes"} {
		if n, _ := measured(t, a.body, name); n <= 1<<20 {
			t.Errorf("%s is %v", name, n)
		}
	}
	g.chat(request("limited", ""))
	open := pending(t, g, up, 3)
	text := g.get("/metrics").body
	expect(t, text, 3, "gateway_requests_inflight")
	expect(t, text, 1, "gateway_deployments_in_cooldown")
	if left, _ := measured(t, text, "gateway_deployment_cooldown_seconds", `gateway_deployment_id="limited-id"`, `gateway_reason="rate_limited"`); left <= 0 || left > 400 {
		t.Errorf("the deployment is in cooldown for %v s more", left)
	}
	g.kill()
	for range 3 {
		<-open
	}
}
