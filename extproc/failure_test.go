package extproc

import (
	"strings"
	"testing"
	"time"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// failedWith is a provider's error in OpenAI's form.
func failedWith(status int, code, message string, more ...string) came {
	return came{
		status:  status,
		headers: append([]string{"content-type", "application/json"}, more...),
		pieces:  []string{`{"error":{"message":"` + message + `","type":"some_type","param":"temperature","code":"` + code + `"}}`},
	}
}

// local is an answer of Envoy's own.
func local(details string) came {
	return came{status: 503, details: details, headers: []string{"content-type", "text/plain"}, pieces: []string{"upstream connect error or disconnect/reset before headers"}}
}

const (
	timedOut  = "upstream_per_try_timeout"
	refused   = "upstream_reset_before_response_started{remote_connection_failure|delayed_connect_error:_Connection_refused}"
	brokeOff  = "upstream_reset_before_response_started{connection_termination}"
	connected = "upstream_reset_before_response_started{connection_timeout}"
)

func TestReportsWhyTheOnlyAttemptFailed(t *testing.T) {
	k := newKit(t, one())
	zero := usage.None
	for _, test := range []struct {
		name   string
		came   came
		status int
		code   string
		source usage.Source // of the event
		events int
	}{
		{"5xx", failedWith(500, "x", "pod 10.1.2.3 died"), 503, "all_deployments_failed", zero, 1},
		{"overloaded", failedWith(529, "x", "pod 10.1.2.3 died"), 503, "all_deployments_failed", zero, 1},
		{"empty 5xx", came{status: 502, headOnly: true}, 503, "all_deployments_failed", zero, 1},
		{"too many", failedWith(429, "x", "pod 10.1.2.3"), 503, "all_deployments_failed", zero, 1},
		{"our key", failedWith(401, "invalid_api_key", "Incorrect key sk-proj-abcdefghijklm"), 503, "upstream_auth_error", zero, 1},
		{"our rights", failedWith(403, "x", "project 10.1.2.3"), 503, "upstream_auth_error", zero, 1},
		{"our account", failedWith(402, "x", "project 10.1.2.3"), 503, "all_deployments_failed", zero, 1},
		{"provider's timeout", failedWith(408, "x", "x"), 504, "upstream_timeout", zero, 1},
		{"timeout", local(timedOut), 504, "upstream_timeout", usage.Estimated, 1},
		{"timeout of all", local("response_timeout"), 504, "upstream_timeout", usage.Estimated, 1},
		{"connection refused", local(refused), 503, "all_deployments_failed", zero, 0},
		{"no connection in time", local(connected), 504, "upstream_timeout", zero, 0},
		{"nobody to connect to", local("no_healthy_upstream"), 503, "all_deployments_failed", zero, 0},
		{"overflow", local("upstream_reset_before_response_started{overflow}"), 503, "all_deployments_failed", zero, 0},
		{"connection broke", local(brokeOff), 503, "all_deployments_failed", usage.Estimated, 1},
		{"stream broke", local("upstream_reset_before_response_started{remote_reset}"), 503, "all_deployments_failed", usage.Estimated, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, body := range []string{hello, streaming()} {
				e := k.open(t)
				taken(t, e, body)
				a := e.answer(test.came)
				m := rejectedWith(t, e, a, test.status, test.code)
				if strings.Contains(a.body, "10.1.2.3") || strings.Contains(a.body, "sk-proj") || strings.Contains(a.body, "disconnect") {
					t.Errorf("the caller gets %s", a.body)
				}
				if (a.headers["retry-after"] != "") != (test.status == 503) || a.headers["x-gateway-model-id"] != "solo" {
					t.Errorf("headers %v", a.headers)
				}
				if m.Details == nil {
					t.Errorf("the caller does not get the attempts: %s", a.body)
				}
				events := k.events(e.uuid)
				if len(events) != test.events {
					t.Fatalf("%d events, want %d: %+v", len(events), test.events, events)
				}
				for _, ev := range events {
					if ev.Outcome != journal.Failed || ev.ErrorCode != test.code || ev.Source != test.source || (ev.Tokens.Input == 8) != (test.source == usage.Estimated) || (ev.Cost == 0) != (test.source == zero) {
						t.Errorf("event %+v", ev)
					}
				}
			}
		})
	}
	k.settled()
	if until, resting := k.cooldown.InCooldown("solo", k.now()); resting {
		t.Errorf("the only deployment is in cooldown until %v", until)
	}
}

