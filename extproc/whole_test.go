package extproc

import (
	"strings"
	"testing"

	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

func TestAnswersWhole(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	e := k.open(t)
	taken(t, e, hello, "x-gateway-customer-id", "customer")
	c := jsonAnswer(goodReply)
	c.headers = append(c.headers, "x-request-id", "their-id", "openai-organization", "ours", "set-cookie", "a=b",
		"x-ratelimit-remaining-requests", "7", "cf-ray", "x", "content-length", itoa(len(goodReply)))
	a := e.answer(c)
	if want := strings.Replace(goodReply, `"up"`, `"fast"`, 1); a.body != want {
		t.Errorf("the caller gets %s, want %s", a.body, want)
	}
	request := string(id.RequestFromUUID(e.uuid))
	want := headers{
		"content-type": "application/json", "content-length": itoa(len(a.body)),
		"x-request-id": request, "x-gateway-request-id": request,
		"x-gateway-model-id": "solo", "x-gateway-model-group": "fast", "x-gateway-attempted-retries": "0", "x-gateway-attempted-fallbacks": "0",
		"x-gateway-response-cost": "0.000039", "x-gateway-response-duration-ms": a.headers["x-gateway-response-duration-ms"], "x-gateway-version": "test",
		"llm_provider-x-request-id": "their-id", "llm_provider-x-ratelimit-remaining-requests": "7",
	}
	if diff := cmp.Diff(want, a.headers); diff != "" || a.status != 200 || a.headers["x-gateway-response-duration-ms"] == "" {
		t.Errorf("status %d, headers (-want +got):\n%s", a.status, diff)
	}
	ev := k.event(e.uuid)
	wantEvent := journal.Event{
		Attempt: usage.Attempt{
			Request: id.Request(request), Number: 1, Key: id.HashKey(appKey), KeyAlias: "app",
			Deployment: "solo", Group: "fast", Provider: "openai", Model: "fast", CallType: "chat.completions", EndUser: "customer",
			Start:  ev.Start,
			Tokens: usage.Tokens{Input: 9, Output: 3}, Cost: 39 * money.USD / 1_000_000,
			Actor: "key:app", Steps: usage.Steps{Counted: true},
		},
		Result: usage.Result{End: ev.End, Status: 200, Outcome: journal.Success, FinishReason: "stop", Source: usage.Provider, Final: true, ClientStatus: 200},
		ID:     ev.ID,
	}
	if diff := cmp.Diff(wantEvent, ev); diff != "" || !ev.End.After(ev.Start) {
		t.Errorf("event (-want +got):\n%s", diff)
	}
	k.settled()
}

func TestPassesCorrectResponsesUnchanged(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	for _, body := range []string{
		strings.Replace(goodReply, `,"model":"up"`, "", 1),
		" " + strings.Replace(goodReply, `,"model":"up"`, "", 1) + "\n",
		strings.Replace(goodReply, `"up"`, `"fast"`, 1),
	} {
		e := k.open(t)
		taken(t, e, hello)
		half := len(body) / 2
		if a := e.answer(jsonAnswer(body[:half], body[half:])); a.body != body {
			t.Errorf("the caller gets %q, want %q", a.body, body)
		}
	}
}

func TestAnswersInPieces(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	want := strings.Replace(goodReply, `"up"`, `"fast"`, 1)
	for size := 1; size <= len(goodReply); size += 13 {
		var pieces []string
		for rest := goodReply; rest != ""; {
			n := min(size, len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		pieces = append(pieces, "") // Envoy often ends a body with an empty piece
		e := k.open(t)
		taken(t, e, hello)
		if a := e.answer(jsonAnswer(pieces...)); a.body != want {
			t.Fatalf("in pieces of %d the caller gets %q", size, a.body)
		}
	}
	if n := len(k.events("")); n != (len(goodReply)+12)/13 {
		t.Errorf("%d events", n)
	}
}

func TestCountsWhatTheProviderDoesNot(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	const none, report = `"x":0`, `"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}`
	for _, test := range []struct{ name, usage string }{
		{"no usage", none},
		{"null", `"usage":null`},
		{"empty", `"usage":{}`},
		{"negative", `"usage":{"prompt_tokens":9,"completion_tokens":-3}`},
		{"huge", `"usage":{"prompt_tokens":1000000000000000000,"completion_tokens":3}`},
		{"text", `"usage":"much"`},
		{"fraction", `"usage":{"prompt_tokens":9.5,"completion_tokens":3}`},
		{"parts above the whole", `"usage":{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":10}}`},
	} {
		e := k.open(t)
		taken(t, e, hello)
		a := e.answer(jsonAnswer(strings.Replace(goodReply, report, test.usage, 1)))
		ev := k.event(e.uuid)
		// One word and what frames it, and three words and two stops.
		if ev.Source != usage.Estimated || ev.Tokens != (usage.Tokens{Input: 8, Output: 3}) || ev.Outcome != journal.Success {
			t.Errorf("%s: event %+v", test.name, ev)
		}
		if a.status != 200 || a.headers["x-gateway-response-cost"] != ev.Cost.String() || ev.Cost == 0 {
			t.Errorf("%s: status %d, cost %s, recorded %s", test.name, a.status, a.headers["x-gateway-response-cost"], ev.Cost)
		}
	}
	e := k.open(t)
	taken(t, e, hello)
	e.answer(jsonAnswer(strings.Replace(goodReply, report, `"usage":{"prompt_tokens":0,"completion_tokens":0}`, 1)))
	if ev := k.event(e.uuid); ev.Source != usage.Provider || ev.Tokens != (usage.Tokens{}) || ev.Cost != 0 {
		t.Errorf("a provider that says 0 means it: %+v", ev)
	}
}

func TestCountsToolsAndThinking(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	e := k.open(t)
	taken(t, e, with(`"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]`))
	e.answer(jsonAnswer(`{"model":"up","choices":[{"message":{"content":null,"reasoning_content":"The user asks.","tool_calls":[{"id":"1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},"finish_reason":"tool_calls"}]}`))
	ev := k.event(e.uuid)
	if ev.Tokens.Input < 25 || ev.Tokens.Output < 8 || ev.FinishReason != "tool_calls" {
		t.Errorf("tools are not counted: %+v", ev)
	}
}

func TestRejectsInvalidResponses(t *testing.T) {
	k := newKit(t, catalog.Spec{Deployments: append(one().Deployments, claude("claude", "smart", 0)), Router: quick(0)})
	const page = "<!doctype html><title>secret host db1.internal</title>"
	for _, test := range []struct {
		name   string
		came   came
		status int
		code   string
	}{
		{"a page", came{status: 200, headers: []string{"content-type", "text/html"}, pieces: []string{page}}, 502, "upstream_invalid_response"},
		{"a page that says it is JSON", jsonAnswer(page), 502, "upstream_invalid_response"},
		{"empty", came{status: 200, headers: []string{"content-type", "application/json"}, headOnly: true}, 502, "upstream_invalid_response"},
		{"empty piece", jsonAnswer(""), 502, "upstream_invalid_response"},
		{"no content", came{status: 204, headOnly: true}, 502, "upstream_invalid_response"},
		{"cut", jsonAnswer(goodReply[:len(goodReply)-1]), 502, "upstream_invalid_response"},
		{"an array", jsonAnswer("[]"), 502, "upstream_invalid_response"},
		{"compressed", came{status: 200, headers: []string{"content-type", "application/json", "content-encoding", "gzip"}, pieces: []string{"\x1f\x8b"}}, 502, "upstream_invalid_response"},
		{"a stream", came{status: 200, headers: []string{"content-type", "text/event-stream"}, pieces: []string{"data: {}\n\n"}}, 502, "upstream_invalid_response"},
		{"too long", jsonAnswer(`{"x":"`, strings.Repeat("x", 1<<20), `"}`), 502, "upstream_invalid_response"},
		{"error with a good status", jsonAnswer(`{"error":{"message":"db1.internal","code":"x"}}`), 502, "upstream_error"},
		{"redirect", came{status: 302, headers: []string{"location", "http://169.254.169.254/"}, headOnly: true}, 503, "all_deployments_failed"},
	} {
		for _, model := range []string{"fast", "smart"} {
			e := k.open(t)
			taken(t, e, strings.Replace(hello, "fast", model, 1))
			a := e.answer(test.came)
			t.Run(test.name+" for "+model, func(t *testing.T) {
				rejectedWith(t, e, a, test.status, test.code)
				if strings.Contains(a.body, "internal") || strings.Contains(a.body, "169.254") {
					t.Errorf("the error %q reveals the provider's response", a.body)
				}
				if ev := k.event(e.uuid); ev.Outcome != journal.Failed || ev.ErrorCode == "" || ev.Status != test.came.status {
					t.Errorf("event %+v", ev)
				}
			})
		}
	}
	k.settled()
}

func TestHoldsTheAnswerUntilItIsRecorded(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	e := k.open(t)
	taken(t, e, hello)
	k.events("") // the intent is on the disk
	k.gate.close()
	e.head(jsonAnswer())
	e.piece(goodReply, last)
	<-k.gate.reached
	e.silent()
	k.gate.open()
	if a := e.begun(jsonAnswer()); a.status != 200 {
		t.Errorf("answered %+v", a)
	}
	if got := e.out(goodReply); !strings.Contains(got, "Hi there.") {
		t.Errorf("the caller gets %q", got)
	}
	e.close()
}

func TestAnswersWhatFollows(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	e := k.open(t)
	taken(t, e, hello)
	e.head(jsonAnswer())
	e.piece(goodReply, last)
	e.begun(jsonAnswer())
	e.out(goodReply)
	e.send(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseTrailers{ResponseTrailers: &extprocv3.HttpTrailers{}}})
	if r := e.next(); r.GetResponseTrailers() == nil {
		t.Errorf("trailers are answered with %v", r)
	}
	e.close()
	k.settled()
}

func TestPricesTheRequestedTier(t *testing.T) {
	t.Parallel()
	spec := one()
	spec.Deployments[0].Prices["input_cost_per_token_flex"] = "0.0000005"
	spec.Deployments[0].Prices["output_cost_per_token_flex"] = "0.000005"
	k := newKit(t, spec)
	e := k.open(t)
	taken(t, e, with(`"service_tier":"flex"`))
	if a := e.answer(jsonAnswer(goodReply)); a.headers["x-gateway-response-cost"] != "0.0000195" {
		t.Errorf("cost is %s", a.headers["x-gateway-response-cost"])
	}
}

func TestSettlesWhenTheCallerLeavesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	for _, pieces := range []int{-1, 0, 1} { // before the headers, after them, within the body
		e := k.open(t)
		taken(t, e, hello)
		if pieces >= 0 {
			e.head(jsonAnswer())
		}
		if pieces > 0 {
			e.piece(goodReply[:20])
		}
		k.attempt(e.uuid, 1, 0, left())
		e.leave()
		ev := k.event(e.uuid)
		if ev.Outcome != journal.Canceled || ev.ErrorCode != "canceled" || ev.Source != usage.Estimated || ev.Tokens.Input != 8 {
			t.Errorf("after %d pieces: event %+v", pieces, ev)
		}
	}
	k.settled()
}
