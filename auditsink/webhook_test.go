package auditsink_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/signature"
	"github.com/modelgateway/modelgateway/cluster/vault"
)

func TestRecordsArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		_, stop := b.start(b.config())
		defer stop()
		b.log.add(700)
		time.Sleep(10 * time.Second)
		b.log.add(1)
		synctest.Wait() // no tick has to pass: a record goes at once
		if d := cmp.Diff(ids(1, 701), b.to.taken()); d != "" {
			t.Error(d)
		}
		if len(b.to.dials()) != 1 || b.to.dials()["hooks.example.com:443"] != 1 {
			t.Errorf("connections: %v", b.to.dials())
		}
		for _, r := range b.to.requests() {
			if err := verify(r.header.Get(signature.Header), r.body, r.at, secret); err != nil {
				t.Fatal(err)
			}
			if r.header.Get("Content-Type") != "application/json" || !strings.Contains(string(r.body), r.header.Get("X-Gateway-Event-Id")) ||
				len(r.header.Get("X-Gateway-Internal-Hash")) != len("sha256:")+64 || r.header.Get("X-Gateway-Hash") == "" || r.url != "/canary-token/audit" {
				t.Fatalf("a delivery is %s %v %s", r.url, r.header, r.body)
			}
		}
		time.Sleep(2 * time.Second)
		if b.cursors.count() > 5 || b.cursors.read(delivery.Webhook) != 702 {
			t.Errorf("%d saves, cursor at %d", b.cursors.count(), b.cursors.read(delivery.Webhook))
		}
	})
}

// TestReceiverThatMisbehaves goes through what a receiver may do to a delivery. The
// record stays the same until it is taken, and nobody else is called.
func TestReceiverThatMisbehaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var step atomic.Int64
		b.to.answer = func(w http.ResponseWriter, r *http.Request, _ []byte) {
			switch step.Add(1) {
			case 1:
				w.WriteHeader(http.StatusInternalServerError)
			case 2: // hangs
				<-r.Context().Done()
				panic(http.ErrAbortHandler)
			case 3:
				w.Header().Set("Location", "http://169.254.169.254/latest/meta-data/")
				w.WriteHeader(http.StatusFound)
			case 4:
				w.Header().Set("Location", "http://169.254.169.254/latest/meta-data/")
				w.WriteHeader(http.StatusPermanentRedirect)
			case 5: // drops the connection
				panic(http.ErrAbortHandler)
			case 6:
				w.Header().Set("Retry-After", "120")
				w.WriteHeader(http.StatusTooManyRequests)
			case 7:
				w.WriteHeader(http.StatusGone)
			case 8: // a body without an end
				w.WriteHeader(http.StatusOK)
				junk := make([]byte, 32<<10)
				for {
					if _, err := w.Write(junk); err != nil {
						return
					}
				}
			default:
				w.WriteHeader(http.StatusAccepted)
			}
		}
		d, stop := b.start(b.config())
		defer stop()
		b.log.add(2)
		time.Sleep(time.Hour)
		want := append(ids(1, 1), ids(2, 2)...)
		if diff := cmp.Diff(want, b.to.taken()); diff != "" {
			t.Errorf("%s after %+v", diff, d.Status())
		}
		if len(b.to.dials()) != 1 || b.to.dials()["hooks.example.com:443"] == 0 {
			t.Errorf("somebody else was called: %v", b.to.dials())
		}
		all := b.to.requests()
		if len(all) != 9 {
			t.Fatalf("%d requests", len(all))
		}
		if wait := all[6].at.Sub(all[5].at); wait < 120*time.Second {
			t.Errorf("Retry-After of 120 s was not waited for: %s", wait)
		}
		if s := d.Status()[0]; s.Failures != 7 || !s.Since.IsZero() || s.Delivered != 2 {
			t.Errorf("status %+v", s)
		}
	})
}

// TestReceiverIsDownForADay: a record a minute goes by, and all arrive in order.
func TestReceiverIsDownForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.to.set(true)
		d, stop := b.start(b.config())
		defer stop()
		for range 24 * 60 {
			b.log.add(1)
			time.Sleep(time.Minute)
		}
		if n := b.to.dials()["hooks.example.com:443"]; n < 24*12 || n > 24*60 {
			t.Errorf("%d attempts in a day", n)
		}
		if s := d.Status()[0]; s.Problem == "" || time.Since(s.Since) < 23*time.Hour || s.Next != 1 {
			t.Errorf("status %+v", s)
		}
		if n := strings.Count(b.logged.String(), "\n"); n != 1 {
			t.Errorf("a day's failure is %d lines in the log", n)
		}
		b.to.set(false)
		time.Sleep(5 * time.Minute)
		if diff := cmp.Diff(ids(1, 24*60), b.to.taken()); diff != "" {
			t.Error(diff)
		}
		for _, text := range []string{b.logged.String(), d.Status()[0].Problem} {
			if strings.Contains(text, "canary") {
				t.Errorf("a secret is shown: %s", text)
			}
		}
	})
}

