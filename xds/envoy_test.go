package xds_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	accesslog "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	als "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	extproc "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"google.golang.org/grpc"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/e2e/porttest"
	"github.com/modelgateway/modelgateway/envoy/bootstrap"
	"github.com/modelgateway/modelgateway/envoy/launch"
	"github.com/modelgateway/modelgateway/xds"
)

// patience bounds every wait of these tests; none of them needs a tenth of it.
const patience = time.Minute

// bodyLimit is smaller than the default, for the sake of the test above it.
const bodyLimit = 8 << 20

// rig is a real Envoy with the gateway's process around it: xDS as it is, and in
// place of ext_proc and of the HTTP server what a test needs.
type rig struct {
	t       *testing.T
	url     string // of Envoy's listener
	server  *xds.Server
	proc    *processor
	log     *attemptLog
	caFile  string
	pids    chan int // of each Envoy that was started
	readies chan int
	stop    func() // stops Envoy and waits
}

func newRig(t *testing.T, c xds.Config, changes ...func(*bootstrap.Config)) *rig {
	t.Helper()
	binary := envoyBinary(t)
	dir, err := os.MkdirTemp("", "xds") //nolint:usetesting // its path is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	r := &rig{
		t: t, server: xds.NewServer(c), proc: &processor{}, log: &attemptLog{entries: make(chan *accesslog.HTTPAccessLogEntry, 100)},
		pids: make(chan int, 100), readies: make(chan int, 100),
	}
	listen := porttest.Free(t)
	r.url = "http://" + listen.String()
	conf := bootstrap.Config{
		AdminSocket: filepath.Join(dir, "a"), ProcessorSocket: filepath.Join(dir, "p"), BodiesSocket: filepath.Join(dir, "b"), GatewaySocket: filepath.Join(dir, "g"), GRPCSocket: filepath.Join(dir, "r"),
		Address: listen.Addr().String(), Port: listen.Port(), RequestTimeout: patience, BodyLimit: bodyLimit,
	}
	for _, change := range changes {
		change(&conf)
	}
	page, err := bootstrap.Render(conf)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup

	g := grpc.NewServer(grpc.MaxRecvMsgSize(65<<20), grpc.MaxSendMsgSize(65<<20))
	r.server.Register(g)
	extproc.RegisterExternalProcessorServer(g, r.proc)
	als.RegisterAccessLogServiceServer(g, r.log)
	for _, path := range []string{conf.ProcessorSocket, conf.BodiesSocket} {
		l := listenUnix(t, path)
		running.Go(func() { _ = g.Serve(l) })
	}
	running.Go(func() { _ = r.server.Run(ctx) })

	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("X-Gateway-Saw", q.Method+" "+q.URL.Path)
		for name, values := range q.Header {
			w.Header().Add("X-Seen", name+": "+strings.Join(values, ","))
		}
		_, _ = io.WriteString(w, "gateway")
	}))
	_ = web.Listener.Close()
	web.Listener = listenUnix(t, conf.GatewaySocket)
	web.Start()

	level := slog.LevelWarn
	l, err := launch.New(launch.Config{
		Path: binary, Bootstrap: page, RunDir: filepath.Join(dir, "run"), AdminSocket: conf.AdminSocket,
		Concurrency: 1, Drain: time.Second, Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: level})),
		Events: launch.Events{
			Started: func(pid int) { r.pids <- pid },
			Ready:   func(pid int) { r.readies <- pid },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	envoyCtx, stopEnvoy := context.WithCancel(context.Background())
	envoyDone := make(chan error, 1)
	go func() { envoyDone <- l.Run(envoyCtx) }()
	r.stop = sync.OnceFunc(func() {
		stopEnvoy()
		if err := <-envoyDone; err != nil {
			t.Errorf("envoy: %v", err)
		}
	})
	t.Cleanup(func() {
		r.stop()
		cancel()
		g.Stop()
		web.Close()
		running.Wait()
	})
	return r
}

