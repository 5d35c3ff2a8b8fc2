package gateway

import (
	"context"
	"time"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/token"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/discover"
	"github.com/modelgateway/modelgateway/extproc/provider"
)

// discover returns what asks providers for the models of an account.
func (g *gateway) discover() func(ctx context.Context, d *catalog.Deployment) ([]string, error) {
	return discover.New(discover.Config{Providers: provider.Providers(), Token: g.tokenOnce, Private: g.cfg.AllowsPrivateEndpoints(), Now: time.Now}).Models
}

// tokenOnce gets a token for an account that is no deployment yet; zero if it needs none.
func (g *gateway) tokenOnce(ctx context.Context, d *catalog.Deployment) (cloud.Token, error) {
	of := providers()[d.Provider].Cloud
	if of == cloud.None || !d.APIKey.IsEmpty() {
		return cloud.Token{}, nil
	}
	credential := cloud.CredentialOf(of, d.Cloud, d.Static)
	f, err := fetcher(credential, g.tokenClients)
	if err != nil {
		return cloud.Token{}, err
	}
	t, err := token.Fetch(ctx, f, credential)
	if err != nil {
		return cloud.Token{}, fault.New(fault.Unavailable, token.CodeMissing, "The gateway could not obtain a token with this credential: %s.", err)
	}
	return t, nil
}
