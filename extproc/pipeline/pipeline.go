package pipeline

import (
	"context"
	"log/slog"
	"time"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/admission"
	"github.com/modelgateway/modelgateway/extproc/compose"
	"github.com/modelgateway/modelgateway/extproc/flood"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/inflight"
	"github.com/modelgateway/modelgateway/extproc/metrics"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/sealed"
	"github.com/modelgateway/modelgateway/extproc/tokens"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Journal is where the pipeline writes usage. Both writes return at once; the
// Pending that they return is done when the record is on disk.
type Journal interface {
	Intent(a usage.Attempt) *journal.Pending
	Settle(intents []*journal.Pending, events []journal.Event) *journal.Pending
	// Notify queues an event that has a Notice. A crash may lose it: it has no cost.
	Notify(ev journal.Event)
	Healthy() error
}

// Need is a cluster that a plan needs.
type Need struct {
	Endpoint id.Endpoint
	Variant  contract.Variant
}

// Deps are the pipeline's dependencies. All are required except Metrics, Budgets, Rates, Bytes,
// Token, AwaitToken, OnDemand, Prepare, Fresh, Guardrails and ThrottleFactor.
type Deps struct {
	View func() *cluster.View
	// Identify returns who presents credentials, according to a View.
	Identify func(v *cluster.View, p credential.Presented, now time.Time) (tenancy.Principal, error)
	// Fresh reports whether this node still knows what the cluster has agreed on; nil: it does.
	Fresh   func() bool
	Journal Journal
	Budgets admission.Budgets // nil: no budget is enforced
	Rates   admission.Rates   // nil: no rate is enforced
	// Bytes bounds the request bodies in flight; nil: no bound.
	Bytes *inflight.Limiter
	// ThrottleFactor is the share of its rates that an account keeps between its soft and
	// its hard budget. 1, or nil: all of them.
	ThrottleFactor func() float64
	Cooldown       *cooldown.Set
	// Token returns the credential that is made of the settings of a deployment at a cloud; zero if it
	// needs none. It does not block. The error is a *fault.Error. nil: no deployment needs one.
	Token func(d *catalog.Deployment) (cloud.Token, error)
	// AwaitToken waits briefly until one of the deployments has its first token. nil: there is nothing to wait for.
	AwaitToken func(ctx context.Context, ds []*catalog.Deployment)
	Tokens     *tokens.Counter
	Acked      func(id.Endpoint, contract.Variant) bool // whether Envoy has confirmed a cluster of an endpoint
	// OnDemand reports whether Prepare makes an endpoint's first cluster; nil: no endpoint's.
	OnDemand func(id.Endpoint) bool
	// Prepare has Envoy make clusters that a plan needs, and waits briefly for them. Then Acked
	// reports which ones Envoy has. nil: every endpoint has them.
	Prepare func(ctx context.Context, needs []Need)
	// Guardrails has the engines of guardrails; nil: there are no guardrails.
	Guardrails *guard.Library
	// Seal and Open seal the ids of stored responses with a key that all nodes have.
	Seal     vault.Seal
	Open     vault.Open
	Random   func(n uint64) uint64 // uniform in [0, n)
	Now      func() time.Time      // the clock
	Logger   *slog.Logger          // never given message bodies or credentials
	Metrics  *metrics.Metrics      // nil: no metrics
	Settings Settings
}

// Settings are the operator's settings that are not in the View.
type Settings struct {
	SyncBeforeDispatch bool   // wait for the intent's sync before the request is sent
	MaxRequestBytes    int64  // largest request body; 0: Envoy alone rejects larger ones
	MaxResponseBytes   int64  // largest whole answer that is taken from a provider
	MaxParallel        int64  // requests in flight at this node; 0: no limit
	Version            string // of the gateway, for x-gateway-version
	// EnforcedParams are parameters that each request must have, and
	// EnforcedServiceParams those of requests with keys of service accounts. A dot leads
	// into an object, as in metadata.project.
	EnforcedParams, EnforcedServiceParams []string
}

// Pipeline has the stages of a request and their dependencies. It is safe for concurrent use:
// every part that changes has its own lock.
type Pipeline struct {
	deps       Deps
	providers  map[string]*provider.Provider
	variations map[string]*provider.Variation // by provider
	operations operation.Table
	passable   map[string]*operation.Operation // by prefix: requests that are passed on unread
	composers  map[wire.Dialect]*compose.Language
	entry      []stage // on the request's headers
	stages     []stage // on its body
	unread     []stage // on the body of a request that is passed on unread
	whole      []stage // on a whole response
	streamed   []stage // on the head of a stream
	passedOn   []stage // on the head of a response that is passed on unread
	finished   []stage // before the end of a stream leaves
	failed     []stage // on a failure, and after a stage that stopped a response
	admission  *admission.Controller
	notices    flood.Recorder
	sealer     *sealed.Sealer
}

// stage is one step of a request before dispatch, or of its response. nil continues. Before
// dispatch an error rejects the request; later it replaces the response by an error.
type stage struct {
	name string
	run  func(ctx context.Context, x *Exchange) error
}

// NewPipeline returns a pipeline over deps.
func NewPipeline(deps Deps) *Pipeline {
	p := &Pipeline{deps: deps, providers: make(map[string]*provider.Provider), operations: operation.NewTable(), passable: operation.Passed(), composers: compose.Languages()}
	p.notices = flood.Recorder{Journal: deps.Journal, Now: deps.Now}
	p.admission = &admission.Controller{Budgets: deps.Budgets, Rates: deps.Rates, ThrottleFactor: deps.ThrottleFactor, MaxParallel: deps.Settings.MaxParallel}
	p.sealer = &sealed.Sealer{Seal: deps.Seal, Open: deps.Open}
	rows := provider.Providers()
	p.variations = provider.Variations(rows)
	for _, row := range rows {
		p.providers[row.Name] = &row
	}
	p.entry = []stage{
		{"identify", p.identify}, // first: a caller without a key learns nothing about the rest
		{"permit", p.permit},
		{"media", p.media},
		{"debug", p.debug},
		{"parallel", p.parallel},
		{"quota", p.quota},
		{"bytes", p.bytes}, // last: Reject releases what a rejected request has reserved
	}
	p.stages = []stage{
		{"decode", p.decode},
		{"enforce", p.enforce},
		{"compose", p.compose}, // before the rest, so that permissions, route and estimate apply to what is sent
		{"authorize", p.authorize},
		{"guard", p.guard}, // before route, which translates what is sent
		{"route", p.route},
		{"admit", p.admit}, // last: only a failed dispatch has to release its reservations
	}
	p.unread = []stage{
		{"choose", p.choose},
		{"admit", p.admit},
	}
	p.passedOn = []stage{ // then Relay passes the pieces on
		{"record", p.record}, // the intents, and the settle of an empty response
		{"head", p.head},
	}
	p.whole = []stage{
		{"accept", p.accept},
		{"translate", p.translate},
		{"screen", p.screen}, // nothing is recorded or sent yet
		{"form", p.form},
		{"record", p.record},
		{"address", p.address},
	}
	p.streamed = []stage{ // then Relay translates and screens each event
		{"accept", p.accept},
		{"record", p.record}, // the intents
		{"address", p.address},
	}
	p.finished = []stage{
		{"record", p.record}, // the settle
	}
	p.failed = []stage{
		{"explain", p.explain},
		{"record", p.record},
		{"address", p.address},
	}
	return p
}

// Now returns the time.
func (p *Pipeline) Now() time.Time { return p.deps.Now() }

// Logger returns where the pipeline logs.
func (p *Pipeline) Logger() *slog.Logger { return p.deps.Logger }

// MaxResponseBytes returns the largest size of a provider's whole response.
func (p *Pipeline) MaxResponseBytes() int64 { return p.deps.Settings.MaxResponseBytes }

// run takes the exchange through stages, until one returns an error.
func (p *Pipeline) run(ctx context.Context, x *Exchange, stages []stage) error {
	for i := range stages {
		if err := stages[i].run(ctx, x); err != nil {
			return err
		}
	}
	return nil
}
