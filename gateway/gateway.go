// Package gateway puts all parts together, starts them and stops them. It is the only
// package that knows all of them.
package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // the codec that frame.Codec hands everything but frames to

	"github.com/modelgateway/modelgateway/auditsink"
	"github.com/modelgateway/modelgateway/bucket"
	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/cloud/token"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/config"
	"github.com/modelgateway/modelgateway/envoy/bootstrap"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/envoy/launch"
	"github.com/modelgateway/modelgateway/envoy/socket"
	"github.com/modelgateway/modelgateway/extproc"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/guard/remote"
	"github.com/modelgateway/modelgateway/extproc/inflight"
	"github.com/modelgateway/modelgateway/extproc/metrics"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/pipeline"
	"github.com/modelgateway/modelgateway/extproc/tokens"
	"github.com/modelgateway/modelgateway/mgmt"
	"github.com/modelgateway/modelgateway/proto/gen"
	"github.com/modelgateway/modelgateway/xds"
)

// gateway is everything that one process runs. Nothing runs before run.
type gateway struct {
	cfg     *config.Config
	version string // of the program
	logger  *slog.Logger
	node    *cluster.Node
	bucket  *bucket.Bucket // of sealed records; nil: none
	xds     *xds.Server
	grpc    *grpc.Server // what Envoy asks
	bulk    *grpc.Server // the same, for long bodies
	mgmt    *mgmt.Server

	tokens     *tokens.Counter
	pipeline   *pipeline.Pipeline
	guardrails *guard.Library
	outside    *remote.Client // calls the services of guardrails

	credentials  *token.Manager    // tokens of deployments at clouds
	tokenClients *outbound.Clients // call the token services of clouds

	processor *extproc.Server
	deliverer *auditsink.Deliverer
	meter     metric.Meter // what /metrics shows

	launcher *launch.Launcher // nil: somebody else runs Envoy
	grpcL    net.Listener     // of what Envoy itself asks
	bulkL    net.Listener     // the same, for long bodies
	httpL    net.Listener
	apiL     net.Listener // of the management API over gRPC

	attachment attachment
	demand     *onDemand
	collector  collector
	bodies     *inflight.Limiter // request bodies in flight
	bodyLimit  uint32            // of Envoy, in bytes
	leaving    atomic.Bool       // the process was asked to end
}

// assemble builds the gateway from a checked configuration. What it opened
// before an error is closed again.
func assemble(ctx context.Context, s *Setup, version string, logger *slog.Logger) (_ *gateway, err error) {
	g := &gateway{cfg: s.Config, version: version, logger: logger, demand: newOnDemand(), attachment: attachment{changed: make(chan struct{}, 1)}, tokens: tokens.NewCounter()}
	g.makeGuardrails()
	g.makeCredentials()
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	envoy, err := g.openNodeAndEnvoy(ctx, s)
	if err != nil {
		return g, err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err := g.dataPlane(registry); err != nil {
		return g, err
	}
	g.mgmt, err = mgmt.New(mgmt.Config{
		View: g.node.View, Identify: g.node.Identify,
		State: mgmt.State{Changes: g.node, Members: g.node, Backups: g.node}, Sealer: g.node,
		Ledger: g.node, Audit: g.node.AuditLog(), Notices: g.pipeline, Prices: priceMap(g.cfg.Budgets.CostMapURL),
		Webhook: func(v *cluster.View) delivery.Settings { return v.Delivery }, Guard: g.guard(), Pace: g.pace(), Defaults: g.cfg.Defaults, KeyRules: g.cfg.KeyRules,
		PrivateEndpoints: g.cfg.AllowsPrivateEndpoints(), Discover: g.discover(), CredentialProblem: g.credentials.Reason, Tokens: g.countMessages, Screen: g.screen,
		Ready: g.ready, Logger: logger, Version: g.version, OpenAPI: gen.OpenAPI, BeginReport: g.collector.begin,
		Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}),
	})
	if err != nil {
		return g, err
	}
	if g.deliverer, err = g.newDeliverer(); err != nil {
		return g, err
	}
	if err := g.deliverer.Measure(g.meter); err != nil {
		return g, fmt.Errorf("metrics: %w", err)
	}
	if err := g.envoy(ctx, envoy); err != nil {
		return g, err
	}
	if err := g.measure(); err != nil {
		return g, fmt.Errorf("metrics: %w", err)
	}
	return g, nil
}

