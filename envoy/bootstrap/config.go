package bootstrap

import (
	"net/netip"
	"strconv"
	"time"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Config configures one Envoy. The five sockets are required; for all other fields, zero means
// the default given here.
type Config struct {
	NodeID          string // name of this Envoy; default "modelgateway"
	AdminSocket     string // Unix socket that Envoy creates; full control of Envoy
	ProcessorSocket string // Unix socket of ext_proc, attempt log and xDS
	BodiesSocket    string // Unix socket of ext_proc for long bodies
	GatewaySocket   string // Unix socket of the gateway's HTTP server
	GRPCSocket      string // Unix socket of the gateway's gRPC server

	Address string // IP to listen on; default 0.0.0.0
	Port    uint16 // default 8080

	// A second listener for management and health, without a connection limit.
	ManagementAddress string // IP; default Address
	ManagementPort    uint16 // 0: none

	// StreamEnd is the event that a caller receives when the provider resets its stream. It
	// needs the module contract.StreamEndModule; without it the caller's stream is reset.
	StreamEnd string

	// LinksSocket is the Unix socket that Envoy creates for the module contract.AttachModule;
	// empty: without it. ResponseLimit is the size of a whole response that the gateway reads.
	LinksSocket   string
	ResponseLimit int64

	BodyLimit      uint32 // bytes of a request body; larger: 413; default 64 MiB
	HeaderLimitKiB uint32 // of all request headers; larger: 431; 1..96, default 60

	MessageTimeout    time.Duration // longest time that the processor may take for a message; default 10 min
	RequestTimeout    time.Duration // longest time to receive a request; longer: 408; default 2 min
	StreamIdleTimeout time.Duration // longest silence of a stream in both directions; default 5 min
	DrainTimeout      time.Duration // how long connections are asked to close at shutdown; default 30 s

	MaxConnections uint64 // open client connections; default 50,000
	MaxHeapBytes   uint64 // from 85 % on Envoy frees memory, from 95 % on it rejects requests; default 2 GiB
}

// maxSocketPath is the capacity of sockaddr_un on Linux, without its final NUL.
const maxSocketPath = 107

// withDefaults returns c with defaults for its zero values.
func (c Config) withDefaults() Config {
	setDefault(&c.NodeID, "modelgateway")
	setDefault(&c.Address, "0.0.0.0")
	setDefault(&c.Port, 8080)
	setDefault(&c.ManagementAddress, c.Address)
	setDefault(&c.BodyLimit, 64<<20)
	setDefault(&c.HeaderLimitKiB, 60)
	setDefault(&c.MessageTimeout, 10*time.Minute)
	setDefault(&c.RequestTimeout, 2*time.Minute)
	setDefault(&c.StreamIdleTimeout, 5*time.Minute)
	setDefault(&c.DrainTimeout, 30*time.Second)
	setDefault(&c.MaxConnections, 50_000)
	setDefault(&c.MaxHeapBytes, 2<<30)
	return c
}

// check rejects values that Envoy would reject later, with a less clear error.
func (c Config) check() error {
	for _, s := range []struct{ param, path string }{
		{"admin_socket", c.AdminSocket},
		{"processor_socket", c.ProcessorSocket},
		{"bodies_socket", c.BodiesSocket},
		{"gateway_socket", c.GatewaySocket},
		{"grpc_socket", c.GRPCSocket},
		{"links_socket", c.LinksSocket},
	} {
		switch {
		case s.path == "" && s.param == "links_socket":
		case s.path == "":
			return invalid(s.param, "%s is empty; name a path for the Unix socket", s.param)
		case len(s.path) > maxSocketPath:
			return invalid(s.param, "%s is a path of %d bytes, and a Unix socket's may have %d; choose a shorter directory",
				s.param, len(s.path), maxSocketPath)
		}
	}
	for _, a := range []struct{ param, address string }{{"address", c.Address}, {"management_address", c.ManagementAddress}} {
		if _, err := netip.ParseAddr(a.address); err != nil {
			return invalid(a.param, "%s must be an IP address such as 0.0.0.0, 127.0.0.1 or ::; names are not looked up", a.param)
		}
	}
	if c.HeaderLimitKiB > 96 {
		return invalid("header_limit", "header_limit must be 1 to 96 KiB")
	}
	for _, d := range []struct {
		param string
		value time.Duration
	}{
		{"message_timeout", c.MessageTimeout},
		{"request_timeout", c.RequestTimeout},
		{"stream_idle_timeout", c.StreamIdleTimeout},
		{"drain_timeout", c.DrainTimeout},
	} {
		if d.value < 0 || d.value > maxTimeout {
			return invalid(d.param, "%s must be from 0 to %s; 0 means the default", d.param, maxTimeout)
		}
	}
	return nil
}

// maxTimeout keeps timers far from overflows in Envoy.
const maxTimeout = 24 * time.Hour

func setDefault[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}

func invalid(param, format string, args ...any) error {
	return fault.Field(param, "invalid_envoy_config", format, args...)
}

// seconds returns a duration in protobuf's text format.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}
