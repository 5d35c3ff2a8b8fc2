package extproc

import (
	"strings"
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/envoy/contract"
)

// upstreamHead begins an attempt on a stream of an upstream filter and returns
// what becomes of the request: nil if it stays as it is.
func (e *envoy) upstreamHead(number int, list []string) *outgoing {
	e.tb.Helper()
	e.send(&extprocv3.ProcessingRequest{
		Request: &extprocv3.ProcessingRequest_RequestHeaders{RequestHeaders: &extprocv3.HttpHeaders{Headers: headerMap(list)}},
		Attributes: attributes(e.tb, map[string]any{
			contract.AttrRequestID: e.uuid, contract.AttrAttempt: number, contract.AttrCluster: "c",
		}),
	})
	r := e.next()
	if im := r.GetImmediateResponse(); im != nil {
		return &outgoing{refused: immediate(im)}
	}
	common := r.GetRequestHeaders().GetResponse()
	if common == nil {
		return nil
	}
	if common.GetStatus() != extprocv3.CommonResponse_CONTINUE_AND_REPLACE {
		e.tb.Errorf("the body is not replaced: %v", common.GetStatus())
	}
	out := &outgoing{headers: headers{}.add(list), body: string(common.GetBodyMutation().GetBody()), replaced: true}
	out.headers.mutate(common.GetHeaderMutation())
	// Envoy takes the length away with the old body; the gateway's filter puts back
	// what the metadata says.
	out.headers["content-length"] = r.GetDynamicMetadata().GetFields()[contract.MetadataRequest].GetStructValue().GetFields()["content-length"].GetStringValue()
	return out
}

// again is an attempt's stream of the rewriting filter, from its beginning to its end.
func (k *kit) again(tb testing.TB, uuid string, number int) *outgoing {
	tb.Helper()
	e := k.openAs(tb, uuid, contract.RoleRewrite)
	out := e.upstreamHead(number, plainHeaders(uuid))
	e.wait() // it ends the stream by itself
	e.cancel()
	return out
}

func TestRewritesLaterAttempts(t *testing.T) {
	t.Parallel()
	r := quick(0)
	r.Fallbacks = []map[string][]string{{"fast": {"smart", "other"}}}
	spec := catalog.Spec{
		Deployments: []catalog.DeploymentSpec{place("a", "fast", "model-a", 0), claude("claude", "smart", 0), place("c", "other", "fast", 0)},
		Router:      r,
	}
	k := newKit(t, spec)
	e := k.open(t)
	first := taken(t, e, with(`"tags":["x"]`), "cookie", "a=b")
	if first.headers["authorization"] != "Bearer key-of-a" {
		t.Fatalf("attempt 1 goes out with %v", first.headers)
	}
	list := func(h headers) []string {
		var out []string
		for name, value := range h {
			out = append(out, name, value)
		}
		return out
	}
	attempt := func(number int, before headers) *outgoing {
		u := k.openAs(t, e.uuid, contract.RoleRewrite)
		out := u.upstreamHead(number, list(before))
		u.wait()
		u.cancel()
		if out == nil || out.headers["content-length"] != itoa(len(out.body)) {
			t.Fatalf("attempt %d goes out as %+v", number, out)
		}
		return out
	}
	second := attempt(2, first.headers)
	want := headers{
		":path": "/v1/messages", ":authority": "claude.example", "x-api-key": "key-of-claude", "anthropic-version": "2023-06-01",
		"content-type": "application/json", "accept-encoding": "identity", ":method": "POST", "x-request-id": string(id.RequestFromUUID(e.uuid)), "content-length": itoa(len(second.body)),
	}
	for _, name := range []string{contract.HeaderMaxRetries, contract.HeaderPerTryTimeout, contract.HeaderTimeout, contract.HeaderRetriableCodes} {
		if _, set := first.headers[name]; !set {
			continue
		}
		want[name] = first.headers[name] // Envoy's router has read and removed these; they are of no matter here
	}
	if diff := cmp.Diff(want, second.headers); diff != "" {
		t.Errorf("attempt 2 (-want +got):\n%s", diff)
	}
	if !strings.Contains(second.body, `"claude-sonnet-4-5"`) || strings.Contains(second.body, "tags") {
		t.Errorf("attempt 2 sends %s", second.body)
	}
	third := attempt(3, second.headers)
	if third.headers[":path"] != "/v1/chat/completions" || third.headers[":authority"] != "c.example" || third.headers["authorization"] != "Bearer key-of-c" {
		t.Errorf("attempt 3 goes out with %v", third.headers)
	}
	for _, name := range []string{"x-api-key", "anthropic-version"} {
		if v, ok := third.headers[name]; ok {
			t.Errorf("attempt 3 still has %s: %s of another provider", name, v)
		}
	}
	if third.body != hello {
		t.Errorf("attempt 3 sends %s, want %s", third.body, hello)
	}
	k.attempt(e.uuid, 1, 500, nil)
	k.attempt(e.uuid, 2, 500, nil)
	c := jsonAnswer(goodReply)
	c.attempt = 3
	if a := e.answer(c); a.headers["x-gateway-attempted-fallbacks"] != "2" || a.headers["x-gateway-model-id"] != "c" {
		t.Errorf("headers %v", a.headers)
	}
	if n := len(k.events(e.uuid)); n != 3 {
		t.Errorf("%d events", n)
	}
	// The request has ended: there is nothing to put into an attempt of it.
	if out := k.again(t, e.uuid, 2); out != nil {
		t.Errorf("an attempt of a request that has ended goes out as %+v", out)
	}
	k.settled()
}

