package fake

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelgateway/modelgateway/examples/upstream/fake/record"
)

// maxBody bounds what a request may send, in bytes: somewhat more than the
// largest body a gateway in front of it should let through.
const maxBody = 96 << 20

// Options are what a Server can be told; the zero value serves everyone.
type Options struct {
	// APIKey, when it is not empty, must come with each request to a model, as a
	// bearer token, a token, as x-api-key, xi-api-key or as x-goog-api-key; anything else is answered with 401.
	APIKey string
}

// Server is the fake provider's handler. It is safe for concurrent use.
type Server struct {
	opts      Options
	rec       *record.Recorder
	kept      kept
	closed    chan struct{}
	closeOnce sync.Once
}

// New makes a Server. Close it before the server that uses it as a handler, or
// requests that hang by design keep that one from shutting down.
func New(opts Options) *Server {
	return &Server{opts: opts, rec: record.New(), closed: make(chan struct{})}
}

// Close ends every request that waits or hangs. It may be called twice.
func (s *Server) Close() { s.closeOnce.Do(func() { close(s.closed) }) }

// ServeHTTP routes by the end of the path, so that a base address with any
// prefix works; the recorded request tells which path was really asked for.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/_fake/requests" && r.Method == http.MethodGet:
		s.listRequests(w, r)
	case path == "/_fake/reset" && r.Method == http.MethodPost:
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	case path == "/_fake/health" && r.Method == http.MethodGet:
		w.WriteHeader(http.StatusNoContent)
	default:
		s.provide(w, r)
	}
}

// provide serves what a provider serves, and records it.
func (s *Server) provide(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	model, hash := modelOf(r, body)
	e := s.rec.Begin(r, body, model, hash)
	w = &statusWriter{ResponseWriter: w, seen: func(status int) { s.rec.Sent(e, status) }}
	// Deferred, because a cut connection is a panic on purpose.
	defer func() { s.rec.End(e, r.Context().Err()) }()
	d := dialectOf(r.URL.Path)
	w.Header().Set("X-Request-Id", "req_fake_"+strconv.Itoa(e.Seq))
	switch {
	case err != nil:
		d.fail(w, failure{status: http.StatusRequestEntityTooLarge, message: "the body is too large or was not sent in full"})
	case !s.authorized(r):
		d.fail(w, failure{status: http.StatusUnauthorized, message: "Incorrect API key provided."})
	case strings.HasSuffix(r.URL.Path, "/models") && r.Method == http.MethodGet:
		listModels(w)
	case d.answer == nil:
		d.fail(w, failure{status: http.StatusNotFound, message: "Unknown request URL: " + r.Method + " " + r.URL.Path})
	case r.Method != http.MethodPost:
		d.fail(w, failure{status: http.StatusMethodNotAllowed, message: "Not allowed to " + r.Method + " on " + r.URL.Path})
	default:
		d.answer(s, &exchange{w: w, r: r, body: body, seq: e.Seq, nth: e.Nth, dialect: d})
	}
}

func (s *Server) authorized(r *http.Request) bool {
	if s.opts.APIKey == "" {
		return true
	}
	if r.Header.Get("Xi-Api-Key") == s.opts.APIKey || r.Header.Get("Authorization") == "Token "+s.opts.APIKey {
		return true
	}
	return r.Header.Get("X-Api-Key") == s.opts.APIKey || r.Header.Get("X-Goog-Api-Key") == s.opts.APIKey || r.Header.Get("Authorization") == "Bearer "+s.opts.APIKey
}

// wait pauses the exchange for d and says whether it may go on: false when the
// caller has left or the server closes.
func (s *Server) wait(x *exchange, d time.Duration) bool {
	if d <= 0 {
		return x.r.Context().Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-x.r.Context().Done():
	case <-s.closed:
	}
	return false
}

// hang waits until the caller leaves or the server closes.
func (s *Server) hang(x *exchange) {
	select {
	case <-x.r.Context().Done():
	case <-s.closed:
	}
}

// exchange is one request and the way to answer it.
type exchange struct {
	w       http.ResponseWriter
	r       *http.Request
	body    []byte
	seq     int // of the request, which its ids are made of
	nth     int // request for this model
	dialect dialect
}

// statusWriter tells which status was sent.
type statusWriter struct {
	http.ResponseWriter
	seen func(status int)
	sent bool
}

func (w *statusWriter) WriteHeader(status int) {
	if !w.sent {
		w.sent = true
		w.seen(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	if !w.sent {
		w.sent = true
		w.seen(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController flush and hijack.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
