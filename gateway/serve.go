package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/modelgateway/modelgateway/config"
	"github.com/modelgateway/modelgateway/envoy/launch"
	"github.com/modelgateway/modelgateway/envoy/socket"
)

// Options are the flags of serve.
type Options struct {
	File     string
	Accepted []string
	config.Flags
}

// Serve runs the gateway until ctx ends.
func Serve(ctx context.Context, version string, o Options) error {
	s, err := Load(o.File, o.Accepted)
	if err != nil {
		return err
	}
	if err := s.Config.Apply(o.Flags); err != nil {
		return err
	}
	for _, v := range s.Config.Environment {
		if err := os.Setenv(v.Name, v.Value.Reveal()); err != nil {
			return fmt.Errorf("environment_variables: %w", err)
		}
	}
	tuneMemory()
	logger, flush := newLogger(s.Config.Log, os.Stderr)
	defer flush()
	for i := range s.Config.Warnings {
		logger.WarnContext(ctx, "configuration", "problem", s.Config.Warnings[i].String())
	}
	g, err := assemble(ctx, s, version, logger)
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

// collector has the heap collected early while something fills it that is soon gone: large
// request bodies in flight, reports over the ledger, and restores. gcPercent would let it grow to
// three times the size of what lives on.
type collector struct {
	mu      sync.Mutex
	early   int // reports and restores under way
	bodies  int // the level of the bytes in flight; see inflight.Limiter.Watch
	percent int // as set last
}

// How much the heap may grow before it is collected. At full load of 1 KB requests 200 % costs 2 %
// more CPU than 400 %, and 45 MB less memory; 100 % costs 11 %, and saves 21 MB more.
const (
	gcPercent       = 200
	gcPercentEarly  = 25
	gcPercentBodies = 400 // halved by each level of bytes in flight
)

// begin has the heap collected early until end is called.
func (c *collector) begin() (end func()) {
	c.count(1)
	return func() { c.count(-1) }
}

func (c *collector) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.early += n
	c.setLocked()
}

// inFlight has the heap collected the earlier, the more bytes of bodies are in flight. While
// they are few, collecting after each 25 % of growth would keep the cores busy and save little.
func (c *collector) inFlight(level int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies = level
	c.setLocked()
}

func (c *collector) setLocked() {
	percent := min(gcPercent, gcPercentBodies>>c.bodies) // 25 at the last level
	if c.early > 0 {
		percent = gcPercentEarly
	}
	if tuned() && percent != c.percent {
		c.percent = percent
		debug.SetGCPercent(percent)
	}
}

// openNodeAndEnvoy opens the node while Envoy's program, if the gateway runs one, says which release it is: that takes a tenth of a second, as
// long as opening the stores. A program that is missing is reported before anything is opened.
func (g *gateway) openNodeAndEnvoy(ctx context.Context, s *Setup) (envoy launch.Binary, err error) {
	if g.cfg.Envoy.Mode != config.EnvoyChild {
		g.node, err = g.openNode(ctx, s)
		return envoy, err
	}
	path, err := launch.Locate(g.cfg.Envoy.Path, os.Getenv("ENVOY_PATH"), exec.LookPath)
	if err != nil {
		return envoy, err
	}
	var (
		check   sync.WaitGroup
		unknown error
	)
	check.Go(func() { envoy, unknown = launch.Check(ctx, path) })
	g.node, err = g.openNode(ctx, s)
	check.Wait()
	return envoy, errors.Join(unknown, err)
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
	linksSocket     = "links.sock"
)
