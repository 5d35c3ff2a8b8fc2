package mgmt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"buf.build/go/protovalidate"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/mgmt/openapi"
	"github.com/modelgateway/modelgateway/proto/gen/gateway/surface"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Config is what the server stands on. All of it is required, but for Prices.
type Config struct {
	View func() *cluster.View
	// Identify says who presents credentials, by a View.
	Identify func(v *cluster.View, p tenancy.Presented, now time.Time) (tenancy.Principal, error)
	State    State
	Sealer   Sealer
	Ledger   Ledger
	Audit    AuditLog
	Notices  Notices
	// Prices reads the table of prices from where the configuration says that it is;
	// nil where it says nothing.
	Prices func(ctx context.Context) ([]byte, error)
	// Webhook is where a View has the audit log sent to, and Guard says which addresses
	// that may be.
	Webhook func(v *cluster.View) delivery.Settings
	// Pace is how many records the webhook gets at a time where the settings do not say
	// it: as the configuration file has it.
	Pace  delivery.Pace
	Guard delivery.Guard
	// PrivateEndpoints lets deployments and credentials have addresses in private
	// networks and on this machine.
	PrivateEndpoints bool
	Ready            func(ctx context.Context) error // nil, or why no traffic should come here
	// Defaults are what users and teams get that are created without it.
	Defaults tenancy.Defaults
	// KeyRules are what the operator allows of new keys.
	KeyRules tenancy.KeyRules
	Metrics  http.Handler // Prometheus's exposition; labels name models, deployments, teams and aliases of keys
	Logger   *slog.Logger
	Version  string
	OpenAPI  string // the API's description, an OpenAPI document
	// BeginReport is called before a report over the ledger is computed, and what it
	// returns afterwards; nil: nothing is.
	BeginReport func() (end func())
}

// stopTime bounds how long requests under way may take to end.
const stopTime = 5 * time.Second

// Server answers requests that Envoy does not send to a provider, over HTTP and
// over gRPC.
type Server struct {
	cfg        Config
	mux        *http.ServeMux
	operations operations
	reports    *reports
	rules      protovalidate.Validator
	reference  *openapi.Reference
	refused    map[string]bool // patterns that are in the mux for it not to redirect
	lines      lineLimit       // of what is logged of refusals and reads
	paths      []string        // of all routes, sorted: what a 404 may suggest
}

// New returns a server.
func New(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, mux: http.NewServeMux(), refused: map[string]bool{}, reference: openapi.New(cfg.OpenAPI), reports: newReports(cfg.BeginReport)}
	s.operations.chain = s.pipeline
	for _, e := range s.services() {
		e.serve(&s.operations)
	}
	if s.operations.err != nil {
		return nil, s.operations.err
	}
	var err error
	if s.rules, err = protovalidate.New(); err != nil {
		return nil, err
	}
	generated, err := s.generated()
	if err != nil {
		return nil, err
	}
	for _, r := range s.plain() {
		for _, p := range r.paths {
			s.mux.Handle(r.method+" "+p, s.guard(surface.Operation{Access: r.access}, r.handler))
			s.paths = append(s.paths, strings.Replace(p, "...}", "}", 1))
		}
	}
	for _, r := range s.files() {
		for _, p := range r.paths {
			s.mux.Handle(r.method+" "+p, managed(place{}, s.guard(surface.Operation{Access: r.access}, r.handler)))
			s.paths = append(s.paths, p)
		}
	}
	for _, r := range surface.Routes() {
		op, ok := s.operations.all[r.RPC]
		if !ok {
			return nil, fmt.Errorf("%s %s leads to %s, which no service has", r.Method, r.Path, r.RPC)
		}
		next, ok := generated[r.RPC+" "+r.Path]
		if !ok {
			return nil, fmt.Errorf("there is nothing generated for %s %s", r.Method, r.Path)
		}
		pattern, names := muxPattern(r.Path)
		form := s.transcode(op, r, names, next)
		if r.RPC == gatewayv1.AuditService_ListAuditLog_FullMethodName {
			form = s.withFiles(op, form)
		}
		handler := s.guard(op.Operation, form)
		s.mux.Handle(r.Method+" "+pattern, managed(place{path: names, body: r.Body}, handler))
		s.paths = append(s.paths, strings.Replace(r.Path, "=**}", "}", 1))
	}
	slices.Sort(s.paths)
	s.paths = slices.Compact(s.paths)
	s.refuseRedirects()
	s.mux.HandleFunc("/", s.unknown)
	return s, nil
}

