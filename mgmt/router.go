package mgmt

import (
	"context"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// fieldRouter is the one section of the configuration that can be changed here.
const fieldRouter = "router_settings"

type configService struct {
	gatewayv1.UnimplementedConfigServiceServer
	service
}

// GetConfig shows the settings in force.
func (s configService) GetConfig(ctx context.Context, _ *gatewayv1.GetConfigRequest) (*gatewayv1.GetConfigResponse, error) {
	v, err := s.state.Current(ctx)
	if err != nil {
		return nil, err
	}
	spec, revision := show(ctx, v).Catalog.RouterSpec()
	return &gatewayv1.GetConfigResponse{RouterSettings: showRouter(spec, v.Catalog.Settings()), Revision: float64(revision)}, nil
}

// UpdateConfig changes what the request gives.
func (s configService) UpdateConfig(ctx context.Context, in *gatewayv1.UpdateConfigRequest) (*gatewayv1.UpdateConfigResponse, error) {
	if in.GetRouterSettings() == nil {
		return nil, fault.Field(fieldRouter, "missing_required_parameter", "There is nothing to change; send %s.", fieldRouter)
	}
	revision, err := whole("if_revision", in.GetIfRevision())
	if err != nil {
		return nil, err
	}
	patch, err := routerPatch(in.GetRouterSettings())
	if err != nil {
		return nil, err
	}
	return change(ctx, s.service, func(v *cluster.View, tx *record.Txn) (*gatewayv1.UpdateConfigResponse, error) {
		if err := adminOnly(ctx, v, tx); err != nil {
			return nil, err
		}
		if err := v.Catalog.UpdateRouter(tx, patch, uint64(revision)); err != nil {
			return nil, err
		}
		before, _ := v.Catalog.Patch()
		return &gatewayv1.UpdateConfigResponse{
			Message: "Config updated successfully", RouterSettings: showRouter(v.Catalog.RouterWith(before.Merge(patch))),
		}, nil
	})
}
