package extproc

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// streaming is hello as a stream; asking also wants its usage.
func streaming() string { return with(`"stream":true`) }

func asking() string { return with(`"stream":true,"stream_options":{"include_usage":true}`) }

// event is one event of a stream in OpenAI's form, from a provider that calls
// the model up.
func event(rest string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","model":"up",` + rest + "}\n\n"
}

func text(s string) string {
	return event(`"choices":[{"index":0,"delta":{"content":"` + s + `"},"finish_reason":null}]`)
}

func stop() string {
	return event(`"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]`)
}

func reported() string {
	return event(`"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}`)
}

const done = "data: [DONE]\n\n"

// relayed sends a stream in pieces and returns what the caller gets of it. The
// last piece ends it.
func relayed(tb testing.TB, e *envoy, body string, pieces ...string) string {
	tb.Helper()
	taken(tb, e, body)
	c := streamAnswer()
	c.pieces = pieces
	a := e.answer(c)
	if a.immediate || a.status != 200 {
		tb.Fatalf("the stream is answered with %+v", a)
	}
	return a.body
}

func TestStreams(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	said := text("Hi") + text(" there.") + stop()
	renamed := strings.ReplaceAll(said, `"up"`, `"fast"`)
	for _, test := range []struct{ name, body, in, want string }{
		{"usage was not asked for", streaming(), said + reported() + done, renamed + done},
		{
			"usage was asked for", asking(), said + reported() + done,
			renamed + strings.Replace(strings.Replace(reported(), `12}`, `12,"cost":0.000039}`, 1), `"up"`, `"fast"`, 1) + done,
		},
		{"the name is right", streaming(), renamed + reported() + done, renamed + done},
		{"nothing after the end", streaming(), said + reported() + done + said + done + ": ping\n\n", renamed + done},
		{"no last blank line", streaming(), said + reported() + "data: [DONE]", renamed + "data: [DONE]"},
		{"no end mark", streaming(), said + reported(), renamed},
		{"null usage stays", asking(), strings.ReplaceAll(said, `}]}`, `}],"usage":null}`) + done, strings.ReplaceAll(renamed, `}]}`, `}],"usage":null}`) + done},
	} {
		e := k.open(t)
		if diff := cmp.Diff(test.want, relayed(t, e, test.body, test.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		ev := k.event(e.uuid)
		want := usage.Tokens{Input: 9, Output: 3}
		if !strings.Contains(test.in, "prompt_tokens") {
			want.Input = 8 // counted here
		}
		if ev.Outcome != journal.Success || ev.Tokens != want || !ev.Stream || ev.FinishReason != "stop" || ev.FirstToken.IsZero() || ev.FirstToken.After(ev.End) {
			t.Errorf("%s: event %+v", test.name, ev)
		}
	}
	k.settled()
}

func TestStreamsHeaders(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	e := k.open(t)
	taken(t, e, streaming())
	c := streamAnswer()
	c.headers = append(c.headers, "x-request-id", "their-id", "set-cookie", "a=b", "content-length", "9")
	c.pieces = []string{stop() + done}
	a := e.answer(c)
	for name, want := range map[string]string{
		"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", "x-accel-buffering": "no",
		"x-gateway-model-id": "solo", "llm_provider-x-request-id": "their-id", "content-length": "", "set-cookie": "", "x-gateway-response-cost": "",
	} {
		if a.headers[name] != want {
			t.Errorf("%s is %q, want %q", name, a.headers[name], want)
		}
	}
}

// The caller's response must not depend on where the network splits the stream.
func TestStreamsDoNotDependOnPieces(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{Deployments: append(one().Deployments, claude("claude", "smart", 0)), Router: quick(0)})
	crlf := strings.ReplaceAll(text("Hé\\n"), "\n", "\r\n")
	for _, test := range []struct{ name, body, in, want string }{
		{
			"as it is", asking(),
			": ping\n\n" + crlf + "event: x\nid: 7\n" + text("there") + ":\n\n" + stop() + reported() + "data:[DONE]",
			":\n\n" + strings.Replace(crlf, `"up"`, `"fast"`, 1) + strings.Replace(text("there")+":\n\n"+stop(), `"up"`, `"fast"`, 2) +
				strings.Replace(strings.Replace(reported(), `12}`, `12,"cost":0.000039}`, 1), `"up"`, `"fast"`, 1) + "data:[DONE]",
		},
		{
			"untouched", streaming(),
			"\xef\xbb\xbf" + strings.ReplaceAll(strings.ReplaceAll(crlf+stop(), `"up"`, `"fast"`), "\r\n", "\r") + "retry: 9\r: bye\r\n\r\n" + "id: 8\n" + done,
			"\xef\xbb\xbf" + strings.ReplaceAll(strings.ReplaceAll(crlf+stop(), `"up"`, `"fast"`), "\r\n", "\r") + ":\n\n" + done,
		},
		{
			"translated", strings.Replace(asking(), "fast", "smart", 1), anthropicStream(), "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := test.want
			if want == "" {
				want = relayed(t, k.open(t), test.body, test.in)
			}
			check := func(how string, pieces ...string) {
				e := k.open(t)
				if diff := cmp.Diff(unstamped(want), unstamped(relayed(t, e, test.body, pieces...))); diff != "" {
					t.Fatalf("cut %s (-want +got):\n%s", how, diff)
				}
				if ev := k.event(e.uuid); ev.Outcome != journal.Success || ev.Source == usage.None {
					t.Fatalf("cut %s: event %+v", how, ev)
				}
			}
			for i := range len(test.in) + 1 {
				check("at "+itoa(i), test.in[:i], test.in[i:])
			}
			check("in characters", strings.Split(test.in, "")...)
			check("in bytes with an empty end", append(bytesOf(test.in), "")...)
		})
	}
}

