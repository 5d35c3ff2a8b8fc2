package e2e

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/e2e/porttest"
	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// adminKey is the master key of every gateway that the tests start.
const adminKey = "sk-admin-0123456789abcdef"

// envoyPath is the Envoy that the tests drive. There is no test without one.
func envoyPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("MODELGATEWAY_ENVOY")
	if path == "" {
		path = ".tmp/envoy-1.40.0/envoy/_bin/envoy"
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no Envoy to test with; run: make envoy (%v)", err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// upstream is a fake provider on a port of its own.
type upstream struct {
	*fake.Server
	url   string
	loose bool // its callers may send what is not valid by OpenAI's document
}

func newUpstream(t *testing.T) *upstream {
	t.Helper()
	f := fake.New(fake.Options{})
	srv := httptest.NewServer(f)
	u := &upstream{Server: f, url: srv.URL}
	t.Cleanup(func() {
		judgeRequests(t, u)
		f.Close()
		srv.Close()
	})
	return u
}

// gatewayProcess is the real binary with a real Envoy.
type gatewayProcess struct {
	t      *testing.T
	url    string
	data   string
	config string
	cmd    *exec.Cmd
	exited chan error
	log    *lockedBuffer
	args   []string // further flags

	program string // the binary, if not the one of all tests
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startGateway runs a gateway with the models section (and whatever else) of
// config; the master key is added. It is stopped, and its log checked for
// secrets, when the test ends.
func startGateway(t *testing.T, config string) *gatewayProcess {
	t.Helper()
	g := newGateway(t, config)
	g.start()
	return g
}

// newGateway is startGateway without the start.
func newGateway(t *testing.T, config string) *gatewayProcess {
	t.Helper()
	dir := t.TempDir()
	g := &gatewayProcess{t: t, data: filepath.Join(dir, "data"), config: filepath.Join(dir, "gateway.yaml")}
	text := config
	if !strings.Contains(config, "general_settings:") {
		text += "\ngeneral_settings:\n  master_key: " + adminKey + "\n"
	}
	if err := os.WriteFile(g.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if g.cmd == nil {
			return
		}
		g.stop()
		if t.Failed() {
			t.Logf("gateway's log:\n%s", g.log.String())
		}
		if strings.Contains(g.log.String(), adminKey) {
			t.Error("the gateway's log has the master key in it")
		}
	})
	return g
}

// start launches the gateway and waits until it is ready.
func (g *gatewayProcess) start() {
	g.t.Helper()
	g.launch()
	g.awaitReady()
}

func (g *gatewayProcess) launch() {
	g.t.Helper()
	listen := freePort(g.t)
	g.url = "http://" + listen
	g.log = &lockedBuffer{}
	g.cmd = exec.Command(cmp.Or(g.program, binary(g.t)), "serve", "--config", g.config, "--data", g.data, "--listen", listen, "--envoy-path", envoyPath(g.t))
	g.cmd.Args = append(g.cmd.Args, g.args...)
	g.cmd.Stderr = g.log
	g.cmd.Stdout = g.log
	if err := g.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.exited = make(chan error, 1)
	go func(cmd *exec.Cmd, exited chan error) { exited <- cmd.Wait() }(g.cmd, g.exited)
}

// awaitReady polls the readiness probe, as an orchestrator does.
func (g *gatewayProcess) awaitReady() {
	g.t.Helper()
	g.until("the gateway is ready", func() bool {
		resp, err := http.Get(g.url + "/health/readiness")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// until waits for something that the gateway does by itself.
func (g *gatewayProcess) until(what string, done func() bool) {
	g.t.Helper()
	deadline := time.After(60 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case err := <-g.exited:
			g.exited <- err
			g.t.Fatalf("the gateway ended before %s: %v\n%s", what, err, g.log.String())
		case <-deadline:
			g.t.Fatalf("after a minute it is not true that %s:\n%s", what, g.log.String())
		case <-tick.C:
		}
	}
}

// stop ends the gateway as an operator does, and checks that it ended well.
func (g *gatewayProcess) stop() {
	g.t.Helper()
	select {
	case err := <-g.exited:
		g.exited <- err
		return
	default:
	}
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		g.t.Error(err)
	}
	select {
	case err := <-g.exited:
		g.exited <- err
		if err != nil {
			g.t.Errorf("the gateway ended with %v", err)
		}
	case <-time.After(60 * time.Second):
		stacks := make([]byte, 1<<16)
		g.t.Errorf("the gateway did not end within a minute\n%s", stacks[:runtime.Stack(stacks, true)])
		_ = g.cmd.Process.Signal(syscall.SIGQUIT)
		g.exited <- <-g.exited
	}
}

// kill ends the gateway with SIGKILL.
func (g *gatewayProcess) kill() {
	g.t.Helper()
	if err := g.cmd.Process.Kill(); err != nil {
		g.t.Fatal(err)
	}
	err := <-g.exited
	g.exited <- err
}

// freePort returns an address that nobody listens at, and nobody else will.
func freePort(t *testing.T) string {
	t.Helper()
	return porttest.Free(t).String()
}

// answer is what a caller gets.
type answer struct {
	status int
	header http.Header
	body   string
}

// errorBody is the error of an answer in OpenAI's shape.
type errorBody struct {
	Error struct {
		Message string         `json:"message"`
		Type    string         `json:"type"`
		Param   *string        `json:"param"`
		Code    *string        `json:"code"`
		Details map[string]any `json:"details"`
	} `json:"error"`
}

func (a *answer) error(t *testing.T) errorBody {
	t.Helper()
	var e errorBody
	if err := json.Unmarshal([]byte(a.body), &e); err != nil || e.Error.Message == "" || e.Error.Type == "" || e.Error.Code == nil {
		t.Fatalf("status %d, not an error in OpenAI's shape: %v: %s", a.status, err, a.body)
	}
	return e
}

type option func(*http.Request)

func with(name, value string) option {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func without(name string) option {
	return func(r *http.Request) { r.Header.Del(name) }
}

// chat posts a body to chat completions with the admin key.
func (g *gatewayProcess) chat(body string, options ...option) *answer {
	g.t.Helper()
	return g.do(http.MethodPost, "/v1/chat/completions", strings.NewReader(body), options...)
}

func (g *gatewayProcess) get(path string, options ...option) *answer {
	g.t.Helper()
	return g.do(http.MethodGet, path, nil, options...)
}

func (g *gatewayProcess) do(method, path string, body io.Reader, options ...option) *answer {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, g.url+path, body)
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+adminKey)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, o := range options {
		o(r)
	}
	noteRequest(g.t, r)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		b = append(b, []byte("\n<"+err.Error()+">")...)
	}
	if strings.Contains(string(b), `"upstream_cut"`) {
		// Such a stream ends its connection. The next request must not meet the FIN; see
		// "A stream that the provider resets" in extproc/DESIGN.md.
		g.closeIdle()
	}
	a := &answer{status: resp.StatusCode, header: resp.Header, body: string(b)}
	judgeAnswer(g.t, r, a)
	return a
}

