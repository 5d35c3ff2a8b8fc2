package launch

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Launcher runs one Envoy. Run may be called once; Ready at any time, from any goroutine.
type Launcher struct {
	config Config
	admin  admin
	file   string // the configuration, in RunDir

	restarts atomic.Int64
}

// New validates c and starts nothing. Errors are *fault.Error and name the field.
func New(c Config) (*Launcher, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Launcher{config: c, admin: newAdmin(c.AdminSocket), file: filepath.Join(c.RunDir, "envoy.yaml")}, nil
}

// Ready blocks until Envoy serves with its clusters and routes, or returns the error of ctx.
func (l *Launcher) Ready(ctx context.Context) error { return l.admin.waitReady(ctx) }

// Restarts returns how often Run has restarted a crashed child. It may be called at any time,
// from any goroutine.
func (l *Launcher) Restarts() int64 { return l.restarts.Load() }

// Run starts Envoy and keeps it running until ctx ends, then drains and stops it and returns
// nil. A child that dies after it was ready is restarted: at once, then after 100 ms, doubling
// up to 10 s, and at once again after a child that lived 30 s. If a child dies before it was
// ready, a restart would not help: Run returns a *fault.Error with Envoy's own output as its
// cause.
func (l *Launcher) Run(ctx context.Context) error {
	if err := l.prepare(ctx); err != nil {
		return err
	}
	served := false
	delay := time.Duration(0)
	for !stopped(ctx) {
		started := time.Now()
		life := l.live(ctx)
		if stopped(ctx) {
			break
		}
		if life.startErr != nil {
			return life.startErr
		}
		served = served || life.ready
		if !served {
			return explain(life)
		}
		if time.Since(started) > stable {
			delay = 0
		}
		l.config.Logger.LogAttrs(ctx, levelOf("error"), "envoy died and is restarted",
			attrDelay(delay), attrError(life.exitErr))
		if !pause(ctx, delay) {
			return nil
		}
		l.restarts.Add(1)
		delay = min(max(2*delay, firstDelay), maxDelay)
	}
	return nil
}

// prepare writes the configuration and checks that the port is free. Envoy sets SO_REUSEPORT
// and would silently share the port with another Envoy.
func (l *Launcher) prepare(ctx context.Context) error {
	if err := os.MkdirAll(l.config.RunDir, 0o700); err != nil {
		return broken("run_dir_unusable", err, "run_dir %s cannot be made", l.config.RunDir)
	}
	if err := os.WriteFile(l.file, l.config.Bootstrap, 0o600); err != nil {
		return broken("run_dir_unusable", err, "Envoy's configuration cannot be written into run_dir %s", l.config.RunDir)
	}
	for _, at := range l.config.Listen {
		if at.Port() == 0 {
			continue
		}
		var lc net.ListenConfig
		probe, err := lc.Listen(ctx, "tcp", at.String())
		if err != nil {
			return addressInUse(err, at.String())
		}
		if err := probe.Close(); err != nil {
			return broken("envoy_failed", err, "the probe of %s cannot be closed", at)
		}
	}
	return nil
}

// arguments returns the command line. Hot restart is disabled: a restart starts after the old
// process has exited, and shared memory would need a base id.
func (l *Launcher) arguments() []string {
	args := []string{
		"-c", l.file,
		"--disable-hot-restart",
		"--log-level", l.config.LogLevel,
		"--log-format", logFormat,
		"--drain-strategy", "immediate",
		"--drain-time-s", strconv.FormatInt(int64(max(l.config.Drain/time.Second, 1)), 10),
	}
	if l.config.Concurrency > 0 {
		args = append(args, "--concurrency", strconv.Itoa(l.config.Concurrency))
	}
	return args
}

// explain returns the error for a child that never served.
func explain(life lifetime) error {
	said := strings.Join(life.causes, "; ")
	cause := fmt.Errorf("exit status 0: %s", said)
	if life.exitErr != nil {
		cause = fmt.Errorf("%w: %s", life.exitErr, said)
	}
	if strings.Contains(said, "Address already in use") || strings.Contains(said, "cannot bind") {
		return addressInUse(cause, "its address")
	}
	return broken("envoy_failed", cause, "Envoy ended before it was ready; its own words are in the log")
}

func addressInUse(cause error, address string) *fault.Error {
	return broken("address_in_use", cause,
		"Envoy cannot listen on %s: another process does, or the address is not this machine's, or the port needs privileges; choose another port or stop the other process", address)
}

// stopped reports whether ctx has ended.
func stopped(ctx context.Context) bool { return ctx.Err() != nil }

// pause waits for d and reports whether ctx is still active.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