func TestPassesOnCallerErrors(t *testing.T) {
	t.Parallel()
	k := newKit(t, pair())
	for _, test := range []struct {
		came               came
		status             int
		code, param, words string
	}{
		{failedWith(400, "unsupported_value", "temperature must be 1"), 400, "unsupported_value", "temperature", "temperature must be 1"},
		{failedWith(422, "bad", "no"), 422, "bad", "temperature", "no"},
		{failedWith(404, "model_not_found", "no such model"), 404, "model_not_found", "temperature", "no such model"},
		{failedWith(413, "big", "too big"), 413, "big", "temperature", "too big"},
		{failedWith(400, "context_length_exceeded", "maximum context length is 8"), 400, "context_length_exceeded", "temperature", "maximum context length is 8"},
		{failedWith(400, "content_filter", "no"), 400, "content_filter", "temperature", "no"},
		{failedWith(400, "x", "the key sk-proj-abcdefghijklm is odd"), 400, "x", "temperature", "the key [redacted] is odd"},
	} {
		for _, body := range []string{hello, streaming()} {
			e := k.open(t)
			taken(t, e, body)
			a := e.answer(test.came)
			m := rejectedWith(t, e, a, test.status, test.code)
			if m.Param != test.param || m.Message != test.words || m.Type != "invalid_request_error" || m.Details != nil {
				t.Errorf("%d: the caller gets %s", test.came.status, a.body)
			}
			if ev := k.event(e.uuid); ev.Outcome != journal.Failed || ev.Status != test.came.status || ev.Source != usage.None || ev.Cost != 0 {
				t.Errorf("%d: event %+v", test.came.status, ev)
			}
		}
	}
	if all := k.cooldown.All(k.now()); len(all) != 0 {
		t.Errorf("the caller's error puts deployments into cooldown: %v", all)
	}
}

// tried is a row of error.details.attempts.
type tried struct {
	deployment string
	status     any
	code       any
}

func triedOf(m callerError) []tried {
	var out []tried
	list, _ := m.Details["attempts"].([]any)
	for _, row := range list {
		r, _ := row.(map[string]any)
		name, _ := r["deployment_id"].(string)
		out = append(out, tried{name, r["status"], r["code"]})
	}
	return out
}

func TestReportsWhyEveryAttemptFailed(t *testing.T) {
	t.Parallel()
	k := newKit(t, trio()) // a, b, a again, c
	timeout := &datav3.ResponseFlags{UpstreamRequestTimeout: true}
	unreached := &datav3.ResponseFlags{UpstreamConnectionFailure: true}
	e := k.open(t)
	taken(t, e, hello)
	k.attempt(e.uuid, 1, 503, nil)
	k.again(t, e.uuid, 2)
	k.attempt(e.uuid, 2, 0, timeout)
	k.again(t, e.uuid, 3)
	k.attempt(e.uuid, 3, 0, unreached)
	k.again(t, e.uuid, 4)
	c := failedWith(429, "x", "x", "retry-after", "7")
	c.attempt = 4
	a := e.answer(c)
	m := rejectedWith(t, e, a, 503, "all_deployments_failed")
	want := []tried{{"a", 503.0, "upstream_error"}, {"b", nil, "upstream_timeout"}, {"a", nil, "upstream_unreachable"}, {"c", 429.0, "upstream_rate_limited"}}
	if diff := cmp.Diff(want, triedOf(m), cmp.AllowUnexported(tried{})); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if a.headers["retry-after"] != "7" || a.headers["x-gateway-model-id"] != "c" || a.headers["x-gateway-attempted-retries"] != "2" || a.headers["x-gateway-attempted-fallbacks"] != "1" {
		t.Errorf("headers %v", a.headers)
	}
	type row struct {
		Attempt, Status int
		Deployment      id.Deployment
		Source          usage.Source
		Code            string
	}
	var rows []row
	for _, ev := range k.events(e.uuid) {
		if ev.Outcome != journal.Failed || (ev.Cost != 0) != (ev.Source == usage.Estimated) || ev.FallbackCount != ev.Number-1 {
			t.Errorf("event %+v", ev)
		}
		rows = append(rows, row{ev.Number, ev.Status, ev.Deployment, ev.Source, ev.ErrorCode})
	}
	wantRows := []row{
		{1, 503, "a", usage.None, "upstream_error"},
		{2, 0, "b", usage.Estimated, "upstream_timeout"},
		{4, 429, "c", usage.None, "all_deployments_failed"},
	}
	if diff := cmp.Diff(wantRows, rows); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for _, d := range []id.Deployment{"a", "b", "c"} {
		if _, resting := k.cooldown.InCooldown(d, k.now()); !resting {
			t.Errorf("deployment %s is not in cooldown", d)
		}
	}
	if until, _ := k.cooldown.InCooldown("c", k.now()); until.Before(epoch().Add(7 * time.Second)) {
		t.Errorf("c is in cooldown until %v, want its Retry-After of 7 s", until)
	}
	k.settled()
}

// An attempt without a report is recorded as unknown, and charged as if the provider had
// processed it.
func TestDoesNotWaitLongForTheAttemptLog(t *testing.T) {
	t.Parallel()
	k := newKit(t, trio())
	e := k.open(t)
	taken(t, e, hello)
	c := failedWith(500, "x", "x")
	c.attempt = 2
	m := rejectedWith(t, e, e.answer(c), 503, "all_deployments_failed")
	want := []tried{{"a", nil, "unknown"}, {"b", 500.0, "upstream_error"}}
	if diff := cmp.Diff(want, triedOf(m), cmp.AllowUnexported(tried{})); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	events := k.events(e.uuid)
	if len(events) != 2 || events[0].ErrorCode != "unknown" || events[0].Source != usage.Estimated || events[1].Source != usage.None {
		t.Errorf("events %+v", events)
	}
}

