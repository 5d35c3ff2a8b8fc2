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
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/openapi"
	"github.com/modelgateway/modelgateway/mgmt/operation"
)

// Config is what the server needs. All of it is required, except Prices and CredentialProblem.
type Config struct {
	View func() *cluster.View
	// Identify returns the caller with these credentials.
	Identify func(v *cluster.View, p credential.Presented, now time.Time) (tenancy.Principal, error)
	State    State
	Sealer   operation.Sealer
	Ledger   Ledger
	Audit    AuditLog
	Notices  Notices
	// Prices reads the price table from the place in the configuration; nil if there is
	// none.
	Prices func(ctx context.Context) ([]byte, error)
	// Webhook returns where the audit log is delivered to. Guard says which addresses are
	// allowed.
	Webhook func(v *cluster.View) delivery.Settings
	// Pace is how many records the webhook gets at a time if the settings do not say it. It
	// comes from the configuration file.
	Pace  delivery.Pace
	Guard delivery.Guard
	// Discover returns the models that the account of a deployment can reach, by the provider's names.
	Discover func(ctx context.Context, d *catalog.Deployment) ([]string, error)
	// CredentialProblem returns why this node has no credential for the provider of a deployment; empty if it has one,
	// or needs none. nil: every deployment has one.
	CredentialProblem func(d *catalog.Deployment) string
	// PrivateEndpoints allows addresses in private networks and on this machine in
	// deployments and credentials.
	PrivateEndpoints bool
	Ready            func(ctx context.Context) error // nil, or the reason why the node should get no traffic
	// Defaults are the values of new users and teams that a request does not give.
	Defaults tenancy.Defaults
	// KeyRules are the operator's rules for new keys.
	KeyRules rights.KeyRules
	// Screen applies a guardrail to texts; a *fault.Error of kind Blocked says that it blocks them. It returns what
	// they become, and what was found.
	Screen Screen
	// Tokens estimates the tokens of messages for a model, which may be empty. Each message is a
	// role and a text.
	Tokens  func(model string, messages [][2]string) int64
	Metrics http.Handler // Prometheus's exposition; labels name models, deployments, teams and aliases of keys
	Logger  *slog.Logger
	Version string
	OpenAPI string // the API's description, an OpenAPI document
	// BeginReport is called before a report over the ledger is computed, and the function
	// that it returns afterwards. It may be nil.
	BeginReport func() (end func())
}

// stopTime bounds how long requests may take to end when the server stops.
const stopTime = 5 * time.Second

// Server serves the requests that Envoy does not send to a provider, over HTTP and gRPC.
type Server struct {
	cfg          Config
	mux          *http.ServeMux
	operations   *operation.Table
	reports      *reports
	reference    *openapi.Reference
	unredirected map[string]bool // patterns that are in the mux only to prevent redirects
	lines        lineLimit       // of denied requests and reads
	paths        []string        // of all routes, sorted; the suggestions of a 404
}

// New returns a server.
func New(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, mux: http.NewServeMux(), unredirected: map[string]bool{}, reference: openapi.New(cfg.OpenAPI), reports: newReports(cfg.BeginReport)}
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

// Serve serves requests on l until ctx ends, and then waits for the current ones.
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
