package xds

import (
	"context"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/delta/v3"
)

// service is the only xDS service: delta ADS. State-of-the-world ADS is not implemented,
// because every change would send everything.
type service struct {
	discovery.UnimplementedAggregatedDiscoveryServiceServer

	delta delta.Server
}

// DeltaAggregatedResources serves one Envoy until it disconnects.
func (s *service) DeltaAggregatedResources(stream discovery.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	return s.delta.DeltaStreamHandler(stream, resource.AnyType)
}

// callbacks adapts the tracker to the interface of the library.
type callbacks struct{ t *tracker }

// OnDeltaStreamOpen is called when an Envoy connects.
func (c callbacks) OnDeltaStreamOpen(ctx context.Context, stream int64, typeURL string) error {
	return c.t.open(ctx, stream, typeURL)
}

// OnDeltaStreamClosed is called when an Envoy has disconnected.
func (c callbacks) OnDeltaStreamClosed(stream int64, node *core.Node) { c.t.closed(stream, node) }

// OnStreamDeltaRequest is called for every subscription, ACK and NACK.
func (c callbacks) OnStreamDeltaRequest(stream int64, r *discovery.DeltaDiscoveryRequest) error {
	return c.t.received(stream, r)
}

// OnStreamDeltaResponse is called before a response is sent.
func (c callbacks) OnStreamDeltaResponse(stream int64, q *discovery.DeltaDiscoveryRequest, r *discovery.DeltaDiscoveryResponse) {
	c.t.sent(stream, q, r)
}
