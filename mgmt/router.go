package mgmt

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// fieldRouter is the section of the settings that are about routing.
const fieldRouter = "router_settings"

type configService struct {
	gatewayv1.UnimplementedConfigServiceServer
	service
	webhook func(v *cluster.View) delivery.Settings
	pace    delivery.Pace // where the settings do not say it
	seal    vault.Seal
	guard   delivery.Guard
}

// GetConfig shows the settings in force.
func (s configService) GetConfig(ctx context.Context, _ *gatewayv1.GetConfigRequest) (*gatewayv1.GetConfigResponse, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	patch, _ := v.Catalog.Patch()
	return &gatewayv1.GetConfigResponse{
		RouterSettings: showRouter(v.Catalog.RouterWith(patch)), GeneralSettings: showGeneral(s.webhook(v), s.pace), Revision: float64(s.revision(v)),
	}, nil
}

// UpdateConfig changes what the request gives.
func (s configService) UpdateConfig(ctx context.Context, in *gatewayv1.UpdateConfigRequest) (*gatewayv1.UpdateConfigResponse, error) {
	router, general := in.GetRouterSettings(), in.GetGeneralSettings()
	if proto.Size(general) == 0 {
		general = nil
	}
	if router == nil && general == nil {
		return nil, fault.Field(fieldRouter, "missing_required_parameter", "There is nothing to change; send %s or %s.", fieldRouter, fieldGeneral)
	}
	var patch catalog.RouterSpec
	var err error
	if router != nil {
		if patch, err = routerPatch(router); err != nil {
			return nil, err
		}
	}
	var c delivery.Change
	if general != nil {
		if c, err = generalChange(general); err != nil {
			return nil, err
		}
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.UpdateConfigResponse, error) {
		if err := s.expected(v, operation.IfRevision(ctx)); err != nil {
			return nil, err
		}
		before, _ := v.Catalog.Patch()
		out := &gatewayv1.UpdateConfigResponse{Message: "Config updated successfully"}
		if router != nil {
			if err := v.Catalog.UpdateRouter(tx, patch, 0); err != nil {
				return nil, err
			}
			before = before.Merge(patch)
		}
		out.RouterSettings, out.GeneralSettings = showRouter(v.Catalog.RouterWith(before)), showGeneral(s.webhook(v), s.pace)
		if general == nil {
			return out, nil
		}
		next, made, err := s.setGeneral(v, tx, c)
		if err != nil {
			return nil, err
		}
		out.GeneralSettings = showGeneral(next, s.pace)
		if !made.IsEmpty() {
			out.GeneralSettings.AlertingWebhookSecret = new(made.Reveal())
		}
		return out, nil
	})
}
