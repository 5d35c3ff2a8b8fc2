package mgmt

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/delivery"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
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

const fieldInfo = "credential_info"

// Names of a credential's values.
const (
	valueKey          = "api_key"
	valueBase         = "api_base"
	valueOrganization = "organization"
)

// fill sets the values in a request. It rejects the placeholder that responses show for a
// secret, because it may stand for a short secret or for none.
func fill(c *catalog.Credential, values map[string]string) error {
	settings := maps.Clone(c.Cloud)
	if settings == nil {
		settings = make(map[string]vault.Secret)
	}
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
		default:
			if err := setSetting(settings, name, "credential_values."+field.ShortName(name), value); err != nil {
				return err
			}
		}
	}
	if len(settings) > 0 {
		c.Cloud = settings
	}
	return nil
}

// CreateCredential stores a credential.
func (s credentialService) CreateCredential(ctx context.Context, in *gatewayv1.CreateCredentialRequest) (*gatewayv1.CredentialRecord, error) {
	made := catalog.Credential{Name: in.GetCredentialName()}
	if err := fill(&made, in.GetCredentialValues()); err != nil {
		return nil, err
	}
	var err error
	if made.Info, err = metadataText(in.GetCredentialInfo()); err != nil {
		return nil, field.Named(fieldInfo, err)
	}
	if err := s.reach.credential(&catalog.Credential{}, &made); err != nil {
		return nil, err
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.CredentialRecord, error) {
		return shown(c.credentialRecord)(c.view.Catalog.CreateCredential(c.tx, made, s.sealer.Seal))
	})
}

// ListCredentials shows the credentials without their secrets.
func (s credentialService) ListCredentials(ctx context.Context, _ *gatewayv1.ListCredentialsRequest) (*gatewayv1.ListCredentialsResponse, error) {
	c := viewer(ctx)
	return &gatewayv1.ListCredentialsResponse{Credentials: shownAll(slices.Values(c.view.Catalog.Credentials()), c.credentialRecord)}, nil
}

// GetCredential shows one credential without its secrets.
func (s credentialService) GetCredential(ctx context.Context, in *gatewayv1.GetCredentialRequest) (*gatewayv1.CredentialRecord, error) {
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	return shown(c.credentialRecord)(c.view.Catalog.FindCredential(nil, in.GetCredentialName()))
}

// UpdateCredential changes the values in the request.
func (s credentialService) UpdateCredential(ctx context.Context, in *gatewayv1.UpdateCredentialRequest) (*gatewayv1.CredentialRecord, error) {
	clears, err := cleared(in.GetClear(), fieldInfo)
	if err != nil {
		return nil, err
	}
	info, err := metadataText(in.GetCredentialInfo())
	if err != nil {
		return nil, field.Named(fieldInfo, err)
	}
	return change(ctx, s.state, func(c caller) (*gatewayv1.CredentialRecord, error) {
		before, err := c.view.Catalog.FindCredential(c.tx, in.GetCredentialName())
		if err != nil {
			return nil, err
		}
		next := *before
		if err := fill(&next, in.GetCredentialValues()); err != nil {
			return nil, err
		}
		moves := next.APIBase != before.APIBase || redirected(before.Cloud, next.Cloud)
		if name := kept(before.Cloud, next.Cloud, in.GetCredentialValues()); moves && name != "" {
			return nil, fault.Field("credential_values."+name, "missing_required_parameter", "The address changes, and the stored %s is for the old one. Send credential_values.%s as well.", name, name)
		}
		if moves && !before.APIKey.IsEmpty() && in.GetCredentialValues()[valueKey] == "" {
			return nil, fault.Field("credential_values.api_key", "missing_required_parameter", "The address changes, and the stored key is for the old one. Send credential_values.api_key as well.")
		}
		if err := s.reach.credential(before, &next); err != nil {
			return nil, err
		}
		if in.GetCredentialInfo() != nil || clears[fieldInfo] {
			next.Info = info
		}
		return shown(c.credentialRecord)(c.view.Catalog.UpdateCredential(c.tx, next, operation.IfRevision(ctx), s.sealer.Seal))
	})
}

