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
	return discover.New(provider.Providers(), nil, g.cfg.AllowsPrivateEndpoints(), time.Now).Models
}
