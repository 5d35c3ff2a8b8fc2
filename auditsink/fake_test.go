package auditsink_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/auditsink"
	"github.com/modelgateway/modelgateway/cluster/audit"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

// chain is an audit log in memory.
type chain struct {
	mu      sync.Mutex
	records []audit.Record
	grown   chan struct{} // closed when there are more
}

func newChain() *chain { return &chain{grown: make(chan struct{})} }

// add appends n records of types that take turns.
func (c *chain) add(n int, types ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for range n {
		number := uint64(len(c.records) + 1)
		r := audit.Record{Number: number, EventID: fmt.Sprintf("evt_%016x", number), Type: "request.routed", Time: now, Recorded: now, Internal: []byte("{}")}
		if len(types) > 0 {
			r.Type = types[len(c.records)%len(types)]
		}
		r.External = fmt.Appendf(nil, `{"cost_usd":0,"event_id":%q,"event_type":%q}`, r.EventID, r.Type)
		r.Hash = sha256.Sum256(r.External)
		c.records = append(c.records, r)
	}
	close(c.grown)
	c.grown = make(chan struct{})
}

func (c *chain) Head(context.Context) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return uint64(len(c.records)), nil
}

func (c *chain) From(_ context.Context, number uint64, fn func(audit.Record) bool) error {
	c.mu.Lock()
	all := c.records
	c.mu.Unlock()
	for _, r := range all[min(int(max(number, 1))-1, len(all)):] {
		if !fn(r) {
			return nil
		}
	}
	return nil
}

func (c *chain) Wait(ctx context.Context, number uint64) error {
	for {
		c.mu.Lock()
		there, grown := uint64(len(c.records)) >= number, c.grown
		c.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *chain) Export(ctx context.Context, w io.Writer, first, last uint64) error {
	var failed error
	err := c.From(ctx, first, func(r audit.Record) bool {
		if r.Number > last {
			return false
		}
		_, failed = fmt.Fprintf(w, "%s\n", r.External)
		return failed == nil
	})
	return errors.Join(err, failed)
}

// cursors are what the nodes have agreed on.
type cursors struct {
	mu    sync.Mutex
	at    map[delivery.Place]delivery.Progress
	saves int
	down  bool // there is no leader to commit
}

func (c *cursors) Load(_ context.Context, place delivery.Place) (delivery.Progress, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at[place], nil
}

func (c *cursors) Save(_ context.Context, place delivery.Place, to delivery.Progress) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.down:
		return fault.New(fault.Unavailable, "no_leader", "There is no leader.")
	case to.Next < c.at[place].Next:
		return fault.New(fault.Conflict, "delivered_already", "Another node has got further.")
	case to.Next == c.at[place].Next && c.at[place].Object.Last != 0 && to.Object != c.at[place].Object:
		return fault.New(fault.Conflict, "delivered_already", "Another node puts another object.")
	}
	if c.at == nil {
		c.at = map[delivery.Place]delivery.Progress{}
	}
	c.at[place] = to
	c.saves++
	return nil
}

// read is where a place's cursor stands.
func (c *cursors) read(place delivery.Place) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at[place].Next
}

func (c *cursors) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.saves
}

func (c *cursors) set(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
}

// receiver is a webhook's server, on a network in memory.
type receiver struct {
	t      testing.TB
	dial   chan net.Conn
	answer func(w http.ResponseWriter, r *http.Request, body []byte) // nil: 204
	mu     sync.Mutex
	down   bool
	dialed map[string]int
	got    []string // ids of the events that were answered with 2xx
	asked  []request
}

type request struct {
	header http.Header
	body   []byte
	url    string
	at     time.Time
}

func newReceiver(tb testing.TB) *receiver {
	tb.Helper()
	r := &receiver{t: tb, dial: make(chan net.Conn), dialed: map[string]int{}}
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	listener := &pipes{dial: r.dial, done: make(chan struct{})}
	go func() { _ = server.Serve(listener) }()
	tb.Cleanup(func() { _ = server.Close() })
	return r
}

// transport calls the receiver whatever host is asked for.
func (r *receiver) transport() http.RoundTripper {
	// What it dials counts as TLS already.
	return &http.Transport{DialTLSContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		r.mu.Lock()
		r.dialed[address]++
		down := r.down
		r.mu.Unlock()
		if down {
			return nil, errors.New("connection refused")
		}
		ours, theirs := net.Pipe()
		select {
		case r.dial <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
}

func (r *receiver) set(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	r.asked = append(r.asked, request{q.Header, body, q.URL.String(), time.Now()})
	answer := r.answer
	r.mu.Unlock()
	saw := &status{ResponseWriter: w, taken: func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, eventsOf(q.Header, body)...)
	}}
	if answer == nil {
		saw.WriteHeader(http.StatusNoContent)
		return
	}
	answer(saw, q, body)
	if !saw.written { // net/http answers 200
		saw.taken()
	}
}

