package mgmt

import (
	"context"
	"maps"
	"slices"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/vault"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type credentialService struct {
	gatewayv1.UnimplementedCredentialServiceServer
	service
	sealer  operation.Sealer
	webhook func(v *cluster.View) delivery.Settings
	reach   reach
}

// Names of a credential's values.
const (
	valueKey          = "api_key"
	valueBase         = "api_base"
	valueOrganization = "organization"
)

// fill puts the values that a request gives into a credential. What stands for a
// secret in answers is refused: it is not the same for a short one and for none.
func fill(c *catalog.Credential, values map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		switch name {
		case valueKey:
			if err := checkSecret("credential_values.api_key", value); err != nil {
				return err
			}
			c.APIKey = vault.NewSecret(value)
		case valueBase:
			c.APIBase = value
		case valueOrganization:
			c.Organization = value
		}
	}
	return nil
}

// CreateCredential stores a credential.
func (s credentialService) CreateCredential(ctx context.Context, in *gatewayv1.CreateCredentialRequest) (*gatewayv1.CredentialRecord, error) {
	c := catalog.Credential{Name: in.GetCredentialName()}
	if err := fill(&c, in.GetCredentialValues()); err != nil {
		return nil, err
	}
	var err error
	if c.Info, err = metadataText(in.GetCredentialInfo()); err != nil {
		return nil, field.Named("credential_info", err)
	}
	if err := s.reach.check("credential_values.api_base", "", c.APIBase); err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.CredentialRecord, error) {
		made, err := v.Catalog.CreateCredential(tx, c, s.sealer.Seal)
		if err != nil {
			return nil, err
		}
		return credentialRecord(v.Catalog, made), nil
	})
}

// ListCredentials shows the credentials, masked.
func (s credentialService) ListCredentials(ctx context.Context, _ *gatewayv1.ListCredentialsRequest) (*gatewayv1.ListCredentialsResponse, error) {
	v, out := operation.View(ctx), &gatewayv1.ListCredentialsResponse{}
	for _, c := range v.Catalog.Credentials() {
		out.Credentials = append(out.GetCredentials(), credentialRecord(v.Catalog, c))
	}
	return out, nil
}

// GetCredential shows one credential, masked.
func (s credentialService) GetCredential(ctx context.Context, in *gatewayv1.GetCredentialRequest) (*gatewayv1.CredentialRecord, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	found, err := v.Catalog.FindCredential(nil, in.GetCredentialName())
	if err != nil {
		return nil, err
	}
	return credentialRecord(v.Catalog, found), nil
}

// UpdateCredential changes the values that the request gives.
func (s credentialService) UpdateCredential(ctx context.Context, in *gatewayv1.UpdateCredentialRequest) (*gatewayv1.CredentialRecord, error) {
	clear, err := cleared(in.GetClear(), "credential_info")
	if err != nil {
		return nil, err
	}
	info, err := metadataText(in.GetCredentialInfo())
	if err != nil {
		return nil, field.Named("credential_info", err)
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.CredentialRecord, error) {
		before, err := v.Catalog.FindCredential(tx, in.GetCredentialName())
		if err != nil {
			return nil, err
		}
		next := *before
		if err := fill(&next, in.GetCredentialValues()); err != nil {
			return nil, err
		}
		if next.APIBase != before.APIBase && !before.APIKey.IsEmpty() && in.GetCredentialValues()[valueKey] == "" {
			return nil, fault.Field("credential_values.api_key", "missing_required_parameter", "The address changes, and the stored key is for the old one. Send credential_values.api_key as well.")
		}
		if err := s.reach.check("credential_values.api_base", before.APIBase, next.APIBase); err != nil {
			return nil, err
		}
		if in.GetCredentialInfo() != nil || clear["credential_info"] {
			next.Info = info
		}
		made, err := v.Catalog.UpdateCredential(tx, next, operation.IfRevision(ctx), s.sealer.Seal)
		if err != nil {
			return nil, err
		}
		return credentialRecord(v.Catalog, made), nil
	})
}

// DeleteCredential deletes a credential that no deployment names.
func (s credentialService) DeleteCredential(ctx context.Context, in *gatewayv1.DeleteCredentialRequest) (*gatewayv1.DeleteCredentialResponse, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeleteCredentialResponse, error) {
		if err := v.Catalog.DeleteCredential(tx, in.GetCredentialName()); err != nil {
			return nil, err
		}
		return &gatewayv1.DeleteCredentialResponse{Success: true, Message: "Credential deleted successfully", CredentialName: in.GetCredentialName()}, nil
	})
}

// RotateCredentials seals everything anew that another key than the one in use has
// sealed, as many transactions as that takes: one that is cut short is gone on with
// when it is asked for again.
func (s credentialService) RotateCredentials(ctx context.Context, _ *gatewayv1.RotateCredentialsRequest) (*gatewayv1.RotateCredentialsResponse, error) {
	done := 0
	reseal := func(v *cluster.View, tx *record.Txn) (catalog.Resealed, error) {
		if err := operation.StillAdmin(ctx, v, tx); err != nil {
			return catalog.Resealed{}, err
		}
		return v.Catalog.Reseal(tx, s.sealer.Reseal)
	}
	// A crash from here on leaves what the new key is to seal and has not yet: both
	// keys open everything, and the next rotation goes on.
	if err := s.sealer.PromoteKey(ctx, operation.Principal(ctx).Actor()); err != nil {
		return nil, err
	}
	for more := true; more; {
		var r catalog.Resealed
		_, err := s.state.Change(ctx, operation.Principal(ctx).Actor(), func(v *cluster.View, tx *record.Txn) (err error) {
			if r, err = reseal(v, tx); err != nil {
				return err
			}
			operation.Of(ctx).Audit(tx, &gatewayv1.RotateCredentialsResponse{})
			return nil
		})
		if err != nil {
			return nil, err
		}
		done, more = done+r.Done, r.More
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.RotateCredentialsResponse, error) {
		r, err := reseal(v, tx) // what has come meanwhile
		if err != nil {
			return nil, err
		}
		sealed, already, err := s.webhook(v).Reseal(tx, s.sealer.Reseal)
		if err != nil {
			return nil, err
		}
		total, resealed := r.Done+r.Already+sealed+already, done+r.Done+sealed
		return &gatewayv1.RotateCredentialsResponse{Resealed: uint32(resealed), Already: uint32(max(total-resealed, 0)), Total: uint32(total)}, nil
	})
}

// credentialRecord is what is shown of a credential. Of its key that is enough to
// tell it from another.
func credentialRecord(in *catalog.Catalog, c *catalog.Credential) *gatewayv1.CredentialRecord {
	out := &gatewayv1.CredentialRecord{CredentialName: c.Name, CredentialValues: map[string]string{}, CredentialInfo: showMetadata(c.Info)}
	for name, value := range map[string]string{valueKey: vault.Mask(c.APIKey), valueBase: c.APIBase, valueOrganization: c.Organization} {
		if value != "" {
			out.CredentialValues[name] = value
		}
	}
	if c.Locked() != nil {
		out.CredentialValues[valueKey] = hidden
	}
	for _, d := range in.Namers(c.Name) {
		out.UsedBy = append(out.GetUsedBy(), string(d))
	}
	showMeta(out, c.Meta)
	return out
}