func TestAnswersAfterAFailure(t *testing.T) {
	t.Parallel()
	for _, body := range []string{hello, asking()} {
		k := newKit(t, trio())
		e := k.open(t)
		taken(t, e, body)
		k.again(t, e.uuid, 2)
		c := jsonAnswer(goodReply)
		if body != hello {
			c = streamAnswer()
			c.pieces = []string{text("Hi") + stop() + reported() + done}
		}
		c.attempt = 2
		e.head(c)
		k.attempt(e.uuid, 1, 429, nil) // the log's entry may come after the answer has begun
		e.piece(c.pieces[0], last)
		a := e.begun(c)
		if got := e.out(c.pieces[0]); !strings.Contains(got, `"model":"fast"`) || strings.Contains(got, `"up"`) {
			t.Errorf("the caller gets %q", got)
		}
		e.close()
		if a.status != 200 || a.headers["x-gateway-model-id"] != "b" || a.headers["x-gateway-attempted-retries"] != "1" || a.headers["x-gateway-attempted-fallbacks"] != "0" {
			t.Errorf("status %d, headers %v", a.status, a.headers)
		}
		events := k.events(e.uuid)
		if len(events) != 2 || events[0].Outcome != journal.Failed || events[0].Status != 429 || events[0].Source != usage.None ||
			events[1].Outcome != journal.Success || events[1].Deployment != "b" || events[1].FallbackCount != 1 || events[1].Tokens.Input != 9 {
			t.Errorf("events %+v", events)
		}
		if rests := k.cooldown.All(k.now()); len(rests) != 1 || rests[0].Deployment != "a" {
			t.Errorf("in cooldown: %v, want the one that failed", rests)
		}
		k.settled()
	}
}

func TestRejectsUnplannedAttempts(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	e := k.open(t)
	taken(t, e, hello)
	c := jsonAnswer()
	c.attempt = 2
	e.head(c)
	if err := <-e.done; err == nil {
		t.Error("the answer to an attempt that was not planned is taken")
	}
	e.ended = true
	e.cancel()
	if ev := k.event(e.uuid); ev.Source != usage.Estimated || ev.Tokens.Input == 0 {
		t.Errorf("event %+v", ev)
	}
	k.settled()
}

func TestSettlesWhenTheCallerLeavesBetweenAttempts(t *testing.T) {
	t.Parallel()
	spec := catalog.Spec{Deployments: trio().Deployments, Router: trio().Router}
	k := newKit(t, spec)
	for _, test := range []struct {
		name   string
		log    func(uuid string)
		events int
		last   usage.Source
	}{
		{"the first is under way", func(u string) { k.attempt(u, 1, 0, left()) }, 1, usage.Estimated},
		{"the first was refused", func(u string) { k.attempt(u, 1, 503, nil) }, 1, usage.None},
		{"the first was not reached", func(u string) {
			k.attempt(u, 1, 0, &datav3.ResponseFlags{UpstreamConnectionFailure: true})
		}, 0, usage.None},
		{"the second is under way", func(u string) {
			k.attempt(u, 1, 503, nil)
			k.again(t, u, 2)
			k.attempt(u, 2, 0, left())
		}, 2, usage.Estimated},
		{"the second is under way and the log is late", func(u string) {
			k.attempt(u, 1, 503, nil)
			k.again(t, u, 2)
		}, 2, usage.Estimated},
	} {
		e := k.open(t)
		taken(t, e, hello)
		test.log(e.uuid)
		e.leave()
		events := k.events(e.uuid)
		if len(events) != test.events {
			t.Errorf("%s: %d events, want %d", test.name, len(events), test.events)
			continue
		}
		if n := len(events); n > 0 && (events[n-1].Source != test.last || events[n-1].Outcome != journal.Canceled) {
			t.Errorf("%s: last event %+v", test.name, events[n-1])
		}
	}
	k.settled()
}

// A caller's short timeout affects only that caller: the deployments stay available to
// others, except one that rejected the request itself.
func TestShortTimeoutsCauseNoCooldown(t *testing.T) {
	t.Parallel()
	k := newKit(t, trio()) // a, b, a again, c
	timeout := &datav3.ResponseFlags{UpstreamRequestTimeout: true}
	e := k.open(t)
	taken(t, e, strings.Replace(hello, "{", `{"timeout":0.001,`, 1))
	for i := range 3 {
		k.attempt(e.uuid, i+1, 0, timeout)
		k.again(t, e.uuid, i+2)
	}
	c := failedWith(429, "x", "x", "retry-after", "7")
	c.attempt = 4
	rejectedWith(t, e, e.answer(c), 503, "all_deployments_failed")
	for d, want := range map[id.Deployment]bool{"a": false, "b": false, "c": true} {
		if _, resting := k.cooldown.InCooldown(d, k.now()); resting != want {
			t.Errorf("deployment %s in cooldown: %v", d, resting)
		}
	}
	k.settled()
}
