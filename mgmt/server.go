package mgmt

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/keys"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Events is where usage is read from.
type Events interface {
	// Scan calls yield for the events that match, the newest first, until it returns false.
	Scan(ctx context.Context, f journal.Filter, yield func(journal.Event) bool) error
}

// Config is what the server stands on. All of it is required.
type Config struct {
	View func() *cluster.View
	// Identify says who presents credentials, by a View.
	Identify func(v *cluster.View, p keys.Presented, now time.Time) (keys.Principal, error)
	State    State
	Events   Events
	Ready    func(ctx context.Context) error // nil, or why no traffic should come here
	Metrics  http.Handler                    // Prometheus's exposition
	Logger   *slog.Logger
	Version  string
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
	rest, err := s.rest()
	if err != nil {
		return nil, err
	}
	for _, r := range s.plain() {
		s.handle(r, s.guard(r.access, r.handler))
	}
	for _, r := range s.management(rest) {
		guarded := s.guard(r.access, r.handler)
		s.handle(r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			guarded.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), managementKey{}, true)))
		}))
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

func (s *Server) handle(r route, h http.Handler) {
	for _, p := range r.paths {
		s.mux.Handle(r.method+" "+p, h)
	}
}

// plain are the routes whose errors are as OpenAI has them and no more.
func (s *Server) plain() []route {
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
		{http.MethodPost, []string{"/v1/chat/completions", "/chat/completions"}, anyKey, s.bodyless},
	}
}

// management are the routes of the management API. rest answers them, but for the
// two that carry files.
func (s *Server) management(rest http.Handler) []route {
	deleteKeys := s.command(rest, &gatewayv1.DeleteKeysRequest{}, nil)
	deleteModel := s.command(rest, &gatewayv1.DeleteModelRequest{}, nil)
	none := &gatewayv1.GetStatusRequest{} // no parameters
	return []route{
		{http.MethodGet, []string{"/spend/logs"}, admin, rest.ServeHTTP},

		{http.MethodPost, []string{"/key/generate"}, admin, s.command(rest, &gatewayv1.GenerateKeyRequest{}, nil)},
		{http.MethodGet, []string{"/key/info"}, anyKey, s.query(rest, &gatewayv1.GetKeyRequest{})},
		{http.MethodGet, []string{"/key/list"}, admin, s.query(rest, &gatewayv1.ListKeysRequest{})},
		{http.MethodPost, []string{"/key/delete"}, admin, deleteKeys},
		{http.MethodDelete, []string{"/key/delete"}, admin, deleteKeys},

		{http.MethodPost, []string{"/model/new"}, admin, s.command(rest, &gatewayv1.CreateModelRequest{}, modelForms)},
		{http.MethodGet, []string{"/model/info", "/v1/model/info"}, anyKey, s.query(rest, &gatewayv1.ListModelInfoRequest{})},
		{http.MethodPost, []string{"/model/delete"}, admin, deleteModel},
		{http.MethodDelete, []string{"/model/delete"}, admin, deleteModel},

		{http.MethodGet, []string{"/config", "/router/settings"}, admin, s.query(rest, none)},
		{http.MethodPost, []string{"/config/update"}, admin, s.command(rest, &gatewayv1.UpdateConfigRequest{}, nil)},

		{http.MethodGet, []string{"/cluster/status"}, admin, s.query(rest, none)},
		{http.MethodGet, []string{"/cluster/members"}, admin, s.query(rest, none)},
		{http.MethodPost, []string{"/cluster/remove"}, admin, s.command(rest, &gatewayv1.RemoveMemberRequest{}, nil)},
		{http.MethodDelete, []string{"/cluster/members/{node_id}"}, admin, s.query(rest, none)},
		{http.MethodGet, []string{"/cluster/snapshot"}, admin, s.snapshot},
		{http.MethodPost, []string{"/cluster/restore"}, admin, s.restore},
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
		view := s.cfg.View()
		p, err := s.cfg.Identify(view, presented(r.Header), time.Now())
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		if a == admin && !p.Master {
			s.refuse(w, r, fault.New(fault.Denied, "insufficient_permissions", "Only an admin key may do that."))
			return
		}
		ctx := context.WithValue(r.Context(), principalKey{}, p)
		next(w, r.WithContext(context.WithValue(ctx, shownKey{}, &shown{view: view})))
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

// straight refuses paths that have to be put straight first, which the mux would
// do: something before the gateway that guards some of its paths may read them
// differently.
func (s *Server) straight(w http.ResponseWriter, r *http.Request) {
	if clean := path.Clean(r.URL.Path); clean != r.URL.Path && clean+"/" != r.URL.Path {
		stamp(w, r)
		s.refuse(w, r, fault.New(fault.NotFound, "not_found", "There is nothing at this path: it has dot segments or empty ones."))
		return
	}
	s.mux.ServeHTTP(w, r)
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
		Handler:           http.HandlerFunc(s.straight),
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