// measure makes the instruments of what this process holds as a whole.
func (g *gateway) measure() error {
	_, err := g.meter.Int64ObservableGauge("gateway.requests.inflight", metric.WithDescription("Requests that were admitted and have not ended."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(g.processor.InFlight()))
			return nil
		}))
	if err != nil || g.launcher == nil {
		return err
	}
	_, err = g.meter.Int64ObservableCounter("gateway.envoy.restarts", metric.WithUnit("{restart}"),
		metric.WithDescription("Times that Envoy was started again after it died."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(g.launcher.Restarts())
			return nil
		}))
	return err
}

// fatal ends the process: what is on disk is not known any more, and the next
// start finds out. Envoy ends with it.
func fatal(logger *slog.Logger) func(error) {
	return func(err error) {
		logger.Error("the journal cannot be written; ending", "error", err.Error())
		os.Exit(1)
	}
}

// streamWorkers is how many goroutines stand ready for Envoy's streams. A new one
// for each request would have its stack grown, and copied, each time, which is
// 3 % of what a short request costs. More streams than this get one of their own.
const streamWorkers = 128

// mostSeries bounds the series of one metric. It is far above what the gateway makes: its
// own bounds are lower, and OpenTelemetry's would merge what they let through.
const mostSeries = 100_000

// dataPlane builds what Envoy talks to over gRPC.
func (g *gateway) dataPlane(registry prometheus.Registerer) error {
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry), otelprom.WithoutScopeInfo())
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	provider := sdkmetric.NewMeterProvider(
		sdkmetric.WithReader(exporter),
		sdkmetric.WithCardinalityLimit(mostSeries),
		sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter), // the gateway has no spans, for which the default looks at each value
		sdkmetric.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "modelgateway"), attribute.String("service.version", g.version))),
	)
	meter := provider.Meter("github.com/modelgateway/modelgateway")
	g.meter = meter
	instruments, err := metrics.New(meter, g.node.Spent)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	if err := g.node.Measure(meter); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	if err := g.credentials.Measure(meter); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	g.xds = xds.NewServer(xds.Config{Logger: g.logger})
	g.bodies = inflight.New(g.cfg.Limits.MaxInflightBytes)
	g.bodies.Pace(cmp.Or(g.cfg.Limits.LongBodyRate, longBodyRate*int64(runtime.GOMAXPROCS(0))))
	if err := g.bodies.Measure(meter); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	g.bodies.Watch(g.collector.inFlight)
	throttle := g.cfg.Budgets.ThrottleFactor
	g.pipeline = pipeline.NewPipeline(pipeline.Deps{
		View: g.node.View, Identify: g.node.Identify, Fresh: g.node.Fresh, Journal: g.node.Journal(), Cooldown: g.node.Cooldown(), Tokens: g.tokens,
		Token: g.credentials.Token, AwaitToken: g.credentials.Await,
		Budgets: g.node.Budgets(), Rates: g.node.Rates(), Bytes: g.bodies, ThrottleFactor: func() float64 { return throttle },
		Guardrails: g.guardrails, Acked: g.xds.Acked, OnDemand: g.demand.isLazy, Prepare: g.prepare, Seal: g.node.Seal, Open: g.node.Open, Random: rand.Uint64N, Now: time.Now, Logger: g.logger, Metrics: instruments,
		Settings: pipeline.Settings{
			SyncBeforeDispatch: g.cfg.IntentSync == config.BeforeDispatch,
			MaxRequestBytes:    g.cfg.Limits.MaxRequestBytes,
			MaxResponseBytes:   g.cfg.Limits.MaxResponseBytes,
			MaxParallel:        g.cfg.MaxParallel,
			Version:            g.version,
			EnforcedParams:     g.cfg.Enforced.Params, EnforcedServiceParams: g.cfg.Enforced.ServiceParams,
		},
	})
	g.processor = extproc.NewServer(g.pipeline)
	g.grpc = g.processorServer(1<<20, 16<<20) // most bodies that come whole go in one flight
	g.xds.Register(g.grpc)
	g.bulk = g.processorServer(bodiesWindow, bodiesWindow, grpc.ReadBufferSize(64<<10), grpc.WriteBufferSize(128<<10)) // a piece in a call
	return nil
}

// longBodyRate is how many bytes of long bodies may move per second and core: a sixth of
// what a core can move, so that other requests do not wait long for one.
const longBodyRate = 32 << 20

// bodiesWindow is what Envoy may send of a long body before the processor takes it: a
// piece while another waits for its turn.
const bodiesWindow = 128 << 10

