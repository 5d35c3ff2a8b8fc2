package extproc

import (
	"context"
	"strings"
	"testing"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// pair is a provider of each dialect, with replacements so that both may be in cooldown.
func pair() catalog.Spec {
	return catalog.Spec{
		Deployments: []catalog.DeploymentSpec{
			place("solo", "fast", "fast", 0), place("spare", "fast", "fast", 1),
			claude("claude", "smart", 0), claude("claude-spare", "smart", 1),
		},
		Router: quick(0),
	}
}

// words is a stream of ten pieces of text.
func words() []string {
	var out []string
	for range 10 {
		out = append(out, text("seven more words come in this piece "))
	}
	return out
}

func TestReportsCutStreams(t *testing.T) {
	t.Parallel()
	k := newKit(t, pair())
	cutOff := anthropicStream()[:strings.Index(anthropicStream(), "event: content_block_stop")]
	for _, test := range []struct{ name, model, in string }{
		{"between events", "fast", text("Hi")},
		{"within an event", "fast", text("Hi") + text("there")[:20]},
		{"before anything", "fast", ""},
		{"after a comment", "fast", ": ping\n\n"},
		{"translated", "smart", cutOff},
	} {
		e := k.open(t)
		got := relayed(t, e, strings.Replace(streaming(), "fast", test.model, 1), test.in, "")
		events := strings.Split(strings.TrimSuffix(got, "\n\n"), "\n\n")
		m := callerErrorOf(t, strings.TrimPrefix(events[len(events)-1], "data: "))
		if m.Type != "upstream_error" || strings.Contains(got, "[DONE]") {
			t.Errorf("%s: the caller gets %q", test.name, got)
		}
		if test.in != "" && strings.Contains(test.in, "Hi") != strings.Contains(got, "Hi") {
			t.Errorf("%s: the caller gets %q", test.name, got)
		}
		ev := k.event(e.uuid)
		if ev.Outcome != journal.Failed || ev.ErrorCode == "" || ev.Status != 200 || ev.Source != usage.Estimated || ev.Tokens.Input == 0 || (ev.Tokens.Output > 0) != strings.Contains(got, "Hi") {
			t.Errorf("%s: event %+v", test.name, ev)
		}
	}
	k.settled()
}

func TestReportsFailedStreams(t *testing.T) {
	t.Parallel()
	k := newKit(t, pair())
	const internal = `data: {"error":{"message":"pod 10.1.2.3 died with key sk-proj-abcdefghijkl","type":"server_error","code":"boom"}}` + "\n\n"
	const overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"pod 10.1.2.3\"}}\n\n"
	said := strings.Join(words()[:9], "")
	start := anthropicStream()[:strings.Index(anthropicStream(), "event: content_block_stop")]
	for _, test := range []struct{ name, model, before, failure, after string }{
		{"first", "fast", "", internal, done},
		{"tenth", "fast", said, internal, text("again") + stop() + done},
		{"garbage", "fast", text("Hi"), "data: {\"choices\":[\n\n", text("again") + done},
		{"garbage first", "fast", "", "data: <html>\n\n", done},
		{"too long", "fast", text("Hi"), "data: " + strings.Repeat("x", 17<<20) + "\n\n", done},
		{"translated first", "smart", "", overloaded, anthropicStream()},
		{"translated later", "smart", start, overloaded, anthropicStream()},
		{"translated garbage", "smart", start, "data: {]\n\n", anthropicStream()},
	} {
		for _, apart := range []string{"in one piece", "apart"} {
			pieces := []string{test.before + test.failure + test.after}
			if apart == "apart" {
				pieces = []string{test.before, test.failure, test.after}
			}
			e := k.open(t)
			got := relayed(t, e, strings.Replace(streaming(), "fast", test.model, 1), pieces...)
			events := strings.Split(strings.TrimSuffix(got, "\n\n"), "\n\n")
			m := callerErrorOf(t, strings.TrimPrefix(events[len(events)-1], "data: "))
			if strings.Contains(got, "10.1.2.3") || strings.Contains(got, "sk-proj") || strings.Contains(got, "[DONE]") || strings.Contains(got, "again") {
				t.Errorf("%s, %s: the caller gets %.500q", test.name, apart, got)
			}
			if test.model == "fast" && strings.TrimSuffix(got, events[len(events)-1]+"\n\n") != strings.ReplaceAll(test.before, `"up"`, `"fast"`) {
				t.Errorf("%s, %s: before the error the caller gets %.500q", test.name, apart, got)
			}
			ev := k.event(e.uuid)
			if ev.Outcome != journal.Failed || ev.ErrorCode == "" || ev.Tokens.Input == 0 {
				t.Errorf("%s, %s: event %+v, the caller gets %+v", test.name, apart, ev, m)
			}
		}
	}
	k.settled()
}

// Wherever in the stream the caller disconnects, what was delivered is charged.
func TestSettlesWhenTheCallerLeavesAStream(t *testing.T) {
	t.Parallel()
	k := newKit(t, pair())
	parts := append(append(words(), stop()), reported(), done)
	var translated []string
	for part := range strings.SplitSeq(strings.TrimSuffix(anthropicStream(), "\n\n"), "\n\n") {
		translated = append(translated, part+"\n\n")
	}
	for model, pieces := range map[string][]string{"fast": parts, "smart": translated} {
		for n := range len(pieces) + 1 {
			e := k.open(t)
			taken(t, e, strings.Replace(asking(), "fast", model, 1))
			e.head(streamAnswer())
			e.begun(streamAnswer())
			var got strings.Builder
			for i := range n {
				e.piece(pieces[i])
				got.WriteString(e.out(pieces[i]))
			}
			k.attempt(e.uuid, 1, 0, left())
			e.leave()
			delivered := counter.Count("gpt-4o", content(got.String()))
			ev := k.event(e.uuid)
			ended := strings.Contains(got.String(), "[DONE]")
			if want := outcomeAfter(ended); ev.Outcome != want {
				t.Errorf("%s after %d pieces: outcome %v, want %v", model, n, ev.Outcome, want)
			}
			if ev.Tokens.Input == 0 || ev.Source == usage.Estimated && ev.Tokens.Output < delivered || delivered > 0 && ev.Tokens.Output == 0 || ev.Cost < 5*money.USD/1_000_000 {
				t.Errorf("%s after %d pieces with %d tokens: event %+v", model, n, delivered, ev)
			}
		}
	}
	k.settled()
}

func outcomeAfter(ended bool) usage.Outcome { //nolint:revive // it is what the outcome depends on
	if ended {
		return journal.Success
	}
	return journal.Canceled
}

// content is the text in a stream.
func content(stream string) string {
	var out strings.Builder
	for i, part := range strings.Split(stream, `"content":"`) {
		if i > 0 {
			s, _, _ := strings.Cut(part, `"`)
			out.WriteString(s)
		}
	}
	return out.String()
}

// A piece in transit when the caller disconnects counts, whether or not it arrived.
func TestCountsThePieceInTransit(t *testing.T) {
	t.Parallel()
	k := newKit(t, pair())
	e := k.open(t)
	taken(t, e, streaming())
	e.head(streamAnswer())
	e.begun(streamAnswer())
	e.stream.refuse.Store(true) // the stream is reset while the server works on the piece
	e.piece(text("seven more words come in this piece"))
	k.attempt(e.uuid, 1, 0, left())
	e.wait()
	e.cancel()
	if ev := k.event(e.uuid); ev.Outcome != journal.Canceled || ev.Tokens.Output < 7 {
		t.Errorf("event %+v", ev)
	}
}

func TestDistinguishesCutStreamsFromDisconnects(t *testing.T) {
	t.Parallel()
	k := newKit(t, pair())
	e := k.open(t)
	taken(t, e, streaming())
	e.head(streamAnswer())
	e.begun(streamAnswer())
	e.piece(text("Hi"))
	e.out("")
	k.attempt(e.uuid, 1, 0, cut())
	e.leave() // Envoy resets the stream in both cases
	if ev := k.event(e.uuid); ev.Outcome != journal.Failed || ev.ErrorCode != "upstream_cut" || ev.Tokens.Output == 0 || ev.Status != 200 {
		t.Errorf("event %+v", ev)
	}
	k.settled()
}

func TestCountsLongStreamsInParts(t *testing.T) {
	t.Parallel()
	k := newKit(t, pair())
	part := text(strings.Repeat("word ", 60_000))
	e := k.open(t)
	var pieces []string
	for range 8 { // above what is kept
		pieces = append(pieces, part)
	}
	relayed(t, e, streaming(), append(pieces, stop()+done)...)
	if ev := k.event(e.uuid); ev.Outcome != journal.Success || ev.Tokens.Output < 450_000 || ev.Tokens.Output > 510_000 {
		t.Errorf("event %+v", ev)
	}
}

// deadLog is the attempt log of an Envoy that was killed.
type deadLog struct{ grpc.ServerStream }

func (deadLog) Recv() (*accesslogv3.StreamAccessLogsMessage, error) {
	return nil, status.FromContextError(context.Canceled).Err()
}

func (deadLog) SendAndClose(*accesslogv3.StreamAccessLogsResponse) error { return nil }

// An Envoy that dies does not log the attempt under way, but the provider has received it.
func TestSettlesTheAttemptOfACrashedEnvoy(t *testing.T) {
	t.Parallel()
	spec := pair()
	spec.Router = quick(2)
	k := newKit(t, spec)
	for _, test := range []struct {
		name   string
		failed int  // attempts, before Envoy dies
		left   bool // the log tells that the caller left before it did
		events int
	}{
		{"the first", 0, false, 1},
		{"the second", 1, false, 2},
		{"the last", 2, false, 3},
		{"there is none after the last", 3, false, 3},
		{"the caller had left already", 1, true, 2},
	} {
		e := k.open(t)
		taken(t, e, strings.Replace(streaming(), "fast", "smart", 1))
		for i := range test.failed {
			k.attempt(e.uuid, i+1, 500, nil)
		}
		if test.left {
			k.attempt(e.uuid, test.failed+1, 0, left())
		}
		if err := (attemptLog{live: k.server.live}).StreamAccessLogs(deadLog{}); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		e.leave()
		events := k.events(e.uuid)
		if len(events) != test.events {
			t.Errorf("%s: %d events, want %d: %+v", test.name, len(events), test.events, events)
			continue
		}
		for i, ev := range events {
			failed := i < test.failed
			if (ev.Status == 500) != failed || (ev.Cost == 0) != failed || ev.Final != (i == len(events)-1) {
				t.Errorf("%s, event %d: %+v", test.name, i+1, ev)
			}
		}
	}
	k.settled()
}
