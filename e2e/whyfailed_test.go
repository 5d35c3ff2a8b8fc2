package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// An operator can find out why each attempt failed: in the header that it asks for, in
// the log, in /spend/logs and in the audit log.
func TestFailedAttemptsSayWhy(t *testing.T) {
	p := newUpstream(t)
	cert, _ := certificate(t, "localhost")
	_, authority := certificate(t, "localhost") // of somebody else
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", bundle)
	_, badURL, _ := newTLSUpstream(t, cert)
	at := func(name, url string) string {
		return "  - {model_name: " + name + ", gateway_params: {model: openai/x, api_base: \"" + url + "/v1\", api_key: k}, model_info: {id: " + name + "-id}}\n"
	}
	g := startGateway(t, models(p,
		"limited=openai/fail-429", "broken=openai/fail-500", "wrongkey=openai/fail-401", "bad=openai/fail-400", "stuck=openai/hang",
		"cut=openai/reset", "junk=openai/garbage", "fast=openai/fake-gpt")+
		at("dead", "http://127.0.0.1:1")+at("nowhere", "http://no-such-host.invalid")+at("untrusted", badURL)+`
router_settings: {num_retries: 1, retry_after: 0.01, cooldown_time: 0, timeout: 0.5, fallbacks: [{broken: [limited, fast]}, {dead: [fast]}]}
keys:
  - {key_alias: app, key: sk-app-of-somebody-0123456789}
`)
	once := `,"num_retries":0,"disable_fallbacks":true`
	for _, c := range []struct {
		model, more string
		causes      string
		client      int // status that the caller gets
		upstream    int // of the last attempt
		retries     int
		fallbacks   int
	}{
		{"limited", once, "http_429", 503, 429, 0, 0},
		{"broken", once, "http_5xx", 503, 500, 0, 0},
		{"wrongkey", once, "http_4xx", 503, 401, 0, 0},
		{"bad", once, "http_4xx", 400, 400, 0, 0},
		{"stuck", once, "timeout_first_byte", 504, 0, 0, 0},
		{"cut", once, "reset", 503, 0, 0, 0},
		{"junk", once, "invalid_answer", 502, 200, 0, 0},
		{"dead", once, "connect_refused", 503, 0, 0, 0},
		{"nowhere", once, "dns", 503, 0, 0, 0},
		{"untrusted", once, "tls", 503, 0, 0, 0},
		{"limited", "", "http_429," + "http_429", 503, 429, 1, 0},
		{"broken", "", "http_5xx," + "http_5xx,http_429", 200, 200, 1, 2},
		{"dead", "", "connect_refused," + "connect_refused", 200, 200, 1, 1},
	} {
		a := g.chat(request(c.model, c.more), with("x-gateway-debug", "true"))
		id := a.header.Get("x-gateway-request-id")
		var told []failedTry
		if err := json.Unmarshal([]byte(a.header.Get("x-gateway-debug")), &told); err != nil || a.status != c.client || causes(told) != c.causes {
			t.Errorf("%s%s: %d, x-gateway-debug %q: %v", c.model, c.more, a.status, a.header.Get("x-gateway-debug"), err)
		}
		g.until("the log names "+c.causes+" for "+c.model+c.more, func() bool {
			return strings.Join(causesLogged(g.log.String(), id), ",") == c.causes
		})
		g.waitPosted()
		if audit := g.get("/audit-log?limit=10&request_id=" + id); strings.Count(audit.body, `"cause":`) != len(strings.Split(c.causes, ",")) {
			t.Errorf("%s%s: the audit log says %s", c.model, c.more, audit.body)
		}
		rows := g.spend(id)
		if len(rows) == 0 {
			if told[len(told)-1].Status == 0 && c.client != http.StatusOK {
				continue // no attempt reached a provider
			}
			t.Errorf("%s%s: no event", c.model, c.more)
			continue
		}
		last := rows[len(rows)-1]
		if causes(last.Failures) != c.causes || last.ClientStatus != c.client || last.HTTPStatus != c.upstream || last.Retries != c.retries || last.Fallbacks != c.fallbacks {
			t.Errorf("%s%s: last event %+v", c.model, c.more, last)
		}
	}
	bad := g.one(g.chat(request("bad", once), with("x-gateway-debug", "true"))).Failures[0]
	if bad.Type != "invalid_request_error" || bad.Message == "" || bad.RequestID == "" || bad.ModelID != "bad-id" {
		t.Errorf("what the provider said is lost: %+v", bad)
	}
	if log := g.log.String(); !strings.Contains(log, `"level":"ERROR","msg":"attempt failed: the provider rejected the deployment's credential"`) || !strings.Contains(log, `"deployment":"wrongkey-id"`) {
		t.Error("a rejected credential is no error in the log")
	}
	if text := g.get("/metrics").body; !strings.Contains(text, `gateway_credentials_rejected_total{gateway_deployment_id="wrongkey-id"`) {
		t.Error("no metric counts rejected credentials")
	}
	app := with("Authorization", "Bearer sk-app-of-somebody-0123456789")
	refused(t, "a key without a role", g.chat(request("bad", ""), app, with("x-gateway-debug", "true")), 403, "insufficient_permissions")
	refused(t, "a wrong value", g.chat(request("bad", ""), with("x-gateway-debug", "maybe")), 400, "invalid_value")
	if a := g.chat(request("bad", ""), app); a.header.Get("x-gateway-debug") != "" {
		t.Error("the header comes unasked")
	}
}

func causes(list []failedTry) string {
	var out []string
	for _, f := range list {
		out = append(out, f.Cause)
	}
	return strings.Join(out, ",")
}

// causesLogged returns the causes that the log names for a request.
func causesLogged(log, request string) []string {
	var out []string
	cause := regexp.MustCompile(`"cause":"([a-z0-9_]+)"`)
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"msg":"attempt failed`) && strings.Contains(line, request) {
			out = append(out, cause.FindStringSubmatch(line)[1])
		}
	}
	return out
}

// A trace that the caller is in goes on to the provider, with a span of the gateway's
// own, and is in the log. What is no valid trace goes nowhere.
func TestTraceContextGoesOn(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := startGateway(t, models(p, "fast=openai/fake-gpt"))
	const id, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	g.chat(request("fast", ""), with("traceparent", "00-"+id+"-"+parent+"-01"), with("tracestate", "vendor=abc,other=1"))
	g.chat(request("fast", ""), with("traceparent", "00-"+strings.Repeat("0", 32)+"-"+parent+"-01"), with("tracestate", "vendor=abc"))
	g.chat(request("fast", ""))
	sent := p.Requests()
	if got := sent[0].Headers.Get("Traceparent"); !regexp.MustCompile(`^00-`+id+`-[0-9a-f]{16}-01$`).MatchString(got) || strings.Contains(got, parent) {
		t.Errorf("the provider gets the trace %q", got)
	}
	if got := sent[0].Headers.Get("Tracestate"); got != "vendor=abc,other=1" {
		t.Errorf("the provider gets the state %q", got)
	}
	for _, r := range sent[1:] {
		if r.Headers.Get("Traceparent")+r.Headers.Get("Tracestate") != "" {
			t.Errorf("without a valid trace the provider gets %q, %q", r.Headers.Get("Traceparent"), r.Headers.Get("Tracestate"))
		}
	}
	g.until("the trace is in the log", func() bool { return strings.Contains(g.log.String(), `"trace_id":"`+id+`"`) })
}
