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

// TestRecordsOfGuardrails: a request whose guardrails found something has a record of that besides the one of its end,
// however it ended. Both name the guardrail. Other records do not.
func TestRecordsOfGuardrails(t *testing.T) {
	t.Parallel()
	found := []*clusterv1.GuardrailViolation{
		{Guardrail: "keys", Engine: "detect_secret", Hook: "post_call", Entity: "AWS_KEY", Action: "flag", Count: 1, Place: "choices[0].message.content"},
		{Guardrail: "pii", Engine: "presidio", Hook: "post_call", Entity: "PERSON", Action: "block", Count: 2},
	}
	type row struct {
		Type, Guardrail string
		Violations      int
		Details         string
	}
	for _, test := range []struct {
		name  string
		event *clusterv1.UsageEvent
		want  []row
	}{
		{
			"nothing found", &clusterv1.UsageEvent{Final: true, Guardrails: []string{"pii", "keys"}, CostPico: 5},
			[]row{{"request.routed", "pii", 0, ""}, {"spend.debited", "", 0, ""}},
		},
		{
			"found", &clusterv1.UsageEvent{Final: true, Guardrails: []string{"pii", "keys"}, Violations: found, CostPico: 5, Attempt: 2, Group: "fast", CallType: "acompletion", ClientStatus: 400, ErrorCode: "guardrail_blocked"},
			[]row{
				{"request.guardrail_triggered", "keys", 2, `{"attempt":2,"call_type":"acompletion","client_status":400,"code":"guardrail_blocked","model_group":"fast"}`},
				{"request.routed", "keys", 2, `{"attempt":2,"call_type":"acompletion","client_status":400,"error_code":"guardrail_blocked","model_group":"fast"}`},
				{"spend.debited", "", 0, `{"attempt":2}`},
			},
		},
		{
			"found and failed", &clusterv1.UsageEvent{Final: true, Guardrails: []string{"pii"}, Violations: found[1:], Outcome: clusterv1.Outcome_OUTCOME_FAILED},
			[]row{{"request.guardrail_triggered", "pii", 1, ""}, {"request.failed", "pii", 1, `{"outcome":"failed"}`}},
		},
		{
			"no attempt reached a provider", &clusterv1.UsageEvent{Final: true, Violations: found[1:], Notice: &clusterv1.Notice{Type: "request.failed", Code: "x"}},
			[]row{{"request.guardrail_triggered", "pii", 1, `{"code":"x"}`}, {"request.failed", "pii", 1, `{"code":"x"}`}},
		},
		{
			"blocked, several times", &clusterv1.UsageEvent{Final: true, Violations: found[1:], Notice: &clusterv1.Notice{Type: "request.blocked", Code: "guardrail_blocked", Count: 7}},
			[]row{
				{"request.guardrail_triggered", "pii", 1, `{"code":"guardrail_blocked","count":7}`},
				{"request.blocked", "pii", 1, `{"code":"guardrail_blocked","count":7}`},
			},
		},
		{
			"a blocked response, whose request has another event", &clusterv1.UsageEvent{Violations: found[1:], Notice: &clusterv1.Notice{Type: "request.blocked", Code: "guardrail_blocked"}},
			[]row{{"request.blocked", "pii", 1, `{"code":"guardrail_blocked"}`}},
		},
		{
			"rejected for another reason", &clusterv1.UsageEvent{Final: true, Violations: found[1:], Notice: &clusterv1.Notice{Type: "request.guardrail_triggered", Code: "rate_limit_exceeded"}},
			[]row{{"request.guardrail_triggered", "pii", 1, `{"code":"rate_limit_exceeded"}`}},
		},
	} {
		var got []row
		for _, r := range Records([]ledger.Note{{Event: test.event}}) {
			got = append(got, row{r.GetType(), r.GetGuardrailId(), len(r.GetGuardrailViolations()), r.GetDetailsJson()})
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
