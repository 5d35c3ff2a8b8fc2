package config

import (
	"fmt"
	"time"

	"github.com/modelgateway/modelgateway/config/endpoint"
)

// Defaults of the sections of our own.
const (
	defaultListen = "127.0.0.1:8080" // loopback: only a setting exposes the gateway to other machines
	defaultData   = "./data"
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

// process returns the settings at the top of the file.
func (c *Config) process() []setting {
	return []setting{
		{"listen", own(&c.Listen, (*decoder).listen, (*writer).given, "`"+defaultListen+"`"), "IP and port"},
		{"management_listen", own(&c.ManagementListen, (*decoder).listen, (*writer).given, unset), "IP and port of a second listener, for management and health alone. Neither `limits.max_connections` nor Envoy's overload manager applies there: give it to probes and administrators, and no port that callers reach"},
		{"data_dir", word{to: &c.DataDir, standard: defaultData}, "directory of everything that is stored"},
		{"intent_sync", choice[IntentSync]{&c.IntentSync, BeforeAnswer, []IntentSync{BeforeAnswer, BeforeDispatch}}, "or `before_dispatch`: the intent is on disk before the provider gets the request"},
		{"shutdown_delay", span{to: &c.ShutdownDelay, most: mostDelay}, "how long readiness fails before the listener closes, for load balancers"},
	}
}

func (e *Envoy) settings() []setting {
	return []setting{
		{"mode", choice[EnvoyMode]{&e.Mode, EnvoyChild, []EnvoyMode{EnvoyChild, EnvoyExternal}}, "or `external`: somebody else starts Envoy"},
		{"path", word{to: &e.Path, without: "`$ENVOY_PATH`, the fetched one, `PATH`"}, "the Envoy to start"},
		{"attachment", choice[Attachment]{&e.Attachment, AttachExtProc, []Attachment{AttachExtProc, AttachModule}}, "how requests get to the gateway: or `module`, a module in the Envoy that the gateway starts, which takes less CPU. Bodies of 1 MiB and more, attempts after the first, and everything while the module is not connected, use `ext_proc`. Experimental"},
		{"concurrency", number{to: &e.Concurrency, most: 1024}, "Envoy's worker threads; 0 means one for each core"},
		{"log_level", quoted{choice[string]{&e.LogLevel, "warning", []string{"info", "warning", "error", "critical", "off"}}}, "of Envoy's own log: `info`, `warning`, `error`, `critical`, `off`"},
	}
}

// quoted is a choice that is written in quotes: "off" is a boolean without them.
type quoted struct{ choice[string] }

func (v quoted) write(w *writer, name string) { w.raw(name, string(jsonString(*v.to))) }

func (l *Log) settings() []setting {
	return []setting{
		{"level", choice[string]{&l.Level, "info", []string{"debug", "info", "warn", "error"}}, "`debug`, `info`, `warn`, `error`"},
		{"format", choice[string]{&l.Format, "json", []string{"json", "text"}}, "or `text`. A busy gateway writes the lines of 10 ms together, and warnings and errors at once"},
	}
}

func (l *Limits) settings() []setting {
	return []setting{
		{"max_request_bytes", number{to: &l.MaxRequestBytes, standard: defaultBody, least: leastBody, most: mostBody}, "the largest request body; above it 413"},
		{"max_inflight_request_bytes", number{to: &l.MaxInflightBytes, least: leastBody, most: mostInflight, without: "512 MiB"}, "all request bodies that are held at one time. A key may hold a quarter, and the last quarter is for small bodies. At least four times `max_request_bytes`, which is also the default where that is more"},
		{"long_body_bytes_per_second", number{to: &l.LongBodyRate, least: leastRate, most: mostInflight, without: "32 MiB for each core"}, "how fast request bodies of 1 MiB and more move, all together and fairly by key. A byte counts when it comes and when it goes on. Half a second's worth is not held up, and four seconds' worth of a body that moves alone. From 64 MiB in flight on they move half as fast"},
		{"max_connections", number{to: &l.MaxConnections, standard: defaultConnections, least: 1, most: mostConnections}, "of callers, open at one time; further ones are closed"},
		{"max_response_bytes", number{to: &l.MaxResponseBytes, standard: defaultBody, least: leastBody, most: mostBody}, "the largest whole response of a provider. Streams have no total"},
		{"request_timeout", span{to: &l.RequestTimeout, standard: defaultRequestTime, least: time.Second, most: 24 * time.Hour}, "a request must have come in whole by then; else 408"},
		{"stream_idle_timeout", span{to: &l.StreamIdleTimeout, standard: defaultStreamIdle, least: time.Second, most: 24 * time.Hour}, "a stream without a byte for this long ends"},
	}
}

// server reads the settings at the top of the file, envoy, log and limits.
func (d *decoder) server(o *object, c *Config) {
	c.Listen = defaultListen
	o.settings(c.process())
	if endpoint.Same(c.ManagementListen, c.Listen) {
		d.fail(o.n.field("management_listen"), "is the address of listen: give it another port")
	}
	envoy := d.section(o, "envoy", c.Envoy.settings())
	if path := envoy.field("path"); c.Envoy.Mode == EnvoyExternal && c.Envoy.Path != "" && path != nil {
		d.fail(path, "has no meaning when mode is external: remove it, or set mode: child")
	}
	d.section(o, "log", c.Log.settings())
	d.at.note(d.section(o, "limits", c.Limits.settings()), 1)
}

// section reads a section that has no settings but those of its table.
func (d *decoder) section(o *object, name string, table []setting) *node {
	n, _ := o.take(name)
	of := d.open(n)
	of.settings(table)
	of.close()
	return of.n
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

// listen reads the address of a listener. Envoy binds addresses and not
// names, so a name other than localhost is rejected.
func (d *decoder) listen(o *object, name string, to *string) {
	n, ok := o.take(name)
	if !ok {
		return
	}
	s, ok := d.text(n)
	if !ok {
		return
	}
	address, err := endpoint.Listen(s)
	if err != nil {
		d.fail(n, `%s is not an address to listen at (%v): write IP:port, such as "127.0.0.1:8080", or "0.0.0.0:8080" to be reached from other machines`, quote(n.text), err)
		return
	}
	*to = address
}
