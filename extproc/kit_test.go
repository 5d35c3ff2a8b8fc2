package extproc

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/credential"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/cluster/store"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/extproc/inflight"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
	"github.com/modelgateway/modelgateway/extproc/provider"
	"github.com/modelgateway/modelgateway/extproc/tokens"
)

// Keys of the callers.
const (
	appKey     = "sk-app-0123456789abcdef"
	fewKey     = "sk-few-0123456789abcdef" // may use the model fast only
	expiredKey = "sk-expired-0123456789abcdef"
	blockedKey = "sk-blocked-0123456789abcdef"
)

// patience is how long a test waits for an expected event.
const patience = 20 * time.Second

// counter is shared: unpacking a vocabulary takes longer than most tests.
var counter = tokens.NewCounter()

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kit is a pipeline over a real journal in memory, and the server in front of it.
type kit struct {
	tb       testing.TB
	server   *Server
	journal  *journal.Journal
	cooldown *cooldown.Set
	catalog  *catalog.Catalog
	gate     *gate
	stop     func() // ends the journal, as a disk that fails would
	ids      atomic.Int64
	ticks    atomic.Int64
	unacked  []string          // clusters that Envoy has not confirmed
	bytes    *inflight.Limiter // nil unless a change sets it
	logs     logBook
}

// epoch is when the tests' clock starts. Each reading advances it by a millisecond.
func epoch() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func (k *kit) now() time.Time {
	return epoch().Add(time.Duration(k.ticks.Add(1)) * time.Millisecond)
}

// place is a deployment at a provider of OpenAI's dialect.
func place(name, alias, model string, order int) catalog.DeploymentSpec {
	return catalog.DeploymentSpec{
		ID: name, ModelName: alias, Model: "openai/" + model, APIBase: "https://" + name + ".example/v1",
		APIKey: vault.NewSecret("key-of-" + name), Order: order,
		Prices: map[string]string{"input_cost_per_token": "0.000001", "output_cost_per_token": "0.00001"},
	}
}

// claude is a deployment at Anthropic.
func claude(name, alias string, order int) catalog.DeploymentSpec {
	d := place(name, alias, "", order)
	d.Model, d.APIBase = "anthropic/claude-sonnet-4-5", "https://"+name+".example"
	return d
}

// one is a single deployment whose provider knows the model by the caller's name.
func one() catalog.Spec {
	return catalog.Spec{Deployments: []catalog.DeploymentSpec{place("solo", "fast", "fast", 0)}, Router: quick(0)}
}

// quick are settings with some retries.
func quick(retries int) catalog.RouterSpec { return catalog.RouterSpec{NumRetries: &retries} }

// change changes the dependencies of a kit's pipeline.
type change func(k *kit, d *pipeline.Deps)

func newKit(tb testing.TB, spec catalog.Spec, changes ...change) *kit {
	tb.Helper()
	k := &kit{tb: tb, gate: newGate()}
	known := make(catalog.Providers)
	for _, p := range provider.Providers() {
		known[p.Name] = catalog.ProviderDefaults{DefaultBase: p.BaseURL, NeedsBase: p.NeedsBase, NeedsKey: p.NeedsKey, Cloud: p.Cloud, Base: p.Base, Read: p.Read, Spelled: p.Spelled, APIs: p.APIs}
	}
	var err error
	if k.catalog, err = catalog.New(spec, known, nil); err != nil {
		tb.Fatal(err)
	}
	set, err := tenancy.New([]tenancy.Key{
		{Alias: "app", Hash: id.HashKey(appKey)},
		{Alias: "few", Hash: id.HashKey(fewKey), Models: []string{"fast"}},
		{Alias: "expired", Hash: id.HashKey(expiredKey), Expires: epoch()},
		{Alias: "blocked", Hash: id.HashKey(blockedKey), Blocked: true},
	}, vault.Secret{})
	if err != nil {
		tb.Fatal(err)
	}
	view := &cluster.View{Revision: 1, Catalog: k.catalog, Keys: set, Prompts: prompts.New()}
	k.cooldown = cooldown.New(func(uint64) uint64 { return 0 })
	k.journal, k.stop = startJournal(tb, k.gate)
	key, err := vault.KeyFromSecret(vault.NewSecret("the secret of all nodes"))
	if err != nil {
		tb.Fatal(err)
	}
	sealer, err := vault.NewSealer(key)
	if err != nil {
		tb.Fatal(err)
	}
	deps := pipeline.Deps{
		View: func() *cluster.View { return view }, Identify: byView, Journal: k.journal, Cooldown: k.cooldown, Tokens: counter,
		Acked: func(e id.Endpoint, v contract.Variant) bool {
			return !slices.Contains(k.unacked, contract.ClusterName(e, v))
		},
		Seal: sealer.Seal, Open: sealer.Open,
		Random: func(uint64) uint64 { return 0 }, Now: k.now,
		Logger:   slog.New(slog.NewJSONHandler(&k.logs, nil)),
		Settings: pipeline.Settings{MaxResponseBytes: 1 << 20, MaxParallel: 1 << 20, Version: "test"},
	}
	for _, c := range changes {
		c(k, &deps)
	}
	k.server = NewServer(pipeline.NewPipeline(deps))
	return k
}

// byView trusts the View, as an up-to-date node does.
func byView(v *cluster.View, p credential.Presented, now time.Time) (tenancy.Principal, error) {
	return v.Keys.Authenticate(p, now)
}

