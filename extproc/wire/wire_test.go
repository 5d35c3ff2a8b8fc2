package wire_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

func TestFaultPassesOnOnlyTheCallersStatus(t *testing.T) {
	for _, c := range []struct {
		failure wire.Failure
		want    int
	}{
		{wire.Failure{Status: 422, Kind: fault.Malformed}, 422},
		{wire.Failure{Status: 404, Kind: fault.NotFound}, 404},
		{wire.Failure{Status: 401, Kind: fault.Unavailable, Retryable: true}, http.StatusServiceUnavailable},
		{wire.Failure{Status: 429, Kind: fault.Upstream, Retryable: true}, http.StatusBadGateway},
		{wire.Failure{Status: 500, Kind: fault.Upstream}, http.StatusBadGateway},
		{wire.Failure{Status: 200, Kind: fault.Upstream}, http.StatusBadGateway},
	} {
		c.failure.RetryAfter = 2 * time.Second
		e := c.failure.Fault()
		if got := e.HTTPStatus(); got != c.want {
			t.Errorf("%+v: the caller sees %d, want %d", c.failure, got, c.want)
		}
		var f *wire.Failure
		if !errors.As(e, &f) || f.Status != c.failure.Status || e.RetryAfter != 2*time.Second {
			t.Errorf("%+v: the fault has lost it: %v", c.failure, e)
		}
	}
}

func TestContentIsWhatWouldBeSeenTwice(t *testing.T) {
	for _, c := range []struct {
		chunk wire.Chunk
		want  bool
	}{
		{wire.Chunk{}, false},
		{wire.Chunk{Finish: wire.FinishStop}, false},
		{wire.Chunk{Text: "x"}, true},
		{wire.Chunk{Refusal: "x"}, true},
		{wire.Chunk{Thinking: "x"}, true},
		{wire.Chunk{Block: &wire.Thinking{Redacted: "x"}}, true},
		{wire.Chunk{Tool: &wire.ToolDelta{Name: "x"}}, true},
		{wire.Chunk{Audio: jsontext.Value("{}")}, true},
	} {
		if got := c.chunk.Content(); got != c.want {
			t.Errorf("%+v: %v", c.chunk, got)
		}
	}
}

func TestUnknownUsageIsNotZeroUsage(t *testing.T) {
	if u := (wire.Usage{Tokens: usage.Tokens{Input: 1}, Partial: true}); u.Known() {
		t.Error("a partial report counts as known")
	}
	if u := (wire.Usage{Source: usage.Provider}); !u.Known() {
		t.Error("a report of zero counts as unknown")
	}
}

func TestMessageTextLeavesOutTheRest(t *testing.T) {
	m := wire.Message{Parts: []wire.Part{{Text: "a"}, {Kind: wire.ThinkingPart, Text: "no"}, {Text: "b"}}}
	if got := m.Text(); got != "ab" {
		t.Errorf("got %q", got)
	}
	a := wire.Request{Extra: []wire.Field{{Name: "x", Value: jsontext.Value("1")}}}
	if got := a.ExtraNamed("x"); string(got) != "1" || a.ExtraNamed("y") != nil {
		t.Errorf("got %s", got)
	}
}

func TestPlaceIsAPath(t *testing.T) {
	for _, c := range []struct {
		place wire.Place
		want  string
	}{
		{wire.Place{}, ""},
		{wire.Place{Member: "instructions"}, "instructions"},
		{wire.Place{Member: "input", Item: 3}, "input[2]"},
		{wire.Place{Member: "input", Item: 1, Field: "output"}, "input[0].output"},
		{wire.Place{Member: "input", Item: 12, Field: "content", Part: 2}, "input[11].content[1]"},
	} {
		if got := c.place.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestProofsAreUnderstoodByTheirOwnLanguageAlone(t *testing.T) {
	marked := wire.Mark(wire.Responses, "a:b")
	if got, ok := wire.Unmark(wire.Responses, marked); !ok || got != "a:b" {
		t.Errorf("got %q, %v", got, ok)
	}
	if got, ok := wire.Unmark(wire.OpenAI, marked); ok {
		t.Errorf("another language reads %q", got)
	}
	if _, ok := wire.Unmark(wire.Responses, "EqQBCgIYAg=="); ok || wire.Marked("EqQBCgIYAg==") || !wire.Marked(marked) {
		t.Error("marked and bare proofs look alike")
	}
}

func TestBudgetsMeanEfforts(t *testing.T) {
	for _, c := range []struct {
		reasoning wire.Reasoning
		want      string
	}{
		{wire.Reasoning{}, ""},
		{wire.Reasoning{Mode: "disabled"}, ""},
		{wire.Reasoning{Mode: "adaptive", Effort: "max"}, "max"},
		{wire.Reasoning{Mode: "enabled", Budget: 1024}, "low"},
		{wire.Reasoning{Mode: "enabled", Budget: 2048}, "medium"},
		{wire.Reasoning{Mode: "enabled", Budget: 30000}, "high"},
	} {
		if got := c.reasoning.Word(); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.reasoning, got, c.want)
		}
	}
}