// route is one row of the table of the routes that are not generated.
type route struct {
	method  string
	paths   []string
	access  surface.Access
	handler http.HandlerFunc
}

// plain are the routes whose errors are as OpenAI has them and no more.
func (s *Server) plain() []route {
	return []route{
		{http.MethodGet, []string{"/health/liveliness", "/health/liveness"}, surface.Public, s.alive},
		{http.MethodGet, []string{"/health/readiness"}, surface.Public, s.readiness},
		{http.MethodGet, []string{"/v1/models", "/models"}, surface.AnyKey, s.models},
		{http.MethodGet, []string{"/v1/models/{model...}", "/models/{model...}"}, surface.AnyKey, s.model},
		{http.MethodGet, []string{"/openapi.json"}, surface.Public, s.shows(s.reference.Document)},
		{http.MethodGet, []string{"/docs"}, surface.Public, s.shows(s.reference.Page)},
		{http.MethodGet, []string{"/metrics"}, surface.Viewer, s.cfg.Metrics.ServeHTTP},
		{http.MethodPost, dataplane.Paths(), surface.AnyKey, s.bodyless},
	}
}

// files are the routes of the management API that carry files, which are not
// generated.
func (s *Server) files() []route {
	return []route{
		{http.MethodGet, []string{"/cluster/snapshot"}, surface.Admin, s.snapshot},
		{http.MethodPost, []string{"/cluster/restore"}, surface.Admin, s.restore},
	}
}

// managed marks the requests to a route of the management API.
func managed(at place, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), placeKey{}, at)))
	})
}

// guard lets through who may use a route. It has read nothing of the body.
func (s *Server) guard(op surface.Operation, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stamp(w, r)
		if op.Access == surface.Public {
			next(w, r)
			return
		}
		c := &call{presented: presented(r.Header), view: s.cfg.View(), id: w.Header().Get(headerRequestID), matches: r.Header.Values(HeaderIfMatch), idempotency: r.Header.Values(HeaderIdempotency)}
		var err error
		if c.principal, err = s.cfg.Identify(c.view, c.presented, time.Now()); err == nil {
			err = c.principal.MayUse(r.Method, r.URL.Path)
		}
		if err == nil {
			err = mayUse(op, c.principal)
		}
		r = r.WithContext(withCall(r.Context(), c))
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		next(w, r)
	})
}

// credentialHeaders are the headers that may carry a credential.
func credentialHeaders() []string {
	return []string{tenancy.HeaderAuthorization, tenancy.HeaderAnthropic, tenancy.HeaderAzure, tenancy.HeaderGoogle, tenancy.HeaderGateway}
}

// presented collects the credentials of a request. Two headers of one name are
// two credentials.
func presented(h http.Header) tenancy.Presented {
	var p tenancy.Presented
	for _, name := range credentialHeaders() {
		for _, v := range h.Values(name) {
			p.Add(name, v)
		}
	}
	return p
}

// bodyless rejects a request for inference that came without a body. One with a body
// came by another way than the listener of callers, and no model is served there.
func (s *Server) bodyless(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		s.refuse(w, r, fault.New(fault.NotFound, "", "Models are not served at this address, but at the one that listen names. Send the request there."))
		return
	}
	s.refuse(w, r, fault.New(fault.Malformed, "invalid_json", "The body is empty; send a JSON object with model and messages."))
}

// straight refuses paths that have to be put straight first, which the mux would
// do: something before the gateway that guards some of its paths may read them
// differently.
func (s *Server) straight(w http.ResponseWriter, r *http.Request) {
	if clean := path.Clean(r.URL.Path); clean != r.URL.Path && clean+"/" != r.URL.Path {
		stamp(w, r)
		s.refuse(w, r, fault.New(fault.NotFound, "not_found", "There is nothing at the path %s: it has dot segments or empty ones.", shownPath(r.URL.Path)))
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
		if _, pattern := s.mux.Handler(probe); pattern != "/" && pattern != "" && !s.refused[pattern] {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		s.refuse(w, r, s.unknownPath(r))
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
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
		defer cancel()
		stopped <- srv.Shutdown(grace)
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