func TestRewritesWithTheWholeBody(t *testing.T) {
	t.Parallel()
	spec := one()
	spec.Deployments = append(spec.Deployments, place("spare", "fast", "fast", 1))
	spec.Router = quick(1)
	k := newKit(t, spec)
	e := k.open(t)
	taken(t, e, hello)
	u := k.openAs(t, e.uuid, contract.RoleRewrite)
	out := u.upstreamHead(2, nil)
	if out == nil || out.body != hello {
		t.Fatalf("attempt 2 sends %+v", out)
	}
	// The caller's stream ends first, and gives back the body.
	k.attempt(e.uuid, 1, 500, nil)
	k.attempt(e.uuid, 2, 0, left())
	e.leave()
	u.wait() // which checks that what was sent is still what it was
	u.cancel()
}

// A fallback that cannot take the request is not in the plan: found later, it would end the request.
func TestLeavesOutWhatCannotTakeTheRequest(t *testing.T) {
	t.Parallel()
	r := quick(0)
	r.Fallbacks = []map[string][]string{{"fast": {"smart", "last"}}}
	k := newKit(t, catalog.Spec{
		Deployments: []catalog.DeploymentSpec{place("a", "fast", "fast", 0), claude("claude", "smart", 0), place("b", "last", "last", 0)}, Router: r,
	})
	for body, want := range map[string]int{hello: 3, with(`"n":2`): 2} { // Anthropic has no choices
		e := k.open(t)
		out := taken(t, e, body)
		if len(out.plan) != want {
			t.Errorf("%s: the plan is %v, want %d attempts", body, out.plan, want)
		}
		k.attempt(e.uuid, 1, 500, nil)
		if next := k.again(t, e.uuid, 2); next == nil || next.refused != nil {
			t.Errorf("%s: attempt 2 is %+v", body, next)
		}
		e.leave()
	}
	k.settled()
}

func TestLetsTheFirstAttemptPass(t *testing.T) {
	t.Parallel()
	k := newKit(t, trio("content_filter"))
	e := k.open(t)
	taken(t, e, hello)
	u := k.openAs(t, e.uuid, contract.RoleCheck)
	if out := u.upstreamHead(1, plainHeaders(e.uuid)); out != nil {
		t.Errorf("attempt 1 is rewritten to %+v", out)
	}
	u.leave()
	for _, number := range []int{0, 5, 99} { // not in the plan
		if out := k.again(t, e.uuid, number); out != nil {
			t.Errorf("attempt %d goes out as %+v", number, out)
		}
	}
	if out := k.again(t, k.uuid(), 2); out != nil {
		t.Errorf("an unknown request goes out as %+v", out)
	}
	e.quit()
}

