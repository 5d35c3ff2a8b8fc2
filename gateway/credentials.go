package gateway

import (
	"os"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/cloud"
	"github.com/modelgateway/modelgateway/cluster/cloud/awstoken"
	"github.com/modelgateway/modelgateway/cluster/cloud/entratoken"
	"github.com/modelgateway/modelgateway/cluster/cloud/googletoken"
	"github.com/modelgateway/modelgateway/cluster/cloud/outbound"
	"github.com/modelgateway/modelgateway/cluster/cloud/token"
)

// makeCredentials makes what keeps the tokens of deployments at clouds. The node is there when it runs.
func (g *gateway) makeCredentials() {
	g.tokenClients = outbound.NewClients(outbound.Config{Private: g.cfg.AllowsPrivateEndpoints(), Environ: os.Getenv})
	clouds := make(map[string]cloud.Kind)
	for name, p := range providers() {
		clouds[name] = p.Cloud
	}
	g.credentials = token.NewManager(token.Config{
		Catalog: func() *catalog.Catalog { return g.node.View().Catalog },
		Changed: func() <-chan struct{} { return g.node.Changed() },
		Cloud:   func(provider string) cloud.Kind { return clouds[provider] },
		New:     func(c cloud.Credential) (token.Fetcher, error) { return fetcher(c, g.tokenClients) },
		Report:  func(about string, err error) { g.node.Report(about, err) },
		Logger:  g.logger,
	})
}

// fetcher returns what gets the tokens of a credential.
func fetcher(c cloud.Credential, clients *outbound.Clients) (token.Fetcher, error) {
	switch c.Of {
	case cloud.AWS:
		return awstoken.New(c, clients), nil
	case cloud.Google:
		return googletoken.New(c, clients), nil
	case cloud.Azure:
		return entratoken.New(c, clients), nil
	case cloud.None:
	}
	return nil, token.Missing()
}
