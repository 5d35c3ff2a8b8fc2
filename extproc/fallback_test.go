package extproc

import (
	"testing"
	"time"

	datav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cooldown"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/journal"
)

// chain is a group of two with two fallback targets.
func chain() catalog.Spec {
	r := quick(1)
	r.Fallbacks = []map[string][]string{{"fast": {"other", "last"}}}
	return catalog.Spec{
		Deployments: []catalog.DeploymentSpec{
			place("a", "fast", "model-a", 0), place("b", "fast", "model-b", 1), place("c", "other", "model-c", 0), place("d", "last", "model-d", 0),
		},
		Router: r,
	}
}

// TestRecordsWhichFallbacksWereTaken: an attempt in the same group is no fallback, and
// the next event records one that reached no provider.
func TestRecordsWhichFallbacksWereTaken(t *testing.T) {
	type fail struct {
		status int
		flags  *datav3.ResponseFlags
	}
	unreached := &datav3.ResponseFlags{UpstreamConnectionFailure: true}
	left := func(attempt, status int, code string) journal.Fallback {
		return journal.Fallback{Attempt: attempt, Deployment: "b", Provider: "openai", Model: "model-b", Status: status, ErrorCode: code, From: "fast", To: "other"}
	}
	further := journal.Fallback{Attempt: 3, Deployment: "c", Provider: "openai", Model: "model-c", ErrorCode: "upstream_unreachable", From: "other", To: "last"}
	for _, test := range []struct {
		name  string
		rests bool // the group does
		fails []fail
		end   came
		want  map[int][]journal.Fallback // by the attempt that tells
	}{
		{"a retry in the group", false, []fail{{500, nil}}, jsonAnswer(goodReply), nil},
		{"a fallback", false, []fail{{500, nil}, {429, nil}}, jsonAnswer(goodReply), map[int][]journal.Fallback{3: {left(2, 429, "rate_limit_exceeded")}}},
		{
			"two, the first of which reached nobody", false,
			[]fail{{500, nil}, {0, unreached}, {0, unreached}},
			jsonAnswer(goodReply),
			map[int][]journal.Fallback{4: {left(2, 0, "upstream_unreachable"), further}},
		},
		{
			"two that failed", false,
			[]fail{{500, nil}, {500, nil}, {500, nil}},
			failedWith(500, "x", "x"),
			map[int][]journal.Fallback{
				3: {left(2, 500, "upstream_error")},
				4: {{Attempt: 3, Deployment: "c", Provider: "openai", Model: "model-c", Status: 500, ErrorCode: "upstream_error", From: "other", To: "last"}},
			},
		},
		{
			"nobody was reached", false,
			[]fail{{0, unreached}, {0, unreached}, {0, unreached}},
			local(refused),
			map[int][]journal.Fallback{4: {left(2, 0, "upstream_unreachable"), further}},
		},
		{
			"the group rests", true, nil, jsonAnswer(goodReply),
			map[int][]journal.Fallback{1: {{ErrorCode: "all_deployments_in_cooldown", From: "fast", To: "other"}}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := newKit(t, chain())
			if test.rests {
				for _, d := range []id.Deployment{"a", "b"} {
					k.cooldown.Fail(d, cooldown.Failure{Reason: cooldown.RateLimited, Now: epoch(), RetryAfter: time.Minute}, cooldown.Policy{})
				}
			}
			e := k.open(t)
			taken(t, e, hello)
			for i, f := range test.fails {
				k.attempt(e.uuid, i+1, f.status, f.flags)
				k.again(t, e.uuid, i+2)
			}
			test.end.attempt = len(test.fails) + 1
			e.answer(test.end)
			got := make(map[int][]journal.Fallback)
			for _, ev := range k.recorded(e.uuid) {
				if len(ev.Fallbacks) > 0 {
					got[ev.Number] = append(got[ev.Number], ev.Fallbacks...)
				}
			}
			if test.want == nil {
				test.want = make(map[int][]journal.Fallback)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("fallbacks by the attempt that records them (-want +got):\n%s", diff)
			}
		})
	}
}
