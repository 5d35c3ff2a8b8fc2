package mgmt

import (
	"context"
	"fmt"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// ReloadCostMap loads the table of prices anew. A request cannot say from where: that
// is for the configuration, for whoever chooses the place has the gateway call it.
func (s modelService) ReloadCostMap(ctx context.Context, _ *gatewayv1.ReloadCostMapRequest) (*gatewayv1.ReloadCostMapResponse, error) {
	if s.prices == nil {
		return nil, &fault.Error{
			Kind: fault.NotFound, Code: "cost_map_not_configured",
			Detail: "The configuration names no place for the table of prices. Set general_settings.model_cost_map_url in the configuration file.",
		}
	}
	text, err := s.prices(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := catalog.ParsePriceMap(text)
	if err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.ReloadCostMapResponse, error) {
		changed, err := v.Catalog.SetPrices(tx, rows)
		if err != nil {
			return nil, err
		}
		return &gatewayv1.ReloadCostMapResponse{
			Message: fmt.Sprintf("%d of %d models have other prices now.", changed, len(rows)), Models: uint32(len(rows)), Changed: uint32(changed),
		}, nil
	})
}
