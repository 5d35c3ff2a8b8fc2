package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/spf13/cobra"

	"github.com/modelgateway/modelgateway/config"
	"github.com/modelgateway/modelgateway/envoy/launch"
	"github.com/modelgateway/modelgateway/envoy/socket"
)

// options are the flags of serve; each set one replaces what the file says.
type options struct {
	file, data, listen, envoyPath, envoyMode string
	managementListen                         string
	join, accepted                           []string
	expect                                   int
	clusterListen, clusterAdvertise          string
}

func serveCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "serve --config FILE",
		Short: "Run the gateway and its Envoy",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return serve(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.file, "config", "c", "", "configuration file (YAML)")
	f.StringVar(&o.data, "data", "", "data directory (default: data_dir of the file, or ./data)")
	f.StringVar(&o.listen, "listen", "", "address to listen on (default: listen of the file, or 127.0.0.1:8080)")
	f.StringVar(&o.managementListen, "management-listen", "", "address for management and health alone, without a limit on connections (default: management_listen of the file, or none)")
	f.StringVar(&o.envoyPath, "envoy-path", "", "Envoy to run (default: $ENVOY_PATH, the one that make fetched, or the one on PATH)")
	f.StringVar(&o.envoyMode, "envoy", "", "child: run Envoy; external: serve one that somebody else runs")
	f.StringSliceVar(&o.join, "join", nil, "nodes to find the cluster at, host:port (default: cluster.join of the file)")
	f.IntVar(&o.expect, "expect", -1, "this node votes, and the first start waits for so many: 1, 3, 5 or 7; 0: it does not vote (default: cluster.expect of the file)")
	f.StringVar(&o.clusterListen, "cluster-listen", "", "address for the other nodes, TCP and UDP (default: cluster.listen of the file, or 0.0.0.0:7400)")
	f.StringVar(&o.clusterAdvertise, "cluster-advertise", "", "address that the other nodes reach this one at (default: derived)")
	acceptUnprotected(c, &o.accepted)
	_ = c.MarkFlagRequired("config")
	return c
}

func (o *options) apply(c *config.Config) error {
	if o.data != "" {
		c.DataDir = o.data
	}
	if err := c.SetListen(o.listen, o.managementListen); err != nil {
		return err
	}
	if o.envoyPath != "" {
		c.Envoy.Path = o.envoyPath
	}
	switch m := config.EnvoyMode(o.envoyMode); m {
	case "":
	case config.EnvoyChild, config.EnvoyExternal:
		c.Envoy.Mode = m
	default:
		return fmt.Errorf("--envoy %s: must be child or external", o.envoyMode)
	}
	return c.SetCluster(o.join, o.expect, o.clusterListen, o.clusterAdvertise)
}

func serve(ctx context.Context, o options) error {
	s, err := load(o.file, o.accepted)
	if err != nil {
		return err
	}
	if err := o.apply(s.config); err != nil {
		return err
	}
	for _, v := range s.config.Environment {
		if err := os.Setenv(v.Name, v.Value.Reveal()); err != nil {
			return fmt.Errorf("environment_variables: %w", err)
		}
	}
	tuneMemory()
	logger := newLogger(s.config.Log)
	for i := range s.config.Warnings {
		logger.WarnContext(ctx, "configuration", "problem", s.config.Warnings[i].String())
	}
	g, err := assemble(ctx, s, logger)
	if err != nil {
		return err
	}
	return errors.Join(g.run(ctx), g.close())
}

// tuneMemory trades memory for time where the operator has not said otherwise.
// The live heap of a gateway is a few megabytes, so that Go's usual doubling
// would collect many times a second; the soft limit keeps what that saves from
// growing with a large heap.
func tuneMemory() {
	if tuned() {
		debug.SetGCPercent(gcPercent)
	}
	debug.FreeOSMemory() // reading a large file leaves much behind
}

// tuned reports whether the operator leaves the collector to the gateway.
func tuned() bool { return os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" }

// collector has the heap collected early while something fills it that is soon gone:
// large request bodies in flight, reports over the ledger, and restores. gcPercent would let it
// grow to five times the size of what lives on.
type collector struct {
	mu    sync.Mutex
	early int // reasons to collect early
}

// collectEarly adds a reason.
func (c *collector) collectEarly() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.early++; c.early == 1 && tuned() {
		debug.SetGCPercent(gcPercentEarly)
	}
}

// collectLate ends one.
func (c *collector) collectLate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.early--; c.early == 0 && tuned() {
		debug.SetGCPercent(gcPercent)
	}
}

// begin has the heap collected early until end is called.
func (c *collector) begin() (end func()) {
	c.collectEarly()
	return c.collectLate
}

// How much the heap may grow before it is collected.
const (
	gcPercent      = 400
	gcPercentEarly = 25
)

func newLogger(c config.Log) *slog.Logger {
	o := &slog.HandlerOptions{}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err == nil {
		o.Level = level
	}
	if c.Format == "text" {
		return slog.New(slog.NewTextHandler(os.Stderr, o))
	}
	return slog.New(slog.NewJSONHandler(os.Stderr, o))
}

// findEnvoy returns the Envoy to run, checked.
func findEnvoy(ctx context.Context, c config.Envoy) (launch.Binary, error) {
	path, err := launch.Locate(c.Path, os.Getenv("ENVOY_PATH"), exec.LookPath)
	if err != nil {
		return launch.Binary{}, err
	}
	return launch.Check(ctx, path)
}

// socketDir is where the Unix sockets between Envoy and this process are. A deep
// data directory's sockets lie in the system's temporary directory instead.
func socketDir(data string) (string, error) {
	abs, err := filepath.Abs(data)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(abs, "run")
	if !socket.Fits(dir, len(processorSocket)) {
		sum := sha256.Sum256([]byte(abs))
		dir = filepath.Join(os.TempDir(), "modelgateway-"+hex.EncodeToString(sum[:8]))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, socket.Private(dir)
}

// The sockets' names.
const (
	adminSocket     = "admin.sock"
	grpcSocket      = "grpc.sock"
	httpSocket      = "http.sock"
	processorSocket = "processor.sock" // the longest
	bodiesSocket    = "bodies.sock"
)
