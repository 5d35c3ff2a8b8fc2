package gateway

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/mgmt"
)

// screen applies a guardrail to texts, for the management API.
func (g *gateway) screen(ctx context.Context, of *guardrails.Guardrail, hook string, list []mgmt.ScreenText) ([]string, []usage.Violation, error) {
	in := make([]guard.Text, len(list))
	for i, t := range list {
		in[i] = guard.Text{Role: texts.RoleOf(t.Role), Text: t.Text}
	}
	return g.guardrails.Get(of).Apply(ctx, hook, in)
}