// processorServer returns a gRPC server with the processor. A stream and a connection may
// be so many bytes ahead of it.
func (g *gateway) processorServer(stream, conn int32, more ...grpc.ServerOption) *grpc.Server {
	s := grpc.NewServer(append(more,
		grpc.ForceServerCodecV2(frame.Codec{Proto: encoding.GetCodecV2("proto"), Pieces: frame.NewPieces()}),
		grpc.MaxRecvMsgSize(int(g.cfg.Limits.MaxRequestBytes)+1<<20), // a whole body, and its attributes
		grpc.MaxSendMsgSize(1<<31-1),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.InitialWindowSize(stream),
		grpc.InitialConnWindowSize(conn),
	)...)
	g.processor.Register(s)
	return s
}

// envoy prepares the sockets, the configuration and, unless somebody else runs
// it, the launch of Envoy.
func (g *gateway) envoy(ctx context.Context, envoy launch.Binary) error {
	dir, err := socketDir(g.cfg.DataDir)
	if err != nil {
		return err
	}
	addr, err := netip.ParseAddrPort(g.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen %s: must be an IP address and a port: %w", g.cfg.Listen, err)
	}
	var management netip.AddrPort
	if g.cfg.ManagementListen != "" {
		if management, err = netip.ParseAddrPort(g.cfg.ManagementListen); err != nil {
			return fmt.Errorf("management_listen %s: must be an IP address and a port: %w", g.cfg.ManagementListen, err)
		}
	}
	b := bootstrap.Config{
		AdminSocket:     filepath.Join(dir, adminSocket),
		ProcessorSocket: filepath.Join(dir, processorSocket),
		BodiesSocket:    filepath.Join(dir, bodiesSocket),
		GatewaySocket:   filepath.Join(dir, httpSocket),
		GRPCSocket:      filepath.Join(dir, grpcSocket),
		Address:         addr.Addr().String(), Port: addr.Port(),
		BodyLimit:         uint32(g.cfg.Limits.MaxRequestBytes),
		RequestTimeout:    g.cfg.Limits.RequestTimeout,
		MaxConnections:    uint64(g.cfg.Limits.MaxConnections),
		MaxHeapBytes:      envoyHeap(g.cfg.Limits.MaxInflightBytes),
		StreamIdleTimeout: g.cfg.Limits.StreamIdleTimeout,
	}
	listen := []netip.AddrPort{addr}
	if management.IsValid() {
		b.ManagementAddress, b.ManagementPort = management.Addr().String(), management.Port()
		listen = append(listen, management)
	}
	if g.grpcL, err = socket.Listen(ctx, b.ProcessorSocket); err != nil {
		return err
	}
	if g.bulkL, err = socket.Listen(ctx, b.BodiesSocket); err != nil {
		return err
	}
	if g.httpL, err = socket.Listen(ctx, b.GatewaySocket); err != nil {
		return err
	}
	if g.apiL, err = socket.Listen(ctx, b.GRPCSocket); err != nil {
		return err
	}
	modules := g.modules(ctx, envoy)
	if modules != "" {
		b.StreamEnd = operation.CutEvents()
	}
	links := filepath.Join(dir, linksSocket)
	if found := g.attach(ctx, envoy, links); found != "" {
		modules, b.LinksSocket, b.ResponseLimit = found, links, g.cfg.Limits.MaxResponseBytes
	}
	file, err := bootstrap.Render(b)
	if err != nil {
		return err
	}
	g.bodyLimit = b.BodyLimit
	if err := g.publishRoutes(g.node.View()); err != nil {
		return err
	}
	if g.cfg.Envoy.Mode == config.EnvoyExternal {
		name := filepath.Join(dir, "envoy.yaml")
		if err := os.WriteFile(name, file, 0o600); err != nil {
			return err
		}
		g.logger.InfoContext(ctx, "waiting for an Envoy that is started with this configuration", "bootstrap", name)
		return nil
	}
	g.launcher, err = launch.New(launch.Config{
		Path: envoy.Path, Bootstrap: file, RunDir: dir, AdminSocket: b.AdminSocket, Modules: modules, Listen: listen,
		Concurrency: int(g.cfg.Envoy.Concurrency), LogLevel: g.cfg.Envoy.LogLevel, Logger: g.logger,
	})
	return err
}