// credential rejects addresses in a credential that the gateway may not call.
func (r reach) credential(before, after *catalog.Credential) error {
	return cmp.Or(
		r.check("credential_values.api_base", before.APIBase, after.APIBase),
		r.settings("credential_values", before.Cloud, after.Cloud),
	)
}

// DeleteCredential deletes a credential that no deployment names.
func (s credentialService) DeleteCredential(ctx context.Context, in *gatewayv1.DeleteCredentialRequest) (*gatewayv1.DeleteCredentialResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeleteCredentialResponse, error) {
		if err := c.view.Catalog.DeleteCredential(c.tx, in.GetCredentialName()); err != nil {
			return nil, err
		}
		return &gatewayv1.DeleteCredentialResponse{Success: true, Message: "Credential deleted successfully", CredentialName: in.GetCredentialName()}, nil
	})
}

// RotateCredentials encrypts again every secret that another key than the one in use
// encrypted. It takes several transactions; if it is interrupted, the next request continues.
func (s credentialService) RotateCredentials(ctx context.Context, _ *gatewayv1.RotateCredentialsRequest) (*gatewayv1.RotateCredentialsResponse, error) {
	done := 0
	reseal := func(v *cluster.View, tx *record.Txn) (catalog.Resealed, error) {
		if err := operation.StillAdmin(ctx, v, tx); err != nil {
			return catalog.Resealed{}, err
		}
		r, err := v.Catalog.Reseal(tx, s.sealer.Reseal)
		if err != nil || r.More {
			return r, err
		}
		g, err := guardrails.Reseal(v.Guardrails, tx, s.sealer.Reseal)
		return catalog.Resealed{Done: r.Done + g.Done, Already: r.Already + g.Already, More: g.More}, err
	}
	// A crash from here on leaves secrets that only the old key encrypted. The nodes decrypt
	// with both keys, and the next rotation continues.
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
	return change(ctx, s.state, func(c caller) (*gatewayv1.RotateCredentialsResponse, error) {
		r, err := reseal(c.view, c.tx) // credentials that were stored meanwhile
		if err != nil {
			return nil, err
		}
		sealed, already, err := s.webhook(c.view).Reseal(c.tx, s.sealer.Reseal)
		if err != nil {
			return nil, err
		}
		total, resealed := r.Done+r.Already+sealed+already, done+r.Done+sealed
		return &gatewayv1.RotateCredentialsResponse{Resealed: uint32(resealed), Already: uint32(max(total-resealed, 0)), Total: uint32(total)}, nil
	})
}

// credentialRecord returns a credential in the form of the API. It shows enough of the key to
// tell it from another one.
func (c caller) credentialRecord(of *catalog.Credential) *gatewayv1.CredentialRecord {
	out := &gatewayv1.CredentialRecord{CredentialName: of.Name, CredentialValues: map[string]string{}, CredentialInfo: showMetadata(of.Info)}
	for name, value := range map[string]string{valueKey: vault.Mask(of.APIKey), valueBase: of.APIBase, valueOrganization: of.Organization} {
		if value != "" {
			out.CredentialValues[name] = value
		}
	}
	maps.Copy(out.GetCredentialValues(), shownSettings(of.Cloud))
	for name := range of.SealedCloud { // those that this node cannot open, too
		out.CredentialValues[name] = hidden
	}
	if of.Locked() != nil && len(of.SealedKey) > 0 {
		out.CredentialValues[valueKey] = hidden
	}
	for _, d := range c.view.Catalog.Namers(of.Name) {
		out.UsedBy = append(out.GetUsedBy(), string(d))
	}
	showMeta(out, of.Meta)
	return out
}
