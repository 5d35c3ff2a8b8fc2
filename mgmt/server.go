package mgmt

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/keys"
)

// Events is where usage is read from.
type Events interface {
	// Scan calls yield for the events that match, the newest first, until it returns false.
	Scan(ctx context.Context, f journal.Filter, yield func(journal.Event) bool) error
}

// Config is what the server stands on. All of it is required.
type Config struct {
	View    func() *cluster.View
	Events  Events
	Ready   func(ctx context.Context) error // nil, or why no traffic should come here
	Metrics http.Handler                    // Prometheus's exposition
	Logger  *slog.Logger
	Version string
	// OpenMetrics lets anybody read /metrics. Labels name models and deployments.
	OpenMetrics bool
}

// Server answers requests that Envoy does not send to a provider.
type Server struct {
	cfg Config
	mux *http.ServeMux
}

// New returns a server.
func New(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, mux: http.NewServeMux()}
	spend, err := s.spend()
	if err != nil {
		return nil, err
	}
	for _, r := range s.routes(spend) {
		for _, path := range r.paths {
			s.mux.Handle(r.method+" "+path, s.guard(r.access, r.handler))
		}
	}
	s.mux.HandleFunc("/", s.unknown)
	return s, nil
}

// access says who may use a route.
type access uint8

// Who may use a route: with no key, with any valid key, with the master key.
const (
	public access = iota
	anyKey
	admin
)

// route is one row of the table of all routes.
type route struct {
	method  string
	paths   []string
	access  access
	handler http.HandlerFunc
}

func (s *Server) routes(spend http.Handler) []route {
	metrics := admin
	if s.cfg.OpenMetrics {
		metrics = public
	}
	return []route{
		{http.MethodGet, []string{"/health/liveliness", "/health/liveness"}, public, s.alive},
		{http.MethodGet, []string{"/health/readiness"}, public, s.readiness},
		{http.MethodGet, []string{"/v1/models", "/models"}, anyKey, s.models},
		{http.MethodGet, []string{"/v1/models/{model...}", "/models/{model...}"}, anyKey, s.model},
		{http.MethodGet, []string{"/metrics"}, metrics, s.cfg.Metrics.ServeHTTP},
		{http.MethodGet, []string{"/spend/logs"}, admin, spend.ServeHTTP},
		{http.MethodPost, []string{"/v1/chat/completions", "/chat/completions"}, anyKey, s.bodyless},
	}
}

// principalKey is where guard leaves who is asking.
type principalKey struct{}

func principal(ctx context.Context) keys.Principal {
	p, _ := ctx.Value(principalKey{}).(keys.Principal)
	return p
}

// guard lets through who may use a route.
func (s *Server) guard(a access, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stamp(w, r)
		if a == public {
			next(w, r)
			return
		}
		p, err := s.cfg.View().Keys.Authenticate(presented(r.Header), time.Now())
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		if a == admin && !p.Master {
			s.refuse(w, r, fault.New(fault.Denied, "insufficient_permissions", "Only an admin key may do that."))
			return
		}
		next(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, p)))
	})
}

// presented collects the credentials of a request. Two headers of one name are
// two credentials.
func presented(h http.Header) keys.Presented {
	var p keys.Presented
	for _, name := range []string{keys.HeaderAuthorization, keys.HeaderAnthropic, keys.HeaderAzure, keys.HeaderGoogle, keys.HeaderGateway} {
		for _, v := range h.Values(name) {
			p.Add(name, v)
		}
	}
	return p
}

// bodyless refuses a request for inference that came without a body.
func (s *Server) bodyless(w http.ResponseWriter, r *http.Request) {
	s.refuse(w, r, fault.New(fault.Malformed, "invalid_json", "The body is empty; send a JSON object with model and messages."))
}

// unknown answers for every path that is not in the table, and for the methods
// that a path in it does not take.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	stamp(w, r)
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := s.mux.Handler(probe); pattern != "/" && pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		s.refuse(w, r, fault.New(fault.NotFound, "not_found", "There is nothing at this path."))
		return
	}
	for _, m := range allowed {
		w.Header().Add("Allow", m)
	}
	s.refuse(w, r, fault.New(fault.MethodNotAllowed, "", "This path does not take that method; see the header Allow."))
}

// Serve answers requests on l until ctx ends, and then lets those under way end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	srv := &http.Server{
		Handler:           s.mux,
		ReadHeaderTimeout: 10 * time.Second,
		// Envoy is the only client. It closes what it no longer needs; a shorter
		// time here than there would race with a request on its way.
		IdleTimeout: 5 * time.Minute,
		ErrorLog:    slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		stopped <- srv.Shutdown(grace)
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
