package mgmt

import (
	"context"
	"strings"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/address"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type modelService struct {
	gatewayv1.UnimplementedModelServiceServer
	service
	sealer operation.Sealer
	prices func(ctx context.Context) ([]byte, error) // nil: the configuration names no place for them
	reach  reach
}

// reach says where providers may be whose addresses requests set.
type reach struct{ private bool }

// check rejects an address that may not be called. One that was there before stays.
func (r reach) check(param, before, after string) error {
	least := address.Public
	if r.private {
		least = address.Private
	}
	if after == before {
		return nil
	}
	if err := catalog.CheckReach(after, least); err != nil {
		return field.Named(param, err)
	}
	return nil
}

// CreateModel adds a deployment.
func (s modelService) CreateModel(ctx context.Context, in *gatewayv1.CreateModelRequest) (*gatewayv1.DeploymentRecord, error) {
	spec := catalog.DeploymentSpec{ID: in.GetModelInfo().GetId(), ModelName: in.GetModelName()}
	if spec.ID == "" {
		spec.ID = string(catalog.NewDeploymentID())
	}
	if err := describe(&spec, orEmpty(in.GetGatewayParams()), orEmpty(in.GetModelInfo())); err != nil {
		return nil, err
	}
	if err := s.reach.check("gateway_params.api_base", "", spec.APIBase); err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeploymentRecord, error) {
		made, err := v.Catalog.Create(tx, spec, s.sealer.Seal)
		if err != nil {
			return nil, err
		}
		return deploymentRecord(made), nil
	})
}

// UpdateModel changes what the request gives.
func (s modelService) UpdateModel(ctx context.Context, in *gatewayv1.UpdateModelRequest) (*gatewayv1.DeploymentRecord, error) {
	named, err := namedDeployment(in)
	if err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeploymentRecord, error) {
		before, err := v.Catalog.Changeable(tx, "model_id", named)
		if err != nil {
			return nil, err
		}
		spec := before.Spec
		if err := redescribe(&spec, in); err != nil {
			return nil, err
		}
		if err := stays(&before.Spec, &spec, in.GetGatewayParams().GetApiKey()); err != nil {
			return nil, err
		}
		if err := s.reach.check("gateway_params.api_base", before.Spec.APIBase, spec.APIBase); err != nil {
			return nil, err
		}
		made, err := v.Catalog.Update(tx, spec, operation.IfRevision(ctx), s.sealer.Seal)
		if err != nil {
			return nil, err
		}
		return deploymentRecord(made), nil
	})
}

// stays refuses to send a stored key to another address than the one that it was
// stored for: whoever can write a deployment could have it sent to themselves.
func stays(before, after *catalog.DeploymentSpec, sent string) error {
	secret := !before.APIKey.IsEmpty() || len(before.ExtraHeaders) > 0
	was, _, _ := strings.Cut(before.Model, "/")
	is, _, _ := strings.Cut(after.Model, "/")
	if !secret || sent != "" && sent != hidden || after.APIKey.IsEmpty() && len(after.ExtraHeaders) == 0 || before.APIBase == after.APIBase && was == is {
		return nil
	}
	return fault.Field("gateway_params.api_key", "missing_required_parameter", "The address changes, and the stored key is for the old one. Send gateway_params.api_key as well, or clear it.")
}

// namedDeployment is the deployment that a request is about, which it may name in
// two places.
func namedDeployment(in *gatewayv1.UpdateModelRequest) (id.Deployment, error) {
	named, other := in.GetModelId(), in.GetModelInfo().GetId()
	switch {
	case named == "" && other == "":
		return "", fault.Field("model_id", "missing_required_parameter", "model_id is missing. Send it, or model_info.id.")
	case named == "":
		named = other
	case other != "" && other != named:
		return "", fault.Field("model_info.id", "invalid_value", "model_info.id and model_id differ. Send one of them.")
	}
	return id.Deployment(named), nil
}

// DeleteModel removes a deployment that was added at run time.
func (s modelService) DeleteModel(ctx context.Context, in *gatewayv1.DeleteModelRequest) (*gatewayv1.DeleteModelResponse, error) {
	name := in.GetId()
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeleteModelResponse, error) {
		if err := v.Catalog.Delete(tx, id.Deployment(name)); err != nil {
			return nil, err
		}
		return &gatewayv1.DeleteModelResponse{Message: "Model: " + name + " deleted successfully", ModelId: name, Deleted: true}, nil
	})
}
