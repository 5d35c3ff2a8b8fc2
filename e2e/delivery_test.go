package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// receiver is what a webhook is sent to: an address that stays the same while the
// server behind it comes and goes.
type receiver struct {
	t   *testing.T
	at  string
	srv *httptest.Server // nil while it is down

	mu     sync.Mutex
	secret string
	failed int       // so many deliveries are refused before one is taken
	taken  []arrival // in the order in which they came
	wrong  []string  // what was not as promised
	// largest is the number of records of the largest batch.
	largest int
}

type arrival struct{ id, kind, previous, hash string }

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t, at: freePort(t)}
	t.Cleanup(r.down)
	return r
}

func (r *receiver) url() string { return "http://" + r.at + "/hook" }

// up lets deliveries through.
func (r *receiver) up() {
	r.t.Helper()
	l, err := net.Listen("tcp", r.at)
	if err != nil {
		r.t.Fatal(err)
	}
	r.srv = httptest.NewUnstartedServer(r)
	_ = r.srv.Listener.Close() // one of its own choice
	r.srv.Listener = l
	r.srv.Start()
}

// down refuses connections from now on.
func (r *receiver) down() {
	if r.srv != nil {
		r.srv.CloseClientConnections()
		r.srv.Close()
		r.srv = nil
	}
}

// refuse answers the next n deliveries with an error.
func (r *receiver) refuse(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = n
}

func (r *receiver) signedWith(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

// ServeHTTP takes a delivery as a receiver should: it believes nothing that is not
// signed.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return // the sender is gone, and was not told that it is taken
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed > 0 {
		r.failed--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if err := signed(q.Header.Get("X-Gateway-Signature"), body, r.secret); err != nil {
		r.wrong = append(r.wrong, err.Error())
	}
	if n := q.Header.Get("X-Gateway-Batch"); n != "" {
		r.batch(n, body)
		return
	}
	var record delivered
	if err := json.Unmarshal(body, &record); err != nil || record.ID != q.Header.Get("X-Gateway-Event-Id") {
		r.wrong = append(r.wrong, fmt.Sprintf("%v: %s with the id %q", err, body, q.Header.Get("X-Gateway-Event-Id")))
	}
	r.taken = append(r.taken, arrival{record.ID, record.Type, record.Previous, q.Header.Get("X-Gateway-Hash")})
}

// delivered is a record as it is delivered.
type delivered struct {
	ID       string `json:"event_id"`
	Type     string `json:"event_type"`
	Previous string `json:"previous_event_hash"`
}

// batch takes an array of n records. Their hashes are in the records after them.
func (r *receiver) batch(n string, body []byte) {
	var records []delivered
	if err := json.Unmarshal(body, &records); err != nil || strconv.Itoa(len(records)) != n || len(body) > 1<<20 {
		r.wrong = append(r.wrong, fmt.Sprintf("%v: %d bytes with %d records, and they are said to be %s", err, len(body), len(records), n))
	}
	r.largest = max(r.largest, len(records))
	for i, record := range records {
		a := arrival{id: record.ID, kind: record.Type, previous: record.Previous}
		if i+1 < len(records) {
			a.hash = records[i+1].Previous
		}
		r.taken = append(r.taken, a)
	}
}

// signed checks a signature as the documentation tells receivers to.
func signed(header string, body []byte, secret string) error {
	stamp, rest, _ := strings.Cut(strings.TrimPrefix(header, "t="), ",")
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return fmt.Errorf("the signature %q is not of now", header)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "%s.%s", stamp, body)
	if want := "v1=" + hex.EncodeToString(mac.Sum(nil)); !strings.Contains(rest, want) {
		return fmt.Errorf("the signature %q is not %s", header, want)
	}
	return nil
}

// got returns the events in the order in which they came first, and how many came
// again.
func (r *receiver) got() (ids []string, again int) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.wrong {
		r.t.Error(w)
	}
	r.wrong = nil
	last := ""
	for i, d := range r.taken {
		switch {
		case d.id > last: // they are as long as each other
			if last != "" && i > 0 && r.taken[i-1].id == last && r.taken[i-1].hash != "" && r.taken[i-1].hash != d.previous {
				r.t.Errorf("%s does not follow %s: %s, %s", d.id, last, d.previous, r.taken[i-1].hash)
			}
			ids, last = append(ids, d.id), d.id
		default:
			again++
		}
	}
	return ids, again
}

// logged are the events of a gateway's audit log from one on, in the order in which
// they were written.
func (g *gatewayProcess) logged(from string) []string {
	g.t.Helper()
	var out []string
	for _, r := range g.sees("/audit-log?limit=1000&order=asc").rows() {
		if name, _ := r["event_id"].(string); name >= from {
			out = append(out, name)
		}
	}
	slices.Sort(out) // the list goes by when things happened
	return out
}

