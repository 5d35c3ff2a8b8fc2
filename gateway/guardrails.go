package gateway

import (
	"context"
	"strings"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/resource"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/extproc/guard"
	"github.com/modelgateway/modelgateway/extproc/guard/remote"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/mgmt"
)

// reportGuardrails logs which guardrails models have that do not exist, and returns them. It is silent if they are those
// that were reported before, and as long as the node knows nothing of what its cluster has agreed on.
func (g *gateway) reportGuardrails(ctx context.Context, v *cluster.View, before string) string {
	if v.Revision == 0 {
		return before
	}
	var missing []string
	for _, ref := range v.Catalog.AllGuarded() {
		if _, err := v.Guardrails.Find(nil, "guardrails", ref, resource.Everybodys()); err != nil {
			missing = append(missing, ref)
		}
	}
	now := strings.Join(missing, ",")
	if now != "" && now != before {
		g.logger.WarnContext(ctx, "models have guardrails that do not exist; their requests are rejected until the guardrails are created with POST /guardrail", "guardrails", now)
	}
	return now
}

// makeGuardrails makes what applies guardrails. Their secrets are opened when requests come, and the node is there by then.
func (g *gateway) makeGuardrails() {
	g.outside = remote.NewClient(remote.Config{Private: g.cfg.AllowsPrivateEndpoints()})
	g.guardrails = guard.NewLibrary(guard.Makers(guard.Outside{
		Client: g.outside,
		Open:   func(sealed []byte, context string) (vault.Secret, error) { return g.node.Open(sealed, context) },
	}))
}

// screen applies a guardrail to texts, for the management API.
func (g *gateway) screen(ctx context.Context, of *guardrails.Guardrail, hook string, list []mgmt.ScreenText) ([]string, []usage.Violation, error) {
	in := make([]guard.Text, len(list))
	for i, t := range list {
		in[i] = guard.Text{Role: texts.RoleOf(t.Role), Text: t.Text}
	}
	return g.guardrails.Get(of).Apply(ctx, hook, in)
}
