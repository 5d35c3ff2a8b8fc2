package mgmt

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/usage"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Screen applies the engines of one hook of a guardrail to texts. What was found has the number of its text as place.
type Screen func(ctx context.Context, g *guardrails.Guardrail, hook string, texts []ScreenText) (out []string, found []usage.Violation, err error)

// ScreenText is a text for a guardrail.
type ScreenText struct {
	Role string // of the message; empty for user
	Text string
}

// ApplyGuardrail applies a guardrail to a text or to messages.
func (s guardrailService) ApplyGuardrail(ctx context.Context, in *gatewayv1.ApplyGuardrailRequest) (*gatewayv1.ApplyGuardrailResponse, error) {
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	if (in.Text == nil) == (len(in.GetMessages()) == 0) {
		return nil, fault.Field("text", "missing_required_parameter", "Send either text or messages.")
	}
	g, err := c.view.Guardrails.Find(nil, fieldGuardrail, in.GetGuardrailId(), c.reader())
	if err != nil {
		return nil, err
	}
	texts := []ScreenText{{Text: in.GetText()}}
	if in.Text == nil {
		texts = texts[:0]
		for _, m := range in.GetMessages() {
			texts = append(texts, ScreenText{m.GetRole(), m.GetContent()})
		}
	}
	changed, found, err := s.screen(ctx, g, orElse(in.Hook, guardrails.PreCall), texts)
	out := &gatewayv1.ApplyGuardrailResponse{GuardrailId: g.ID, Action: actionNone}
	for i := range found {
		out.Findings = append(out.GetFindings(), finding(in, &found[i]))
		out.Action = stronger(out.GetAction(), found[i].Action)
	}
	switch f := fault.From(err); {
	case f != nil && f.Kind == fault.Blocked:
		out.Action, out.Message = actionBlock, textOrNull(f.Detail)
	case err != nil:
		return nil, err
	case in.Text != nil:
		out.ResponseText = wrapperspb.String(changed[0])
	default:
		for i, m := range in.GetMessages() {
			out.Messages = append(out.GetMessages(), &gatewayv1.GuardrailMessage{Role: m.GetRole(), Content: changed[i]})
		}
	}
	return out, nil
}

// What a guardrail does, from the weakest to the strongest.
const (
	actionNone      = "none"
	actionFlag      = "flag"
	actionAnonymize = "anonymize"
	actionBlock     = "block"
)

// stronger returns the stronger of two actions.
func stronger(a, b string) string {
	for _, action := range [...]string{actionBlock, actionAnonymize, actionFlag} {
		if a == action || b == action {
			return action
		}
	}
	return actionNone
}

// finding shows what was found.
func finding(in *gatewayv1.ApplyGuardrailRequest, v *usage.Violation) *gatewayv1.GuardrailFinding {
	place := "text"
	if n, err := strconv.Atoi(v.Place); err == nil && in.Text == nil {
		place = "messages[" + strconv.Itoa(n) + "].content"
	}
	return &gatewayv1.GuardrailFinding{
		Engine: v.Engine, Entity: v.Entity, Action: v.Action, Count: uint32(v.Count), Place: place, Offset: uint32(v.Offset),
	}
}
