package gateway

import (
	"context"
	"log/slog"
	"os"
	"reflect"
	"slices"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/envoy/contract"
	"github.com/modelgateway/modelgateway/xds"
)

// followView keeps Envoy's clusters and routes those of the View. Views that
// came and went while Envoy's resources were made are passed over.
func (g *gateway) followView(ctx context.Context) error {
	published := g.node.View()
	missing := ""
	for {
		changed := g.node.Changed()
		if v := g.node.View(); published == nil || !sameRoutes(v, published) {
			// What is wrong with one configuration must not take away the other.
			if err := g.publishRoutes(v); err != nil {
				g.logger.LogAttrs(ctx, slog.LevelError, "Envoy keeps its configuration: the new one cannot be made", slog.Any("error", err))
			}
			published = v
		}
		missing = g.reportGuardrails(ctx, g.node.View(), missing)
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-g.demand.changed:
			published = nil
		case <-g.attachment.changed:
			published = nil
		}
	}
}

// sameRoutes reports whether two views make the same resources.
func sameRoutes(a, b *cluster.View) bool {
	if a.Catalog == b.Catalog {
		return true
	}
	return a.Catalog.SameEndpoints(b.Catalog) && reflect.DeepEqual(a.Catalog.Settings(), b.Catalog.Settings())
}

// publishRoutes makes a view's endpoints Envoy's clusters.
func (g *gateway) publishRoutes(view *cluster.View) error {
	in := xds.Input{
		Endpoints: view.Catalog.Endpoints(), Router: view.Catalog.Settings(), BodyLimit: g.bodyLimit,
		Attached: g.attachment.complete.Load(),
		Twins:    func(e id.Endpoint) bool { return g.demand.has(e, contract.Rewrite) },
	}
	in.Bare = g.demand.choose(in.Endpoints)
	if slices.ContainsFunc(in.Endpoints, func(e catalog.Endpoint) bool { return e.Scheme == "https" }) {
		file, err := xds.FindCAFile(os.Getenv("SSL_CERT_FILE"))
		if err != nil {
			return err
		}
		in.CAFile = file
	}
	resources, err := xds.Translate(in)
	if err != nil {
		return err
	}
	return g.xds.Publish(resources)
}