// TestSettingsAreFollowed: what is changed is so for the next attempt, however long
// the wait for it would have been.
func TestSettingsAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.to.answer = func(w http.ResponseWriter, r *http.Request, _ []byte) {
			if r.Host != "other.example.com" {
				w.WriteHeader(http.StatusBadGateway)
			}
		}
		_, stop := b.start(b.config())
		defer stop()
		b.log.add(3)
		time.Sleep(time.Hour)
		b.change(func(s *delivery.Settings) { s.URL = "https://other.example.com/" })
		time.Sleep(2 * time.Second)
		if diff := cmp.Diff(ids(1, 3), b.to.taken()); diff != "" {
			t.Errorf("another address was not followed: %s", diff)
		}
		b.change(func(s *delivery.Settings) { s.Webhook = false })
		b.log.add(1)
		time.Sleep(time.Hour)
		if n := len(b.to.taken()); n != 3 {
			t.Errorf("%d deliveries to a webhook that is switched off", n)
		}
		b.change(func(s *delivery.Settings) {
			s.Webhook, s.Previous, s.Secret, s.SecretChanged = true, s.Secret, vault.NewSecret("another-secret-of-it"), time.Now()
		})
		time.Sleep(2 * time.Second)
		b.change(func(s *delivery.Settings) { s.Events = []string{"key.created"} })
		b.log.add(4, "key.created", "key.revoked")
		time.Sleep(25 * time.Hour)
		b.log.add(1, "key.created")
		time.Sleep(2 * time.Second)
		want := append(ids(1, 5), "evt_0000000000000007", "evt_0000000000000009")
		if diff := cmp.Diff(want, b.to.taken()); diff != "" {
			t.Error(diff)
		}
		all := b.to.requests()
		for i, r := range all[len(all)-4:] {
			header := r.header.Get(signature.Header)
			if err := verify(header, r.body, r.at, "another-secret-of-it"); err != nil {
				t.Error(err)
			}
			if last := i == 3; (verify(header, r.body, r.at, secret) == nil) == last {
				t.Errorf("delivery %d: the secret before is used: %v", i, last)
			}
		}
	})
}

// TestNewWebhookBeginsWithNow: what was recorded before it was switched on stays.
func TestNewWebhookBeginsWithNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for range 1000 {
			b.log.add(1)
			time.Sleep(time.Minute)
		}
		b.change(func(s *delivery.Settings) { s.UpdatedAt = time.Now() })
		b.log.add(2)
		time.Sleep(time.Second)
		_, stop := b.start(b.config())
		defer stop()
		b.log.add(1)
		time.Sleep(time.Second)
		if diff := cmp.Diff(ids(1001, 1003), b.to.taken()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestNobodyCommitsCursors: without a leader to agree on how far it has got, the
// deliverer does not get far ahead of what is saved.
func TestNobodyCommitsCursors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		d, stop := b.start(b.config())
		b.log.add(1)
		time.Sleep(2 * time.Second)
		b.cursors.set(true)
		b.log.add(5000)
		time.Sleep(time.Hour)
		if n := len(b.to.taken()); n > 1001 {
			t.Errorf("%d deliveries while no cursor is saved", n)
		}
		if s := d.Status()[0]; !strings.Contains(s.Problem, "saving") {
			t.Errorf("status %+v", s)
		}
		b.cursors.set(false)
		time.Sleep(6 * time.Minute)
		stop()
		if diff := cmp.Diff(ids(1, 5001), b.to.taken()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestAddressThatIsForbiddenLater: settings that another version took are refused at
// each attempt, before anybody is called.
func TestAddressThatIsForbiddenLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.change(func(s *delivery.Settings) { s.URL = "https://169.254.169.254/canary-token" })
		d, stop := b.start(b.config())
		defer stop()
		b.log.add(1)
		time.Sleep(time.Hour)
		if len(b.to.dials()) != 0 {
			t.Errorf("called: %v", b.to.dials())
		}
		if s := d.Status()[0]; !strings.Contains(s.Problem, "may not be called") || strings.Contains(s.Problem+b.logged.String(), "canary") {
			t.Errorf("status %+v", s)
		}
	})
}