// inParallel waits until n requests are in the log, and then until the receiver has all
// of the log, in whatever order.
func inParallel(t *testing.T, g *gatewayProcess, to *receiver, n int) {
	t.Helper()
	g.until("the requests are recorded", func() bool { return len(g.records("spend.debited")) == n })
	var want, got []string
	g.until("the receiver has every record", func() bool {
		to.mu.Lock()
		defer to.mu.Unlock()
		got = got[:0]
		for _, a := range to.taken {
			got = append(got, a.id)
		}
		slices.Sort(got)
		got = slices.Compact(got)
		want = g.logged(got[0])
		return len(got) >= len(want)
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("in parallel: %s", d)
	}
}

// TestWebhook sets a webhook over the API. Every record from then on comes to it,
// signed, in order and linked to the one before, whatever happens meanwhile to the
// receiver, to the network and to the gateway.
func TestWebhook(t *testing.T) {
	t.Parallel()
	up := newUpstream(t)
	g := startGateway(t, models(up, "fast=openai/fake-gpt")+"audit: {allow_private_webhooks: true}\n")
	to := newReceiver(t)
	to.up()
	ask := func(n int) {
		t.Helper()
		for range n {
			if a := g.chat(request("fast", "")); a.status != http.StatusOK {
				t.Fatalf("%d %s", a.status, a.body)
			}
		}
	}
	// routed waits until so many requests are in the log, and then until the receiver
	// has all of it. It returns the events.
	routed := func(what string, n int) []string {
		t.Helper()
		g.until(what+": the requests are recorded", func() bool { return len(g.records("spend.debited")) == n })
		var want, got []string
		g.until(what+": the receiver has every record", func() bool {
			if got, _ = to.got(); len(got) == 0 {
				return false
			}
			want = g.logged(got[0])
			return len(got) >= len(want)
		})
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", what, d)
		}
		return got
	}

	ask(1) // before there is a webhook, and not for it
	out := g.changes("/config/update", tree{"general_settings": tree{"alerting": []string{"webhook"}, "alerting_webhook_url": to.url()}})
	secret, _ := out.at("general_settings", "alerting_webhook_secret").(string)
	if secret == "" {
		t.Fatalf("no secret was made: %v", out)
	}
	to.signedWith(secret)
	ask(3)
	first := routed("at once", 4)
	if a := g.get("/config"); strings.Contains(a.body, secret) {
		t.Error("the settings show the secret")
	}

	to.refuse(2) // it has to wait twice
	ask(2)
	routed("after refusals", 6)

	to.down()
	ask(3)
	to.up()
	routed("after it was down", 9)

	to.down()
	ask(2)
	g.kill()
	to.up()
	g.start()
	ask(1)
	last := routed("after kill -9", 12)
	if first[0] != last[0] {
		t.Errorf("the first one is %s, and was %s", last[0], first[0])
	}

	// Batches of a gateway whose receiver was away, and requests in parallel with a kill
	// in the middle: whatever comes twice, nothing is left out.
	to.down()
	g.changes("/config/update", tree{"general_settings": tree{"alerting_webhook_batch": 50}})
	ask(10)
	to.up()
	routed("in batches", 22)
	if to.largest < 10 || to.largest > 50 {
		t.Errorf("the largest batch has %d records", to.largest)
	}
	g.changes("/config/update", tree{"general_settings": tree{"alerting_webhook_batch": 2, "alerting_webhook_parallel": 4}})
	to.refuse(3)
	ask(10)
	g.kill()
	g.start()
	ask(2)
	inParallel(t, g, to, 34)
	g.changes("/config/update", tree{"general_settings": tree{"alerting_webhook_batch": 1, "alerting_webhook_parallel": 1}})

	g.changes("/config/update", tree{"general_settings": tree{"alerting_webhook_events": []string{"key.created"}}})
	to.mu.Lock()
	before := len(to.taken)
	to.mu.Unlock()
	ask(1)
	g.changes("/key/generate", tree{"key_alias": "told"})
	var since []arrival
	g.until("the key's record is delivered", func() bool {
		to.mu.Lock()
		defer to.mu.Unlock()
		since = to.taken[before:]
		return len(since) > 0 && since[len(since)-1].kind == "key.created"
	})
	if slices.ContainsFunc(since, func(a arrival) bool { return strings.HasPrefix(a.kind, "request.") }) {
		t.Errorf("records that nobody asked for: %v", since)
	}
	if strings.Contains(g.log.String(), secret) {
		t.Error("the log has the webhook's secret in it")
	}
}