func TestInspectsResponses(t *testing.T) {
	k := newKit(t, trio("content_filter", "stream_error"))
	filtered := strings.Replace(goodReply, `"stop"`, `"content_filter"`, 1)
	page := came{status: 200, headers: []string{"content-type", "text/event-stream"}}
	streamOf := func(pieces ...string) came {
		c := page
		c.pieces = pieces
		return c
	}
	const broken = `data: {"error":{"message":"overloaded","type":"server_error"}}` + "\n\n"
	for _, test := range []struct {
		name, body string
		came       came
		code       string // why the next attempt is made; empty: this one stands
	}{
		{"good", hello, jsonAnswer(goodReply), ""},
		{"good in pieces", hello, jsonAnswer(goodReply[:40], goodReply[40:]), ""},
		{"filtered", hello, jsonAnswer(filtered), "content_filter"},
		{"filtered in pieces", hello, jsonAnswer(filtered[:40], filtered[40:], ""), "content_filter"},
		{"refused by the filter", hello, failedWith(400, "content_filter", "no"), "content_filter"},
		{"refused for another reason", hello, failedWith(400, "unsupported_value", "no"), ""},
		{"5xx is Envoy's business", hello, failedWith(500, "x", "no"), ""},
		{"429 too", hello, failedWith(429, "x", "no"), ""},
		{"no body", hello, came{status: 204, headOnly: true}, ""},
		{"garbage", hello, jsonAnswer("<html>"), "upstream_invalid_response"},
		{"good stream", streaming(), streamOf(text("Hi")), ""},
		{"good stream after a comment", streaming(), streamOf(": ping\n\n", ": ping\n\n"+text("Hi")), ""},
		{"error first", streaming(), streamOf(broken), "upstream_error"},
		{"error first in pieces", streaming(), streamOf(": ping\n\n"+broken[:20], broken[20:]), "upstream_error"},
		{"error second", streaming(), streamOf(text("Hi") + broken), ""},
		{"stream of nothing", streaming(), streamOf(": ping\n\n", ""), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := k.open(t)
			taken(t, e, test.body)
			u := k.openAs(t, e.uuid, contract.RoleCheck)
			if out := u.upstreamHead(1, plainHeaders(e.uuid)); out != nil {
				t.Fatalf("attempt 1 is rewritten to %+v", out)
			}
			u.head(test.came)
			for i, p := range test.came.pieces {
				if i == len(test.came.pieces)-1 && test.came.headers[1] == "application/json" || p == "" {
					u.piece(p, last)
				} else {
					u.piece(p)
				}
			}
			a := u.begun(test.came)
			u.wait()
			u.cancel()
			if test.code == "" {
				if a.status != test.came.status {
					t.Errorf("an answer that is good gets status %d", a.status)
				}
				e.quit()
				return
			}
			if a.status != contract.StatusNext {
				t.Fatalf("the answer gets status %d, so that Envoy does not try the next", a.status)
			}
			k.attempt(e.uuid, 1, contract.StatusNext, nil)
			k.again(t, e.uuid, 2)
			c := failedWith(500, "x", "x")
			c.attempt = 2
			m := rejectedWith(t, e, e.answer(c), 503, "all_deployments_failed")
			if rows := triedOf(m); len(rows) != 2 || rows[0].code != test.code {
				t.Errorf("attempts %v, want the first to have failed with %s", rows, test.code)
			}
			if events := k.events(e.uuid); len(events) != 2 || events[0].ErrorCode != test.code || events[0].Status != test.came.status && events[0].Status != 500 {
				t.Errorf("events %+v", events)
			}
		})
		for _, rest := range k.cooldown.All(k.now()) {
			t.Logf("%s rests", rest.Deployment)
		}
		k.cooldown.Keep(func(id.Deployment) bool { return false })
	}
	k.settled()
}

// An answer that the Check filter took away may turn out to have been the last.
func TestReportsWhatTheCheckFound(t *testing.T) {
	t.Parallel()
	k := newKit(t, trio("content_filter"))
	e := k.open(t)
	taken(t, e, hello)
	u := k.openAs(t, e.uuid, contract.RoleCheck)
	u.upstreamHead(1, plainHeaders(e.uuid))
	c := failedWith(400, "content_filter", "no")
	u.head(c)
	u.piece(c.pieces[0], last)
	u.begun(c)
	u.wait()
	u.cancel()
	c.status = contract.StatusNext
	rejectedWith(t, e, e.answer(c), 400, "content_filter")
	if ev := k.event(e.uuid); ev.Status != 400 || ev.Outcome != journal.Failed || ev.ErrorCode != "content_filter" {
		t.Errorf("event %+v", ev)
	}
	if all := k.cooldown.All(k.now()); len(all) != 0 {
		t.Errorf("a filtered answer puts deployments into cooldown: %v", all)
	}
}
