package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// Defaults of the sections of our own.
const (
	defaultListen  = "127.0.0.1:8080" // loopback: nobody is exposed who did not ask for it
	defaultDataDir = "./data"
	// defaultBody is LiteLLM's usual ceiling and the largest body the gateway is measured with.
	defaultBody = 64 << 20
	leastBody   = 1 << 10
	mostBody    = 1 << 30
	// defaultInflight is what Envoy and the gateway hold together twice or three times,
	// as one body has copies in both.
	defaultInflight = 512 << 20
	// defaultConnections is above what one Envoy usually serves: some 50 KB each.
	defaultConnections = 50_000
	mostConnections    = 10_000_000
	mostInflight       = 1 << 40
	// leastRate lets a body of the default size pass within request_timeout, both ways.
	leastRate = 2 << 20
	// inflightShares is how many times the largest body must fit: a key may hold a quarter.
	inflightShares = 4
	// defaultStreamIdle is Envoy's own: models that think are silent for minutes.
	defaultStreamIdle  = 5 * time.Minute
	defaultRequestTime = 2 * time.Minute // 64 MiB over 5 Mbit/s
)

// mostDelay bounds shutdown_delay: load balancers that take longer to look are
// set up wrongly, and service managers kill what does not end.
const mostDelay = 5 * time.Minute

// server reads listen, management_listen, data_dir, intent_sync, shutdown_delay, envoy, log and limits.
func (d *decoder) server(o *object, c *Config) {
	c.Listen, c.DataDir, c.IntentSync = defaultListen, defaultDataDir, BeforeAnswer
	d.listen(o, "listen", &c.Listen)
	d.listen(o, "management_listen", &c.ManagementListen)
	if sameAddress(c.ManagementListen, c.Listen) {
		d.fail(o.n.field("management_listen"), "is the address of listen: give it another port")
	}
	o.str("data_dir", &c.DataDir)
	if c.DataDir == "" {
		c.DataDir = defaultDataDir
	}
	oneOf(o, "intent_sync", &c.IntentSync, BeforeAnswer, BeforeDispatch)
	o.duration("shutdown_delay", &c.ShutdownDelay, 0, mostDelay)
	d.envoy(o, &c.Envoy)

	c.Log = Log{Level: "info", Format: "json"}
	n, _ := o.take("log")
	log := d.open(n)
	oneOf(log, "level", &c.Log.Level, "debug", "info", "warn", "error")
	oneOf(log, "format", &c.Log.Format, "json", "text")
	log.close()

	c.Limits = Limits{
		MaxRequestBytes: defaultBody, MaxResponseBytes: defaultBody, MaxConnections: defaultConnections,
		RequestTimeout: defaultRequestTime, StreamIdleTimeout: defaultStreamIdle,
	}
	n, _ = o.take("limits")
	limits := d.open(n)
	limits.integer("max_request_bytes", &c.Limits.MaxRequestBytes, leastBody, mostBody)
	limits.integer("max_inflight_request_bytes", &c.Limits.MaxInflightBytes, leastBody, mostInflight)
	limits.integer("long_body_bytes_per_second", &c.Limits.LongBodyRate, leastRate, mostInflight)
	limits.integer("max_connections", &c.Limits.MaxConnections, 1, mostConnections)
	limits.integer("max_response_bytes", &c.Limits.MaxResponseBytes, leastBody, mostBody)
	limits.duration("request_timeout", &c.Limits.RequestTimeout, time.Second, 24*time.Hour)
	limits.duration("stream_idle_timeout", &c.Limits.StreamIdleTimeout, time.Second, 24*time.Hour)
	limits.close()
	d.at.note(n, 1)
}

// inflight checks the bytes of bodies in flight against the largest body, when both
// have been read. A body larger than a key's share could never be sent.
func (d *decoder) inflight(c *Config) {
	least := inflightShares * c.Limits.MaxRequestBytes
	if c.Limits.MaxInflightBytes == 0 {
		c.Limits.MaxInflightBytes = max(defaultInflight, least)
	}
	if at, set := d.at["limits.max_inflight_request_bytes"]; set && c.Limits.MaxInflightBytes < least {
		d.report(at, "limits.max_inflight_request_bytes", fmt.Sprintf("must be at least %d, four times max_request_bytes: a key may hold a quarter, and its largest request must fit", least))
	}
}

// envoy reads the section envoy.
func (d *decoder) envoy(o *object, to *Envoy) {
	*to = Envoy{Mode: EnvoyChild, LogLevel: "warning"}
	n, _ := o.take("envoy")
	e := d.open(n)
	oneOf(e, "mode", &to.Mode, EnvoyChild, EnvoyExternal)
	e.str("path", &to.Path)
	e.integer("concurrency", &to.Concurrency, 0, 1024)
	oneOf(e, "log_level", &to.LogLevel, "info", "warning", "error", "critical", "off")
	if path := e.n.field("path"); to.Mode == EnvoyExternal && to.Path != "" && path != nil {
		d.fail(path, "has no meaning when mode is external: remove it, or set mode: child")
	}
	e.close()
}

// listen reads the address of a listener. Envoy binds addresses and not
// names, so a name other than localhost is refused.
func (d *decoder) listen(o *object, name string, to *string) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	s, ok := d.text(n)
	if !ok {
		return
	}
	address, err := parseListen(s)
	if err != nil {
		d.fail(n, `%s is not an address to listen at (%v): write IP:port, such as "127.0.0.1:8080", or "0.0.0.0:8080" to be reached from other machines`, quote(n.text), err)
		return
	}
	*to = address
}

// sameAddress reports whether two listeners cannot both have their address.
func sameAddress(a, b string) bool {
	one, err := netip.ParseAddrPort(a)
	two, err2 := netip.ParseAddrPort(b)
	if err != nil || err2 != nil || one.Port() != two.Port() || one.Port() == 0 {
		return false
	}
	return one.Addr() == two.Addr() || one.Addr().IsUnspecified() || two.Addr().IsUnspecified()
}

// parseListen returns host:port with an IP address as its host. Its errors name
// no part of s.
func parseListen(s string) (string, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", errors.New("no host and port with a colon between them")
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", errors.New("the port is not a number from 0 to 65535")
	}
	switch host {
	case "", "*":
		host = "0.0.0.0"
	case "localhost":
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Zone() != "" {
		return "", errors.New("the host is not an IP address")
	}
	return netip.AddrPortFrom(ip, uint16(number)).String(), nil
}
