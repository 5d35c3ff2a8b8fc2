package mgmt

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// screenAddresses replaces one address, and blocks a text with another.
func screenAddresses(_ context.Context, g *guardrails.Guardrail, hook string, texts []ScreenText) (out []string, found []usage.Violation, err error) {
	for i, t := range texts {
		v := usage.Violation{Guardrail: g.Name, Engine: "presidio", Hook: hook, Entity: "EMAIL_ADDRESS", Action: "anonymize", Place: strconv.Itoa(i), Count: 1}
		switch {
		case strings.Contains(t.Text, "bad@b"):
			v.Action = "block"
			return nil, append(found, v), &fault.Error{Kind: fault.Blocked, Detail: "It has an address."}
		case t.Text == "down":
			return nil, nil, &fault.Error{Kind: fault.Unavailable, Code: "guardrail_unavailable"}
		case strings.Contains(t.Text, "a@b"):
			v.Offset = int64(strings.Index(t.Text, "a@b"))
			found = append(found, v)
		}
		out = append(out, strings.ReplaceAll(t.Text, "a@b", "[EMAIL_ADDRESS]"))
	}
	return out, found, nil
}

// TestApplyGuardrail: a guardrail is applied to a text without a model.
func TestApplyGuardrail(t *testing.T) {
	t.Parallel()
	s, _ := newFake(t)
	looks(t, s, []look{
		{"", "POST /guardrail", `{"guardrail_name":"pii","engines":[{"engine_name":"presidio","event_hooks":["pre_call"]}]}`, "guardrail_name", `200 "pii"`},
		{
			"", "POST /guardrail/apply", `{"guardrail_id":"pii","text":"to a@b"}`, "action response_text message findings",
			`200 "anonymize" "to [EMAIL_ADDRESS]" null [{"engine":"presidio","entity":"EMAIL_ADDRESS","action":"anonymize","count":1,"place":"text","offset":3}]`,
		},
		{"", "POST /guardrails/apply_guardrail", `{"guardrail_id":"pii","text":"nothing"}`, "action response_text findings", `200 "none" "nothing" []`},
		{"", "POST /guardrail/apply", `{"guardrail_id":"pii","text":"bad@b","hook":"post_call"}`, "action response_text message", `200 "block" null "It has an address."`},
		{
			"", "POST /guardrail/apply", `{"guardrail_id":"pii","messages":[{"content":"x"},{"role":"tool","content":"a@b"}]}`, "action response_text messages findings",
			`200 "anonymize" null [{"role":"","content":"x"},{"role":"tool","content":"[EMAIL_ADDRESS]"}] [{"engine":"presidio","entity":"EMAIL_ADDRESS","action":"anonymize","count":1,"place":"messages[1].content","offset":0}]`,
		},
		{"", "POST /guardrail/apply", `{"guardrail_id":"pii","text":"down"}`, "", "503 guardrail_unavailable"},
		{"", "POST /guardrail/apply", `{"guardrail_id":"pii"}`, "", "422 missing_required_parameter text"},
		{"", "POST /guardrail/apply", `{"guardrail_id":"pii","text":"x","messages":[{"content":"x"}]}`, "", "422 missing_required_parameter text"},
		{"", "POST /guardrail/apply", `{"guardrail_id":"none","text":"x"}`, "", "404 guardrail_not_found guardrail_id"},
		{"", "POST /guardrail/apply", `{"guardrail_id":"pii","text":"x","hook":"mid_call"}`, "", "422 invalid_value hook"},
	})
}