func (r *receiver) taken() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.got...)
}

// dials are the connections that were asked for, by address.
func (r *receiver) dials() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.dialed)
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.asked...)
}

// status notes when a response with 2xx begins. The deliverer sends the next event as
// soon as it has read that; the handler may still be writing the body then.
type status struct {
	http.ResponseWriter
	taken   func()
	written bool
}

func (s *status) WriteHeader(code int) {
	s.written = true
	if code/100 == 2 {
		s.taken()
	}
	s.ResponseWriter.WriteHeader(code)
}

// pipes is a listener of connections in memory.
type pipes struct {
	dial chan net.Conn
	once sync.Once
	done chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.dial:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }
func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// bench is a deliverer with all that it needs.
type bench struct {
	t        testing.TB
	log      *chain
	cursors  *cursors
	to       *receiver
	logged   *lines
	mu       sync.Mutex
	settings delivery.Settings
	leads    bool
}

const (
	hookURL = "https://hooks.example.com/canary-token/audit"
	secret  = "canary-webhook-secret"
)

func newBench(tb testing.TB) *bench {
	tb.Helper()
	return &bench{
		t: tb, log: newChain(), cursors: &cursors{}, to: newReceiver(tb), logged: &lines{}, leads: true,
		settings: delivery.Settings{Webhook: true, URL: hookURL, Secret: vault.NewSecret(secret), Meta: record.Meta{Revision: 1}},
	}
}

func (b *bench) config() auditsink.Config {
	return auditsink.Config{
		Source: b.log, Cursors: b.cursors, Transport: b.to.transport(),
		Leads:    func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.leads },
		Settings: func() delivery.Settings { b.mu.Lock(); defer b.mu.Unlock(); return b.settings },
		Logger:   slog.New(slog.NewTextHandler(b.logged, nil)),
	}
}

// start runs a deliverer until stop.
func (b *bench) start(c auditsink.Config) (d *auditsink.Deliverer, stop func()) {
	b.t.Helper()
	d, err := auditsink.New(c)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = d.Run(ctx) }()
	return d, func() {
		cancel()
		<-done
		if err := d.Close(); err != nil {
			b.t.Error(err)
		}
	}
}

// change changes the settings as an operation would.
func (b *bench) change(f func(*delivery.Settings)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.settings)
	b.settings.Revision++
}

func (b *bench) lead(leads bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leads = leads
}

// ids are those of the records from first to last.
func ids(first, last int) (out []string) {
	for n := first; n <= last; n++ {
		out = append(out, fmt.Sprintf("evt_%016x", n))
	}
	return out
}

// lines is a log.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// verify checks a signature as a receiver in any language would.
func verify(header string, body []byte, now time.Time, secret string) error {
	var t string
	var signatures []string
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			t = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return fmt.Errorf("the time %q is not now", t)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "." + string(body)))
	want := hex.EncodeToString(mac.Sum(nil))
	for _, s := range signatures {
		if hmac.Equal([]byte(s), []byte(want)) {
			return nil
		}
	}
	return fmt.Errorf("none of %d signatures is right", len(signatures))
}

// eventsOf are the ids of the events of a request.
func eventsOf(h http.Header, body []byte) []string {
	if h.Get(auditsink.BatchHeader) == "" {
		return []string{h.Get("X-Gateway-Event-Id")}
	}
	var records []struct {
		ID string `json:"event_id"`
	}
	if err := json.Unmarshal(body, &records); err != nil || strconv.Itoa(len(records)) != h.Get(auditsink.BatchHeader) {
		return []string{fmt.Sprintf("%d records of %s: %v", len(records), h.Get(auditsink.BatchHeader), err)}
	}
	var out []string
	for _, r := range records {
		out = append(out, r.ID)
	}
	return out
}

// addOf appends a record of a key and an organization, with a filling.
func (c *chain) addOf(key, organization, filling string) {
	c.add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &c.records[len(c.records)-1]
	r.External = fmt.Appendf(nil, `{"cost_usd":0,"event_id":%q,"event_type":%q,"user_key_hash":%q,"org_id":%q,"filling":%q}`, r.EventID, r.Type, key, organization, filling)
}
