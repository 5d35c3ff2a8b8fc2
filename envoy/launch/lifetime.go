package launch

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// lifetime is the result of one child process.
type lifetime struct {
	startErr error    // it did not start
	exitErr  error    // its exit; nil for exit status 0
	ready    bool     // it has served
	causes   []string // its latest errors
}

// live runs one child from start to end. When ctx ends it drains the child first.
func (l *Launcher) live(ctx context.Context) lifetime {
	log := &logWriter{logger: l.config.Logger, stopping: func() bool { return stopped(ctx) }}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), l.config.Path, l.arguments()...) //nolint:gosec // the operator configures the program
	cmd.Env = []string{}                                                                    // the gateway's may contain provider keys
	if l.config.Modules != "" {
		cmd.Env = append(cmd.Env, "ENVOY_DYNAMIC_MODULES_SEARCH_PATH="+l.config.Modules)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = time.Second

	exited := make(chan error, 1)
	started := make(chan error, 1)
	go startAndWait(cmd, started, exited)
	if err := <-started; err != nil {
		return lifetime{startErr: broken("envoy_invalid", err, "%s cannot be started", l.config.Path)}
	}
	pid := cmd.Process.Pid
	if l.config.Events.Started != nil {
		l.config.Events.Started(pid)
	}
	life := lifetime{}
	alive, died := context.WithCancel(ctx)
	defer died()
	polled := make(chan error, 1)
	go func() {
		defer close(polled)
		polled <- l.admin.waitReady(alive)
	}()
	ready := polled
	for waiting := true; waiting; {
		select {
		case life.exitErr = <-exited:
			waiting = false
		case err := <-ready:
			ready = nil
			if err == nil {
				life.ready = true
				if l.config.Events.Ready != nil {
					l.config.Events.Ready(pid)
				}
			}
		case <-ctx.Done():
			life.exitErr = l.stop(ctx, cmd.Process, exited)
			waiting = false
		}
	}
	died()
	for range polled { // until the poller has ended
	}
	life.causes = log.causes() //nolint:contextcheck // a log line of the child belongs to no request
	if l.config.Events.Exited != nil {
		l.config.Events.Exited(pid, life.exitErr)
	}
	return life
}

// startAndWait starts the child from a thread that lives as long as the child. The kernel ties
// the child to that thread (see attributes), and Go ends idle threads.
func startAndWait(cmd *exec.Cmd, started, exited chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err == nil {
		exited <- cmd.Wait()
	}
}

// stop waits for responses in progress, then ends the child with SIGTERM and, if necessary,
// SIGKILL.
func (l *Launcher) stop(ctx context.Context, child *os.Process, exited <-chan error) error {
	drainCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.config.Drain)
	defer cancel()
	drained := make(chan error, 1)
	go func() {
		defer close(drained)
		drained <- l.admin.drain(drainCtx)
	}()
	select {
	case err := <-exited:
		cancel()
		for range drained { // until there is nothing left to drain
		}
		return err
	case err := <-drained:
		if err != nil {
			l.config.Logger.LogAttrs(ctx, slog.LevelWarn, "envoy is stopped before all responses ended", attrError(err))
		}
	}
	if err := child.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		l.config.Logger.LogAttrs(ctx, slog.LevelWarn, "envoy cannot be signalled", attrError(err))
	}
	timer := time.NewTimer(killAfter)
	defer timer.Stop()
	select {
	case err := <-exited:
		return err
	case <-timer.C:
	}
	if err := child.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		l.config.Logger.LogAttrs(ctx, slog.LevelError, "envoy cannot be killed", attrError(err))
	}
	return <-exited
}

func attrError(err error) slog.Attr {
	if err == nil {
		return slog.String("error", "none")
	}
	return slog.String("error", err.Error())
}

func attrDelay(d time.Duration) slog.Attr { return slog.Duration("delay", d) }