// bytesOf cuts a text into its bytes; strings.Split keeps characters together.
func bytesOf(s string) []string {
	out := make([]string, len(s))
	for i := range out {
		out[i] = s[i : i+1]
	}
	return out
}

// unstamped is a stream without what differs from request to request.
func unstamped(s string) string {
	return regexp.MustCompile(`"created":\d+|"id":"chatcmpl-[0-9a-f]+"`).ReplaceAllString(s, "")
}

// anthropicStream is 10 tokens in and 5 out.
func anthropicStream() string {
	return "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-up\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n" +
		"event: ping\ndata: {\"type\":\"ping\"}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\" there.\"}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
}

func TestTranslatesStreams(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{claude("claude", "fast", 0)}, Router: quick(0)})
	for _, test := range []struct{ name, body string }{{"without usage", streaming()}, {"with usage", asking()}} {
		e := k.open(t)
		got := relayed(t, e, test.body, anthropicStream())
		events := strings.Split(strings.TrimSuffix(got, "\n\n"), "\n\n")
		var said strings.Builder
		for _, event := range events {
			if _, after, ok := strings.Cut(event, `"content":"`); ok {
				s, _, _ := strings.Cut(after, `"`)
				said.WriteString(s)
			}
			if event != "data: [DONE]" && !strings.Contains(event, `"model":"fast"`) {
				t.Errorf("%s: event %s", test.name, event)
			}
		}
		if said.String() != "Hi there." || events[len(events)-1] != "data: [DONE]" || strings.Contains(got, "claude") {
			t.Errorf("%s: the caller gets %s", test.name, got)
		}
		wantUsage := test.name == "with usage"
		if strings.Contains(got, `"cost":0.00006`) != wantUsage || strings.Contains(got, `"prompt_tokens":10`) != wantUsage {
			t.Errorf("%s: the caller gets %s", test.name, got)
		}
		if ev := k.event(e.uuid); ev.Tokens != (usage.Tokens{Input: 10, Output: 5}) || ev.Source != usage.Provider || ev.Outcome != journal.Success || ev.FinishReason != "stop" {
			t.Errorf("%s: event %+v", test.name, ev)
		}
	}
}

func TestStreamsNothingBeforeTheIntentIsRecorded(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	k.gate.close()
	e := k.open(t)
	taken(t, e, streaming())
	<-k.gate.reached
	e.head(streamAnswer())
	e.piece(text("Hi"))
	e.silent()
	k.gate.open()
	e.begun(streamAnswer())
	if got := e.out(""); !strings.Contains(got, "Hi") {
		t.Errorf("the caller gets %q", got)
	}
	e.quit()
}

func TestHoldsTheEndOfAStreamUntilItIsRecorded(t *testing.T) {
	t.Parallel()
	k := newKit(t, catalog.Spec{Deployments: append(one().Deployments, claude("claude", "smart", 0)), Router: quick(0)})
	for model, in := range map[string]string{"fast": text("Hi") + stop() + done, "smart": anthropicStream()} {
		for _, end := range []string{"", last} {
			at := strings.LastIndex(strings.TrimRight(in, "\n"), "\n\n") + 2 // the last event
			if model == "smart" {
				at = strings.Index(in, "event: message_delta")
			}
			e := k.open(t)
			taken(t, e, strings.Replace(streaming(), "fast", model, 1))
			e.head(streamAnswer())
			e.begun(streamAnswer())
			e.piece(in[:at])
			if got := e.out(""); strings.Contains(got, "[DONE]") {
				t.Fatalf("the end comes early: %q", got)
			}
			k.gate.close()
			if end == "" {
				e.piece(in[at:])
			} else {
				e.piece(in[at:], end)
			}
			<-k.gate.reached
			e.silent()
			if len(k.scanned(e.uuid)) != 0 {
				t.Error("the event is said to be recorded")
			}
			k.gate.open()
			if got := e.out(in[at:]); !strings.Contains(got, "[DONE]") {
				t.Errorf("%s: the end is %q", model, got)
			}
			if len(k.scanned(e.uuid)) != 1 {
				t.Errorf("%s: the end has left and %d events are recorded", model, len(k.scanned(e.uuid)))
			}
			e.close()
		}
	}
	k.settled()
}

func TestRejectsInvalidStreams(t *testing.T) {
	t.Parallel()
	k := newKit(t, one())
	for _, test := range []struct {
		name string
		came came
	}{
		{"a whole answer", jsonAnswer(goodReply)},
		{"a page", came{status: 200, headers: []string{"content-type", "text/html"}, pieces: []string{"<html>"}}},
		{"nothing", came{status: 200, headers: []string{"content-type", "text/event-stream"}, headOnly: true}},
		{"compressed", came{status: 200, headers: []string{"content-type", "text/event-stream", "content-encoding", "br"}, pieces: []string{"x"}}},
		{"no content", came{status: 204, headOnly: true}},
	} {
		e := k.open(t)
		taken(t, e, streaming())
		rejectedWith(t, e, e.answer(test.came), 502, "upstream_invalid_response")
		if ev := k.event(e.uuid); ev.Outcome != journal.Failed || ev.Status != test.came.status {
			t.Errorf("%s: event %+v", test.name, ev)
		}
	}
	k.settled()
}
