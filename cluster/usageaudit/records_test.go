package usageaudit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/ledger"
	clusterv1 "github.com/modelgateway/modelgateway/proto/gen/cluster/v1"
)

// TestRecordsOfAttempts: a request has one record of how it ended and one of each
// fallback; an attempt that was only made again has none, but for what it cost.
func TestRecordsOfAttempts(t *testing.T) {
	t.Parallel()
	type row struct {
		Type, Provider, Model string
		Cost, Fallbacks       int64
		Details               string
	}
	event := func(attempt int64, change func(e *clusterv1.UsageEvent)) *clusterv1.UsageEvent {
		e := &clusterv1.UsageEvent{
			Attempt: attempt, Provider: "openai", Model: "gpt", Deployment: "d", Group: "fast", FallbackCount: attempt - 1,
			Outcome: clusterv1.Outcome_OUTCOME_FAILED, ErrorCode: "upstream_timeout", EndUnixNano: 1,
		}
		change(e)
		return e
	}
	retried := event(1, func(e *clusterv1.UsageEvent) { e.CostPico = 5 })
	fellBack := &clusterv1.FallbackTaken{
		Attempt: 2, Deployment: "d", Provider: "openai", Model: "gpt", Status: 429, ErrorCode: "rate_limit_exceeded", From: "fast", To: "other",
	}
	rested := &clusterv1.FallbackTaken{ErrorCode: "all_deployments_in_cooldown", From: "fast", To: "other"}
	taken := row{
		"request.fallback_triggered", "openai", "openai/gpt", 0, 1,
		`{"attempt":2,"deployment":"d","error_code":"rate_limit_exceeded","from":"fast","model_group":"fast","status":429,"to":"other"}`,
	}
	for _, test := range []struct {
		name  string
		event *clusterv1.UsageEvent
		want  []row
	}{
		{"a retry", event(1, func(*clusterv1.UsageEvent) {}), nil},
		{"a retry after one that cost", retried, []row{{"spend.debited", "openai", "openai/gpt", 5, 0, `{"attempt":1}`}}},
		{
			"an answer by a fallback", event(3, func(e *clusterv1.UsageEvent) {
				e.Final, e.Outcome, e.ErrorCode, e.CostPico = true, clusterv1.Outcome_OUTCOME_SUCCESS, "", 7
				e.Provider, e.Model, e.Deployment, e.Fallbacks = "groq", "llama", "g", []*clusterv1.FallbackTaken{fellBack}
			}), []row{
				taken,
				{"request.routed", "groq", "groq/llama", 7, 2, `{"attempt":3,"deployment":"g","model_group":"fast","outcome":"success"}`},
				{"spend.debited", "groq", "groq/llama", 7, 0, `{"attempt":3}`},
			},
		},
		{"a fallback that failed as well", event(3, func(e *clusterv1.UsageEvent) { e.Fallbacks = []*clusterv1.FallbackTaken{fellBack} }), []row{taken}},
		{
			"the group rests", event(1, func(e *clusterv1.UsageEvent) {
				e.Final, e.Fallbacks = true, []*clusterv1.FallbackTaken{rested}
			}), []row{
				{"request.fallback_triggered", "", "", 0, 0, `{"error_code":"all_deployments_in_cooldown","from":"fast","model_group":"fast","to":"other"}`},
				{"request.failed", "openai", "openai/gpt", 0, 0, `{"attempt":1,"deployment":"d","error_code":"upstream_timeout","model_group":"fast","outcome":"failed"}`},
			},
		},
		{
			"a fallback that nobody was reached at", event(3, func(e *clusterv1.UsageEvent) {
				e.Final, e.Fallbacks, e.Notice = true, []*clusterv1.FallbackTaken{fellBack}, &clusterv1.Notice{Type: "request.failed", Code: "all_deployments_failed"}
			}), []row{
				taken,
				{"request.failed", "openai", "openai/gpt", 0, 2, `{"code":"all_deployments_failed","model_group":"fast"}`},
			},
		},
	} {
		var got []row
		for _, r := range Records([]ledger.Note{{Event: test.event}}) {
			got = append(got, row{r.GetType(), r.GetProvider(), r.GetModel(), r.GetCostPico(), r.GetFallbackCount(), r.GetDetailsJson()})
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
