package e2e

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// attachedGateway starts a gateway whose short requests come by Envoy's module, and waits until they do.
func attachedGateway(t *testing.T, models string) *gatewayProcess {
	t.Helper()
	g := startGateway(t, models+"\nenvoy: {attachment: module, concurrency: 2}\n")
	g.until("chats come by the module", func() bool {
		before := g.processed()
		return g.chat(request("a", "")).status == http.StatusOK && g.processed() == before
	})
	return g
}

// processed returns how many streams of ext_proc Envoy has opened.
func (g *gatewayProcess) processed() string {
	g.t.Helper()
	return strings.TrimSpace(g.admin("/stats?filter=^http.ingress.ext_proc.streams_started"))
}

// Everything that callers see is the same with the module as with ext_proc.
func TestAttachedByModule(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := attachedGateway(t, models(p, "a=openai/fake-gpt+words-20", "odd=openai/dribble+crlf+comments+words-20", "claude=anthropic/fake-claude+words-20", "cut=openai/cut-5+words-20+pace-20ms"))
	before := g.processed()
	for _, model := range []string{"a", "odd", "claude"} {
		whole := g.chat(request(model, ""))
		if whole.status != http.StatusOK || whole.header.Get("x-gateway-model-group") != model || whole.header.Get("content-length") != strconv.Itoa(len(whole.body)) {
			t.Errorf("%s: %d %v %s", model, whole.status, whole.header, whole.body)
		}
		if e := g.one(whole); e.Status != "success" || e.CompletionTokens == 0 {
			t.Errorf("%s: %+v", model, e)
		}
		stream := g.chat(request(model, `,"stream":true,"stream_options":{"include_usage":true}`))
		if stream.status != http.StatusOK || !strings.HasSuffix(stream.body, "data: [DONE]\n\n") || strings.Count(stream.body, `"usage":{`) != 1 {
			t.Errorf("%s: a stream: %d %s", model, stream.status, stream.body)
		}
		if e := g.one(stream); e.Status != "success" || !e.Stream || e.CompletionTokens == 0 {
			t.Errorf("%s: a stream: %+v", model, e)
		}
	}
	if a := g.chat(request("cut", `,"stream":true`)); a.status != http.StatusOK || !strings.Contains(a.body, `"upstream_cut"`) {
		t.Errorf("a stream that breaks off: %d %s", a.status, a.body)
	}
	for name, a := range map[string]*answer{
		"model_not_found": g.chat(request("none", "")),
		"invalid_api_key": g.chat(request("a", ""), with("Authorization", "Bearer sk-wrong")),
	} {
		if a.status < 400 || !strings.Contains(a.body, name) || a.header.Get("content-type") != "application/json" || !strings.HasPrefix(a.header.Get("x-request-id"), "req_") {
			t.Errorf("%s: %d %v %s", name, a.status, a.header, a.body)
		}
	}
	if after := g.processed(); after != before {
		t.Errorf("ext_proc was used:\n%s\n%s", before, after)
	}
	if long := g.chat(strings.Replace(request("a", ""), `"messages"`, strings.Repeat(" ", 1<<20)+`"messages"`, 1)); long.status != http.StatusOK {
		t.Errorf("a body that is too long for the module: %d %s", long.status, long.body)
	}
	if after := g.processed(); after == before {
		t.Error("a body that is too long for the module did not come by ext_proc")
	}
}

// Streams at the same time, whose pieces arrive at once, are complete.
func TestAttachedStreams(t *testing.T) {
	t.Parallel()
	p := newUpstream(t)
	g := attachedGateway(t, models(p, "a=openai/fake-gpt+words-200"))
	want := strings.Count(g.chat(request("a", `,"stream":true`)).body, "data: ")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				a := g.chat(request("a", `,"stream":true`))
				if n := strings.Count(a.body, "data: "); n != want || !strings.HasSuffix(a.body, "data: [DONE]\n\n") {
					t.Errorf("%d events of %d: %d %s", n, want, a.status, a.body)
				}
			}
		})
	}
	all.Wait()
}
