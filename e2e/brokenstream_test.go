package e2e

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/envoy/contract"
)

// tokenEvent is one event of a provider whose streams break off.
const tokenEvent = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"tok "},"finish_reason":null}]}` + "\n\n"

// breaker is a provider of streams that break off. Each has three events, and breaks off
// once the test has released it.
type breaker struct {
	release  chan struct{}
	url, tls string // HTTP/1.1, and HTTP/2
}

func newBreaker(t *testing.T) *breaker {
	t.Helper()
	b := &breaker{release: make(chan struct{})}
	plain := httptest.NewServer(http.HandlerFunc(b.cut))
	t.Cleanup(plain.Close)
	b.url = plain.URL

	cert, authority := certificate(t, "localhost")
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, authority, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", bundle)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(b.reset))
	secure.EnableHTTP2 = true
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	_, port, err := net.SplitHostPort(secure.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b.tls = "https://localhost:" + port
	return b
}

// cut breaks a connection of HTTP/1.1 in the way that is the last word of the key.
func (b *breaker) cut(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	conn, buf, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	chunk := func(data string) {
		_, _ = fmt.Fprintf(buf, "%x\r\n%s\r\n", len(data), data)
		_ = buf.Flush()
	}
	_, _ = buf.WriteString("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
	for range 3 {
		chunk(tokenEvent)
	}
	how := r.Header.Get("Authorization")
	if strings.HasSuffix(how, "done") { // the last chunk is missing, and no more
		chunk(strings.Replace(tokenEvent, "null", `"stop"`, 1))
		chunk("data: [DONE]\n\n")
	}
	<-b.release
	switch {
	case strings.HasSuffix(how, "rst"):
		_ = conn.(*net.TCPConn).SetLinger(0)
	case strings.HasSuffix(how, "fin"): // in the middle of a chunk, and of an event
		_, _ = buf.WriteString("200\r\ndata: {\"id\":\"c\",\"cho")
		_ = buf.Flush()
	}
}

// reset resets a stream of HTTP/2.
func (b *breaker) reset(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	for range 3 {
		_, _ = io.WriteString(w, tokenEvent)
		_ = http.NewResponseController(w).Flush()
	}
	<-b.release
	panic(http.ErrAbortHandler)
}

// models is a configuration with a model for each way to break off.
func (b *breaker) models() string {
	list := "router_settings: {num_retries: 0, cooldown_time: 0}\nmodel_list:\n"
	for how, url := range map[string]string{"rst": b.url, "fin": b.url, "done": b.url, "h2": b.tls} {
		list += "  - {model_name: " + how + ", gateway_params: {model: openai_compatible/m, api_base: \"" + url + "/v1\", api_key: sk-" + how + "}}\n"
	}
	return list
}

// protocol is an HTTP client of one version.
func protocol(t *testing.T, http2 bool) *http.Client {
	t.Helper()
	p := new(http.Protocols)
	p.SetHTTP1(!http2)
	p.SetUnencryptedHTTP2(http2)
	tr := &http.Transport{Protocols: p}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// broken is a stream as its caller saw it: what came before the provider broke off, and
// after, and how the body ended.
type broken struct {
	id, before, after string
	err               error
}

// readStream sends a streamed request, reads at least three events and up to until, has the
// provider break off, and reads the rest.
func (g *gatewayProcess) readStream(b *breaker, client *http.Client, model, until string) broken {
	g.t.Helper()
	return g.readStreamOf(streamed{"/v1/chat/completions", request(model, `,"stream":true`), model}, b, client, until)
}

// streamed is a request for a stream.
type streamed struct{ path, body, model string }

// readStreamOf is readStream for any request.
func (g *gatewayProcess) readStreamOf(of streamed, b *breaker, client *http.Client, until string) broken {
	g.t.Helper()
	model := of.model
	r, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost, g.url+of.path, strings.NewReader(of.body))
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminKey)
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		g.t.Errorf("%s: %d %s", model, resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	body, before := bufio.NewReader(resp.Body), ""
	for !strings.HasSuffix(before, until) || strings.Count(before, "\n\n") < 3 {
		line, err := body.ReadString('\n')
		if before += line; err != nil {
			g.t.Fatalf("%s ends with %v after %q", model, err, before)
		}
	}
	b.release <- struct{}{}
	rest, err := io.ReadAll(body)
	return broken{resp.Header.Get("x-gateway-request-id"), before, string(rest), err}
}

// A stream that its provider resets ends for a caller of HTTP/1.1 with an error event, no
// [DONE], and a clean end. It is charged and reported as any that breaks off.
func TestResetStreams(t *testing.T) {
	b := newBreaker(t)
	g := startGateway(t, b.models())
	for how, cause := range map[string]string{"rst": "stream_cut", "fin": "stream_cut", "h2": "reset"} {
		for range 3 { // an Envoy that loses its balance would not serve the next one
			// A connection ends with its stream, so each stream has one of its own.
			s := g.readStream(b, protocol(t, false), how, "\n\n")
			if s.err != nil {
				t.Errorf("%s: the body does not end cleanly: %v", how, s.err)
			}
			var last errorBody
			data, isData := strings.CutPrefix(s.after, "data: ")
			err := json.Unmarshal([]byte(strings.TrimSuffix(data, "\n\n")), &last)
			if !isData || err != nil || !strings.HasSuffix(s.after, "}\n\n") || last.Error.Code == nil || *last.Error.Code != "upstream_cut" {
				t.Errorf("%s: after %q came %q: %v", how, s.before, s.after, err)
			}
			g.eventually(s.id, func(l spendLog) bool {
				return l.Status == "failed" && l.ErrorCode == "upstream_cut" && l.CompletionTokens == 3
			})
			g.until("the log names the cause of "+how, func() bool { return slices.Equal(causesLogged(g.log.String(), s.id), []string{cause}) })
		}
	}
	if strings.Contains(g.log.String(), "envoy died") {
		t.Error("Envoy died")
	}
}

// Over HTTP/2 the gateway resets the caller's stream. The caller receives no [DONE], and
// its connection stays open.
func TestResetStreamsOverHTTP2(t *testing.T) {
	b := newBreaker(t)
	g := startGateway(t, b.models())
	client := protocol(t, true)
	for _, how := range []string{"rst", "fin", "h2", "rst"} {
		s := g.readStream(b, client, how, "\n\n")
		if s.err == nil || !strings.Contains(s.err.Error(), "stream error") {
			t.Errorf("%s: the stream is not reset: %v", how, s.err)
		}
		if strings.Contains(s.before+s.after, "[DONE]") || !strings.HasSuffix(s.before+s.after, "\n\n") {
			t.Errorf("%s: %q", how, s.before+s.after)
		}
	}
}

// A provider that breaks off after its whole answer takes nothing from it: the caller
// gets no error event behind [DONE], and a clean end.
func TestResetAfterDone(t *testing.T) {
	b := newBreaker(t)
	g := startGateway(t, b.models())
	if s := g.readStream(b, protocol(t, false), "done", "data: [DONE]\n\n"); s.err != nil || s.after != "" {
		t.Errorf("behind [DONE] %q: %v", s.after, s.err)
	}
}

// The error event has the form of the caller's language, and nothing follows a complete response in
// any of them.
func TestResetStreamsOfOtherLanguages(t *testing.T) {
	b := newBreaker(t)
	g := startGateway(t, b.models())
	for _, c := range []struct{ path, body, event, last string }{
		{"/v1/messages?beta=true", `{"model":%q,"max_tokens":9,"stream":true,"messages":[{"role":"user","content":"a"}]}`, "event: error\ndata: {\"type\":\"error\"", "{\"type\":\"message_stop\"}\n\n"},
		{"/cohere/v2/chat", `{"model":%q,"stream":true,"messages":[{"role":"user","content":"a"}]}`, "event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"error\":\"", ""},
		{"/responses", `{"model":%q,"stream":true,"input":"a"}`, "event: error\ndata: {\"type\":\"error\"", ""},
	} {
		s := g.readStreamOf(streamed{c.path, fmt.Sprintf(c.body, "rst"), "rst"}, b, protocol(t, false), "\n\n")
		if s.err != nil || !strings.Contains(s.after, c.event) || !strings.Contains(s.after, "broke off") {
			t.Errorf("%s: after %q came %q: %v", c.path, s.before, s.after, s.err)
		}
		if c.last == "" {
			continue
		}
		if s := g.readStreamOf(streamed{c.path, fmt.Sprintf(c.body, "done"), "done"}, b, protocol(t, false), c.last); s.err != nil || s.after != "" {
			t.Errorf("%s: behind the last event came %q: %v", c.path, s.after, s.err)
		}
	}
}

// Without the module the caller sees that the body is not whole, and no [DONE].
func TestResetStreamsWithoutModule(t *testing.T) {
	alone := filepath.Join(t.TempDir(), "modelgateway")
	if err := os.Link(binary(t), alone); err != nil {
		t.Fatal(err)
	}
	b := newBreaker(t)
	g := newGateway(t, b.models())
	g.program = alone
	g.start()
	if !strings.Contains(g.log.String(), contract.StreamEndFile) {
		t.Error("the log does not say that the module is missing")
	}
	for _, http2 := range []bool{false, true} {
		for _, how := range []string{"rst", "fin", "h2"} {
			s := g.readStream(b, protocol(t, http2), how, "\n\n")
			if s.err == nil || strings.Contains(s.before+s.after, "[DONE]") {
				t.Errorf("HTTP/2 %v, %s: %v after %q", http2, how, s.err, s.before+s.after)
			}
		}
	}
}
