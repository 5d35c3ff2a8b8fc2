package gateway

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/extproc/discover"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

// discover returns what asks providers for the models of an account.
func (g *gateway) discover() func(ctx context.Context, d *catalog.Deployment) ([]string, error) {
	return discover.New(discover.Config{Providers: provider.Providers(), Private: g.cfg.AllowsPrivateEndpoints(), Now: time.Now}).Models
}