// publish translates and publishes the endpoints of the given providers.
func (r *rig) publish(on catalog.RetryOn, urls ...string) []catalog.Endpoint {
	r.t.Helper()
	in := xds.Input{BodyLimit: bodyLimit, CAFile: r.caFile, Router: catalog.RouterSettings{RetryOn: on}}
	for _, u := range urls {
		e, _, err := catalog.ParseBase(u)
		if err != nil {
			r.t.Fatal(err)
		}
		in.Endpoints = append(in.Endpoints, e)
	}
	res, err := xds.Translate(in)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.server.Publish(res); err != nil {
		r.t.Fatal(err)
	}
	return in.Endpoints
}

// serve waits until Envoy serves and has the endpoints.
func (r *rig) serve(endpoints ...catalog.Endpoint) {
	r.t.Helper()
	select {
	case <-r.readies:
	case <-time.After(patience):
		r.t.Fatal("envoy does not get ready")
	}
	r.eventually("ready", r.server.Ready)
	for _, e := range endpoints {
		r.eventually("acked "+string(e.ID), func() bool { return acked(r.server, e.ID) })
	}
}

func (r *rig) eventually(what string, f func() bool) {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !f(); <-tick.C {
		if time.Now().After(deadline) {
			r.t.Fatalf("did not happen: %s", what)
		}
	}
}

type answer struct {
	status int
	header http.Header
	body   string
}

// post sends an inference request.
func (r *rig) post(body string, header ...string) answer {
	r.t.Helper()
	return r.do(http.MethodPost, "/v1/chat/completions", body, header...)
}

func (r *rig) do(method, path, body string, header ...string) answer {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		q.Header.Add(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("body after status %d: %v", resp.StatusCode, err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// provider is an upstream that answers as told and remembers what it was asked.
type provider struct {
	*httptest.Server

	mu   sync.Mutex
	seen []seen
}

// newTLSProvider answers over TLS with the protocol that it is spoken to in.
func newTLSProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{Server: httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.WriteString(w, q.Proto)
	}))}
	p.EnableHTTP2 = true
	p.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	p.StartTLS()
	t.Cleanup(p.Close)
	return p
}

type seen struct {
	path   string
	host   string
	header http.Header
	body   string
	length int64
}

func newProvider(t *testing.T, answer http.HandlerFunc) *provider {
	t.Helper()
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.seen = append(p.seen, seen{q.URL.RequestURI(), q.Host, q.Header.Clone(), string(body), q.ContentLength})
		p.mu.Unlock()
		answer(w, q)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) requests() []seen {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]seen(nil), p.seen...)
}

// fine answers 200.
func fine(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "fine") }

// attemptLog receives what Envoy says of failed attempts.
type attemptLog struct {
	als.UnimplementedAccessLogServiceServer

	entries chan *accesslog.HTTPAccessLogEntry
}

func (a *attemptLog) StreamAccessLogs(s als.AccessLogService_StreamAccessLogsServer) error {
	for {
		m, err := s.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return s.SendAndClose(&als.StreamAccessLogsResponse{})
			}
			return err
		}
		for _, e := range m.GetHttpLogs().GetLogEntry() {
			a.entries <- e
		}
	}
}

func (a *attemptLog) next(t *testing.T) *accesslog.HTTPAccessLogEntry {
	t.Helper()
	select {
	case e := <-a.entries:
		return e
	case <-time.After(patience):
		t.Fatal("no entry in the attempt log")
		return nil
	}
}

func listenUnix(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// envoyBinary is the Envoy that these tests run: $MODELGATEWAY_ENVOY, or what
// make fetched. Without one they fail: they would prove nothing.
func envoyBinary(t *testing.T) string {
	t.Helper()
	path, err := launch.Locate(os.Getenv("MODELGATEWAY_ENVOY"), "../.tmp/envoy-1.40.0/envoy/_bin/envoy", nil)
	if err != nil {
		t.Fatalf("these tests need Envoy; run make or set MODELGATEWAY_ENVOY: %v", err)
	}
	return path
}
