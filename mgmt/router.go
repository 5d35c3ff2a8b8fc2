package mgmt

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// fieldRouter is the section of settings that concern routing.
const fieldRouter = "router_settings"

type configService struct {
	gatewayv1.UnimplementedConfigServiceServer
	service
	webhook func(v *cluster.View) delivery.Settings
	pace    delivery.Pace // of the configuration file
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

// UpdateConfig changes the fields in the request.
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
	var to delivery.Change
	if general != nil {
		if to, err = generalChange(general); err != nil {
			return nil, err
		}
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.UpdateConfigResponse, error) {
		if err := s.expected(c.view, operation.IfRevision(ctx)); err != nil {
			return nil, err
		}
		before, _ := c.view.Catalog.Patch()
		out := &gatewayv1.UpdateConfigResponse{Message: "Config updated successfully"}
		if router != nil {
			if err := c.view.Catalog.UpdateRouter(c.tx, patch, 0); err != nil {
				return nil, err
			}
			before = before.Merge(patch)
		}
		out.RouterSettings, out.GeneralSettings = showRouter(c.view.Catalog.RouterWith(before)), showGeneral(s.webhook(c.view), s.pace)
		if general == nil {
			return out, nil
		}
		next, made, err := s.setGeneral(c, to)
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