func startJournal(tb testing.TB, g *gate) (j *journal.Journal, stop func()) {
	tb.Helper()
	s, err := store.Open(store.Config{Dir: "data", FS: errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(g.pass)), BallastBytes: -1})
	if err != nil {
		tb.Fatal(err)
	}
	if j, err = journal.Open(journal.Config{Store: s}); err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- j.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		g.open()
		cancel()
		if err := <-ran; err != nil {
			tb.Error(err)
		}
	})
	tb.Cleanup(func() {
		stop()
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	for j.Healthy() != nil { // until Run has begun
		if err := j.Settle(nil, nil).Wait(context.Background()); err != nil {
			tb.Fatal(err)
		}
	}
	return j, stop
}

// gate holds back the disk's syncs while it is shut.
type gate struct {
	mu      sync.Mutex
	shut    chan struct{} // nil while open
	reached chan struct{} // something waits at the gate
}

func newGate() *gate { return &gate{reached: make(chan struct{}, 1)} }

func (g *gate) pass(op errorfs.Op) error {
	if op.Kind != errorfs.OpFileSync && op.Kind != errorfs.OpFileSyncData {
		return nil
	}
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		select {
		case g.reached <- struct{}{}:
		default:
		}
		<-shut
	}
	return nil
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

// logBook keeps what was logged.
type logBook struct {
	mu   sync.Mutex
	text []byte
}

func (b *logBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	return len(p), nil
}

func (b *logBook) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}

// uuid is the next request's id, as Envoy makes it.
func (k *kit) uuid() string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", k.ids.Add(1)) }

// events are those of attempts that were journaled of a request, of all if it is empty.
func (k *kit) events(uuid string) []journal.Event {
	k.tb.Helper()
	return slices.DeleteFunc(k.recorded(uuid), func(e journal.Event) bool { return e.Notice != nil })
}

// notices are those that were journaled of a request, of all if it is empty.
func (k *kit) notices(uuid string) []journal.Event {
	k.tb.Helper()
	return slices.DeleteFunc(k.recorded(uuid), func(e journal.Event) bool { return e.Notice == nil })
}

// recorded are all events that were journaled of a request, of all if it is empty.
func (k *kit) recorded(uuid string) []journal.Event {
	k.tb.Helper()
	// What was queued before this is on the disk after it.
	if err := k.journal.Settle(nil, nil).Wait(context.Background()); err != nil {
		k.tb.Fatal(err)
	}
	return k.scanned(uuid)
}

// scanned are the events that are on the disk already.
func (k *kit) scanned(uuid string) []journal.Event {
	k.tb.Helper()
	f := journal.Filter{}
	if uuid != "" {
		f.Request = id.RequestFromUUID(uuid)
	}
	var out []journal.Event
	if err := k.journal.Scan(context.Background(), f, func(e journal.Event) bool {
		out = append(out, e)
		return true
	}); err != nil {
		k.tb.Fatal(err)
	}
	slices.SortFunc(out, func(a, b journal.Event) int { return a.Number - b.Number })
	return out
}

// event is the only one of a request.
func (k *kit) event(uuid string) journal.Event {
	k.tb.Helper()
	events := k.events(uuid)
	if len(events) != 1 {
		k.tb.Fatalf("%d events, want one: %+v", len(events), events)
	}
	return events[0]
}

// settled checks that no request is in flight.
func (k *kit) settled() {
	k.tb.Helper()
	if n := k.server.InFlight(); n != 0 {
		k.tb.Errorf("%d requests are still registered", n)
	}
	if n := k.server.pipeline.InFlight(); n != 0 {
		k.tb.Errorf("the node counts %d requests in flight", n)
	}
	for _, d := range k.catalog.Deployments() {
		if n := k.cooldown.InFlight(d.ID); n != 0 {
			k.tb.Errorf("deployment %s has %d requests in flight", d.ID, n)
		}
	}
}

// holds waits until the server holds a number of bytes of bodies.
func (k *kit) holds(n int64) {
	k.tb.Helper()
	deadline := time.After(patience)
	for tick := time.NewTicker(time.Millisecond); ; {
		held := k.bytes.Held()
		if held == n {
			tick.Stop()
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			k.tb.Fatalf("%d bytes are in flight, want %d", held, n)
		}
	}
}

// attempt is Envoy's log of one attempt, by its number from 1.
func (k *kit) attempt(uuid string, number, status int, flags *datav3.ResponseFlags) {
	attemptLog{live: k.server.live}.take(&datav3.HTTPAccessLogEntry{
		Request: &datav3.HTTPRequestProperties{RequestId: uuid},
		Response: &datav3.HTTPResponseProperties{
			ResponseCode: wrapperspb.UInt32(uint32(status)),
		},
		CommonProperties: &datav3.AccessLogCommon{UpstreamRequestAttemptCount: uint32(number), ResponseFlags: flags},
	})
}

// left is Envoy's report of an attempt whose caller has disconnected.
func left() *datav3.ResponseFlags {
	return &datav3.ResponseFlags{DownstreamConnectionTermination: true}
}

// cut is Envoy's report of an attempt whose provider broke off.
func cut() *datav3.ResponseFlags {
	return &datav3.ResponseFlags{UpstreamConnectionTermination: true}
}