// closeIdle closes the connections that no request uses.
func (g *gatewayProcess) closeIdle() {
	if tr, ok := http.DefaultTransport.(*http.Transport); ok {
		tr.CloseIdleConnections()
	}
}

// failedTry is why an attempt failed, in /spend/logs and in x-gateway-debug.
type failedTry struct {
	Attempt   int    `json:"attempt"`
	ModelID   string `json:"model_id"`
	Status    int    `json:"upstream_status"`
	Cause     string `json:"cause"`
	Type      string `json:"error_type"`
	Code      string `json:"error_code"`
	Message   string `json:"message"`
	RequestID string `json:"provider_request_id"`
}

// spendLog is a row of /spend/logs.
type spendLog struct {
	RequestID        string         `json:"request_id"`
	KeyAlias         string         `json:"key_alias"`
	Spend            jsontext.Value `json:"spend"`
	PromptTokens     int64          `json:"prompt_tokens"`
	CompletionTokens int64          `json:"completion_tokens"`
	Source           string         `json:"usage_source"`
	Capped           bool           `json:"usage_capped"`
	Model            string         `json:"model"`
	ModelID          string         `json:"model_id"`
	Group            string         `json:"model_group"`
	Status           string         `json:"status"`
	ErrorCode        string         `json:"error_code"`
	HTTPStatus       int            `json:"http_status"`
	Finish           string         `json:"finish_reason"`
	Attempt          int            `json:"attempt"`
	Retries          int            `json:"retry_count"`
	Fallbacks        int            `json:"fallback_count"`
	ClientStatus     int            `json:"client_status"`
	Failures         []failedTry    `json:"failures"`
	Stream           bool           `json:"stream"`
	EndUser          string         `json:"end_user"`
	Session          string         `json:"session_id"`
	APIBase          string         `json:"api_base"`
	Tags             []string       `json:"request_tags"`
	Passthrough      *passedRow     `json:"passthrough"`
}

// passedRow is a request that was passed on unread.
type passedRow struct {
	Method   string `json:"method"`
	Path     string `json:"path"`
	Request  int64  `json:"request_bytes"`
	Response int64  `json:"response_bytes"`
}

// waitPosted waits until what this node has recorded is in the ledger.
func (g *gatewayProcess) waitPosted() {
	g.t.Helper()
	end := time.After(time.Minute)
	for !strings.Contains(g.get("/metrics").body, "\ngateway_journal_backlog 0\n") {
		select {
		case <-end:
			g.t.Fatal("what was recorded is not posted")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// spend reads the usage events of one request, the first attempt first; of all
// requests if request is empty.
func (g *gatewayProcess) spend(request string) []spendLog {
	g.t.Helper()
	g.waitPosted()
	a := g.get("/spend/logs?limit=1000&request_id=" + request)
	var rows []spendLog
	if err := json.Unmarshal([]byte(a.body), &rows); err != nil || a.status != http.StatusOK {
		g.t.Fatalf("/spend/logs: %d %v: %s", a.status, err, a.body)
	}
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

// one returns the only usage event of a request. A request that its caller has left is settled a moment after it ended.
func (g *gatewayProcess) one(a *answer) spendLog {
	g.t.Helper()
	var rows []spendLog
	g.until("the request has a usage event", func() bool {
		rows = g.spend(a.header.Get("x-gateway-request-id"))
		return len(rows) > 0
	})
	if len(rows) != 1 {
		g.t.Fatalf("%d usage events, want 1: %+v", len(rows), rows)
	}
	return rows[0]
}