// modules returns the directory of Envoy's dynamic modules. It returns "" if the module is
// not there or does not suit this Envoy, or if somebody else starts Envoy.
func (g *gateway) modules(ctx context.Context, envoy launch.Binary) string {
	dir, err := "", errors.New("somebody else starts Envoy")
	if g.cfg.Envoy.Mode == config.EnvoyChild {
		dir, err = envoy.FindModule(contract.StreamEndFile)
	}
	if err != nil {
		g.logger.WarnContext(ctx, "a stream that its provider resets will be reset for its caller too, without an error event, because Envoy runs without a module",
			"module", contract.StreamEndFile, "reason", err.Error())
		return ""
	}
	return dir
}

// envoyHeap is the heap at which Envoy's overload manager begins to act. It is the last
// line: a body may be in Envoy three times while it goes to the gateway and comes back,
// and what is in flight must not come near the line.
func envoyHeap(inflight int64) uint64 { return 1<<30 + 3*uint64(inflight) }

// ready says why no traffic should come here.
func (g *gateway) ready(ctx context.Context) error {
	if g.leaving.Load() {
		return fault.New(fault.Unavailable, "shutting_down", "The gateway is shutting down.")
	}
	if err := g.node.Journal().Healthy(); err != nil {
		return err
	}
	if err := g.node.Ready(); err != nil {
		return err
	}
	if !g.xds.Ready() {
		return fault.New(fault.Unavailable, "not_ready", "Envoy does not have its configuration yet.")
	}
	if g.launcher != nil {
		return g.launcher.Ready(ctx)
	}
	return nil
}

// run serves until ctx ends. Then it stops in this order: Envoy takes no more
// requests and finishes those it has, the servers that Envoy talks to end, and
// the journal writes what is queued.
func (g *gateway) run(ctx context.Context) error {
	servers, stopServers := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServers()
	journal, stopJournal := context.WithCancel(context.WithoutCancel(ctx))
	defer stopJournal()

	back, failed := errgroup.WithContext(journal)
	back.Go(func() error { return g.node.Run(journal) })

	front, frontFailed := errgroup.WithContext(servers)
	front.Go(func() error { return g.xds.Run(servers) })
	front.Go(func() error { return g.followView(servers) })
	front.Go(func() error { return g.credentials.Run(servers) })
	front.Go(func() error { return g.grpc.Serve(g.grpcL) })
	front.Go(func() error { return g.bulk.Serve(g.bulkL) })
	front.Go(func() error { return g.mgmt.Serve(servers, g.httpL) })
	front.Go(func() error { return g.mgmt.ServeGRPC(servers, g.apiL) })
	front.Go(func() error { return g.attachment.run(servers) })
	front.Go(func() error { return g.pipeline.Run(servers) })
	front.Go(func() error { return g.deliverer.Run(servers) })
	front.Go(func() error { return newTrimmer().Run(servers) })

	edge, stopEdge := context.WithCancel(context.WithoutCancel(ctx))
	defer stopEdge()
	context.AfterFunc(failed, stopEdge)
	context.AfterFunc(frontFailed, stopEdge)
	leaving := make(chan struct{})
	go func() {
		defer close(leaving)
		g.leave(ctx, edge)
		stopEdge()
	}()

	g.logger.InfoContext(ctx, "starting", "version", g.version, "listen", g.cfg.Listen)
	go g.announce(edge)
	err := g.serveEnvoy(edge)
	stopEdge()
	<-leaving

	logged := context.WithoutCancel(ctx)
	g.logger.InfoContext(logged, "shutting down: no more requests, ending the servers", "in_flight", g.processor.InFlight())
	stopServers()
	g.stopGRPC()
	err = errors.Join(err, front.Wait())
	g.logger.InfoContext(logged, "shutting down: servers ended, writing the journal and handing over")
	stopJournal()
	err = errors.Join(err, back.Wait())
	g.logger.InfoContext(logged, "shut down", "failed", err != nil)
	return err
}

func (g *gateway) serveEnvoy(ctx context.Context) error {
	if g.launcher == nil {
		<-ctx.Done()
		return nil
	}
	return g.launcher.Run(ctx)
}

// announceEvery is how often it is looked whether the gateway has become ready.
const announceEvery = 50 * time.Millisecond

// announce logs once when requests can come.
func (g *gateway) announce(ctx context.Context) {
	tick := time.NewTicker(announceEvery)
	defer tick.Stop()
	for g.ready(ctx) != nil {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	g.logger.InfoContext(ctx, "ready", "listen", g.cfg.Listen)
}
