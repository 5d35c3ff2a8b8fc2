package launch

import (
	"cmp"
	"log/slog"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Config configures one Envoy process. Path, Bootstrap, RunDir and AdminSocket are required.
type Config struct {
	Path        string           // of the binary, from Locate
	Bootstrap   []byte           // Envoy's configuration file, from bootstrap.Render
	RunDir      string           // private directory, created with mode 0700, for the configuration
	AdminSocket string           // the one in Bootstrap
	Modules     string           // directory of the dynamic modules in Bootstrap, if any
	Listen      []netip.AddrPort // the listeners in Bootstrap: a port in use is detected before Envoy starts

	Concurrency int           // worker threads; 0: one per CPU
	LogLevel    string        // info, warning, error, critical or off; default warning
	Drain       time.Duration // how long requests in flight may take after Run's context ends; default 30 s
	Logger      *slog.Logger  // for Envoy's log; nil discards it
	Events      Events
}

// Events are callbacks about the child; each may be nil. Run calls them one at a time, and
// waits for them.
type Events struct {
	Started func(pid int)
	Ready   func(pid int)            // it has its configuration and serves
	Exited  func(pid int, err error) // err is the exit status; nil for 0
}

const (
	firstDelay    = 100 * time.Millisecond // before the second restart; the first is immediate
	maxDelay      = 10 * time.Second
	stable        = 30 * time.Second // a child that lived this long is restarted immediately again
	killAfter     = 5 * time.Second  // between SIGTERM and SIGKILL
	pollInterval  = 20 * time.Millisecond
	adminTimeout  = 2 * time.Second
	maxSocketPath = 107 // capacity of sockaddr_un on Linux, without its final NUL
)

func (c Config) withDefaults() Config {
	c.LogLevel = cmp.Or(c.LogLevel, "warning")
	c.Drain = cmp.Or(c.Drain, 30*time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// check rejects invalid values. It also rejects log levels below info: there Envoy logs all
// request headers, including keys.
func (c Config) check() error {
	switch c.LogLevel {
	case "info", "warning", "error", "critical", "off":
	case "debug", "trace":
		return invalid("log_level", "log_level %s makes Envoy log request headers, and with them API keys; use info", c.LogLevel)
	default:
		return invalid("log_level", "log_level must be one of info, warning, error, critical, off")
	}
	switch {
	case c.Path == "":
		return invalid("envoy_path", "envoy_path is empty; name the Envoy binary")
	case len(c.Bootstrap) == 0:
		return invalid("bootstrap", "bootstrap is empty; render it first")
	case c.RunDir == "":
		return invalid("run_dir", "run_dir is empty; name a directory for Envoy's configuration and sockets")
	case !filepath.IsAbs(c.AdminSocket):
		return invalid("admin_socket", "admin_socket must be an absolute path")
	case len(c.AdminSocket) > maxSocketPath:
		return invalid("admin_socket", "admin_socket is a path of %d bytes, and a Unix socket's may have %d; choose a shorter directory",
			len(c.AdminSocket), maxSocketPath)
	case c.Concurrency < 0 || c.Concurrency > 1024:
		return invalid("concurrency", "concurrency must be from 0 (one worker a CPU) to 1024")
	case c.Drain < 0 || c.Drain > 24*time.Hour:
		return invalid("drain", "drain must be from 0 (the default) to 24h")
	}
	return nil
}

func invalid(param, format string, args ...any) *fault.Error {
	return fault.Field(param, "invalid_envoy_config", format, args...)
}

// broken returns the error for a failure of the binary or the machine.
func broken(code string, cause error, format string, args ...any) *fault.Error {
	e := fault.New(fault.Unavailable, code, format, args...)
	e.Op, e.Err = "launch", cause
	return e
}
