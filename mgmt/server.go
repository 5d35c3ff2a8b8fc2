package mgmt

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/openapi"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// Config is what the server stands on. All of it is required, but for Prices.
type Config struct {
	View func() *cluster.View
	// Identify says who presents credentials, by a View.
	Identify func(v *cluster.View, p tenancy.Presented, now time.Time) (tenancy.Principal, error)
	State    State
	Sealer   operation.Sealer
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
	operations *operation.Table
	reports    *reports
	reference  *openapi.Reference
	refused    map[string]bool // patterns that are in the mux for it not to redirect
	lines      lineLimit       // of what is logged of refusals and reads
	paths      []string        // of all routes, sorted: what a 404 may suggest
}

// New returns a server.
func New(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, mux: http.NewServeMux(), refused: map[string]bool{}, reference: openapi.New(cfg.OpenAPI), reports: newReports(cfg.BeginReport)}
	var err error
	s.operations, err = operation.New(operation.Config{
		State: cfg.State.Changes, Sealer: cfg.Sealer, Read: s.logRead,
		Complete: func(ctx context.Context, response proto.Message) error { return fillSpend(ctx, cfg.Ledger, response) },
	}, s.register)
	if err != nil {
		return nil, err
	}
	return s, s.route()
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
