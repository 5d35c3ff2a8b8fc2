package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// gatedProvider answers when the test lets it. The name of the model says how.
type gatedProvider struct {
	url     string
	arrived chan string   // the model of each request
	open    chan struct{} // one value lets one request of a model "gate…" go on
}

func newGatedProvider(t *testing.T) *gatedProvider {
	t.Helper()
	p := &gatedProvider{arrived: make(chan string, 100), open: make(chan struct{})}
	s := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

func (p *gatedProvider) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, rest, _ := strings.Cut(string(body), `"model":"`)
	model, _, _ := strings.Cut(rest, `"`)
	stream := strings.Contains(string(body), `"stream":true`)
	if stream {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
	}
	p.arrived <- model
	if strings.HasPrefix(model, "gate") {
		select {
		case <-p.open:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case strings.HasSuffix(model, "500"):
		http.Error(w, `{"error":{"message":"x"}}`, http.StatusInternalServerError)
	case strings.HasSuffix(model, "reset"):
		panic(http.ErrAbortHandler)
	case stream:
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	}
}

// deployments is a model_list in LiteLLM's form with one deployment per
// name=model=further parameters.
func (p *gatedProvider) deployments(rows ...string) string {
	var b strings.Builder
	b.WriteString("model_list:\n")
	for _, row := range rows {
		part := append(strings.SplitN(row, "=", 3), "")
		fmt.Fprintf(&b, "  - {model_name: %s, litellm_params: {model: openai/%s, api_base: %q, api_key: k%s}}\n", part[0], part[1], p.url+"/v1", part[2])
	}
	return b.String()
}

// release lets one request go on.
func (p *gatedProvider) release(t *testing.T) {
	t.Helper()
	select {
	case p.open <- struct{}{}:
	case <-time.After(time.Minute):
		t.Fatal("no request is at the provider")
	}
}

// next is the model of the next request that reaches the provider.
func (p *gatedProvider) next(t *testing.T) string {
	t.Helper()
	select {
	case model := <-p.arrived:
		return model
	case <-time.After(time.Minute):
		t.Fatal("no request reaches the provider")
	}
	return ""
}

// send sends a request and returns its response.
func (p *gatedProvider) send(g *gatewayProcess, model, more string) <-chan *answer {
	out := make(chan *answer, 1)
	go func() {
		defer close(out) // also where the request fails the test
		out <- g.chat(request(model, more))
	}()
	return out
}

// begin sends a request, waits until the provider has it, and returns its response.
func (p *gatedProvider) begin(t *testing.T, g *gatewayProcess, model, more string) <-chan *answer {
	t.Helper()
	out := p.send(g, model, more)
	select {
	case <-p.arrived:
	case a := <-out:
		t.Fatalf("%s: %d %s", model, a.status, a.body)
	case <-time.After(time.Minute):
		t.Fatal("the request does not reach the provider")
	}
	return out
}

// full checks that a model is at a limit of requests in flight.
func full(t *testing.T, g *gatewayProcess, what, model, scope string) {
	t.Helper()
	a := g.chat(request(model, ""))
	refused(t, what, a, http.StatusTooManyRequests, "rate_limit_exceeded")
	e := a.error(t).Error
	if a.header.Get("retry-after") != "1" || e.Type != "rate_limit_error" || e.Details["scope"] != scope {
		t.Errorf("%s: retry-after %q, %+v", what, a.header.Get("retry-after"), e)
	}
}

// A deployment serves as many requests at a time as max_parallel_requests allows, and
// however a request ends, its slot is free again, once.
func TestParallelRequestsOfADeployment(t *testing.T) {
	t.Parallel()
	p := newGatedProvider(t)
	g := startGateway(t, p.deployments("chat=gate=, max_parallel_requests: 1", "breaks=gate-reset=, max_parallel_requests: 1",
		"fails=gate-500=, max_parallel_requests: 1", "slow=gate=, max_parallel_requests: 1, timeout: 3")+
		"router_settings: {num_retries: 0, cooldown_time: 0}\n")
	free := func(what, model string) {
		t.Helper()
		g.until(what, func() bool { // the slot of a caller that left is free once Envoy has reported it
			held := p.send(g, model, "")
			select {
			case <-p.arrived:
			case <-held:
				return false
			}
			full(t, g, what, model, "deployment")
			p.release(t)
			<-held
			return true
		})
	}
	for _, s := range []struct{ what, model, more string }{
		{"answered", "chat", ""},
		{"streamed", "chat", `,"stream":true`},
		{"a provider that fails", "fails", ""},
		{"a provider that breaks off", "breaks", ""},
		{"a stream that breaks off", "breaks", `,"stream":true`},
	} {
		held := p.begin(t, g, s.model, s.more)
		full(t, g, s.what, s.model, "deployment")
		p.release(t)
		<-held
		free(s.what, s.model)
	}

	for range 2 {
		held := p.begin(t, g, "slow", "")
		full(t, g, "before the timeout", "slow", "deployment")
		if a := <-held; a.status != http.StatusGatewayTimeout {
			t.Errorf("timed out: %d %s", a.status, a.body)
		}
	}

	for _, more := range []string{"", `,"stream":true`} {
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+"/v1/chat/completions", strings.NewReader(request("chat", more)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+adminKey)
		r.Header.Set("Content-Type", "application/json")
		left := make(chan struct{})
		go func() {
			defer close(left)
			if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		}()
		p.next(t)
		full(t, g, "before the caller left", "chat", "deployment")
		leave()
		<-left
		free("the caller left"+more, "chat")
	}
}

// Requests go to another deployment or to the fallback while one is full. A fallback
// that is full when its turn comes waits, and ends the request if that takes too long.
func TestParallelRequestsGoElsewhere(t *testing.T) {
	t.Parallel()
	p := newGatedProvider(t)
	g := startGateway(t, p.deployments("chat=gate-a=, order: 1", "chat=gate-b=, order: 2", "spare=gate-c=",
		"broken=fail-500=, max_parallel_requests: 100", "last=gate-d=, timeout: 60", "brief=fail-500=", "short=gate-e=, timeout: 1")+
		`router_settings: {num_retries: 0, cooldown_time: 0, fallbacks: [{chat: [spare]}, {broken: [last]}, {brief: [short]}]}
general_settings: {master_key: `+adminKey+`, max_parallel_requests: 1}
`)
	var held []<-chan *answer
	for _, want := range []string{"gate-a", "gate-b", "gate-c"} {
		out := p.send(g, "chat", "")
		if got := p.next(t); got != want {
			t.Errorf("the request goes to %s, want %s", got, want)
		}
		held = append(held, out)
	}
	full(t, g, "all full", "chat", "deployment")
	for range held {
		p.release(t)
	}
	for i, fallbacks := range []string{"0", "0", "1"} {
		if a := <-held[i]; a.status != http.StatusOK || a.header.Get("x-gateway-attempted-fallbacks") != fallbacks {
			t.Errorf("request %d: %d after %s fallbacks: %s", i, a.status, a.header.Get("x-gateway-attempted-fallbacks"), a.body)
		}
	}

	// The request fails at "broken" while "last" is full, and waits for it.
	busy := p.begin(t, g, "last", "")
	waiting := p.begin(t, g, "broken", "")
	p.release(t)
	if a := <-busy; a.status != http.StatusOK {
		t.Errorf("the first at the fallback: %d %s", a.status, a.body)
	}
	if got := p.next(t); got != "gate-d" {
		t.Errorf("the request goes on to %s", got)
	}
	p.release(t)
	if a := <-waiting; a.status != http.StatusOK || a.header.Get("x-gateway-attempted-fallbacks") != "1" {
		t.Errorf("the one that waited: %d %s", a.status, a.body)
	}

	// "short" has a timeout of 1 s, so the wait for it ends.
	busy = p.begin(t, g, "short", `,"timeout":60`)
	full(t, g, "waited in vain", "brief", "deployment")
	if model := p.next(t); model != "fail-500" {
		t.Errorf("the provider got %s", model)
	}
	p.release(t)
	if a := <-busy; a.status != http.StatusOK {
		t.Errorf("the one that held the slot: %d %s", a.status, a.body)
	}
}

// The node serves as many requests at a time as global_max_parallel_requests allows;
// the management API is not part of that. Limits of deployments can be changed while
// it runs.
func TestParallelRequestsOfTheGateway(t *testing.T) {
	t.Parallel()
	p := newGatedProvider(t)
	g := startGateway(t, p.deployments("chat=gate=")+`router_settings: {num_retries: 0}
general_settings: {master_key: `+adminKey+`, global_max_parallel_requests: 2}
`)
	first, second := p.begin(t, g, "chat", ""), p.begin(t, g, "chat", `,"stream":true`)
	full(t, g, "the gateway is full", "chat", "gateway")
	g.changes("/model/new", tree{"model_name": "one", "litellm_params": tree{
		"model": "openai/gate-one", "api_base": p.url + "/v1", "api_key": "k", "max_parallel_requests": 1,
	}, "model_info": tree{"id": "one-id"}})
	p.release(t)
	p.release(t)
	for _, held := range []<-chan *answer{first, second} {
		if a := <-held; a.status != http.StatusOK {
			t.Errorf("%d %s", a.status, a.body)
		}
	}

	limit := func() any {
		data, _ := g.sees("/model/info?litellm_model_id=one-id").at("data").([]any)
		if len(data) != 1 {
			t.Fatalf("/model/info: %v", data)
		}
		info, _ := data[0].(map[string]any)
		return tree(info).at("gateway_params", "max_parallel_requests")
	}
	if got := limit(); got != 1.0 {
		t.Errorf("/model/info: %v", got)
	}
	g.until("the new model is served", func() bool {
		held := p.send(g, "one", "")
		select {
		case <-p.arrived:
			full(t, g, "the new model", "one", "deployment")
			p.release(t)
			<-held
			return true
		case <-held:
			return false
		}
	})
	g.changes("/model/update", tree{"model_id": "one-id", "gateway_params": tree{"max_parallel_requests": nil}})
	if got := limit(); got != nil {
		t.Errorf("/model/info after the limit was cleared: %v", got)
	}
	g.changes("/config/update", tree{"router_settings": tree{"default_max_parallel_requests": 1}})
	held := p.begin(t, g, "one", "")
	full(t, g, "the new default", "one", "deployment")
	p.release(t)
	<-held
	status, out := g.by(adminKey, "/model/update", tree{"model_id": "one-id", "gateway_params": tree{"max_parallel_requests": -1}})
	if status != http.StatusUnprocessableEntity && status != http.StatusBadRequest {
		t.Errorf("a negative limit: %d %v", status, out)
	}
}
