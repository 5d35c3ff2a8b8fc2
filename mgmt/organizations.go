package mgmt

import (
	"context"
	"iter"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type organizationService struct {
	gatewayv1.UnimplementedOrganizationServiceServer
	service
}

// CreateOrganization makes an organization.
func (s organizationService) CreateOrganization(ctx context.Context, in *gatewayv1.CreateOrganizationRequest) (*gatewayv1.OrganizationRecord, error) {
	o, err := patchOrganization(tenancy.Organization{ID: id.Organization(chosen(in.OrganizationId))}, in, nil)
	if err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.OrganizationRecord, error) {
		if err := v.Keys.Rights(tx, operation.Principal(ctx)).MayGrantOrganization(nil, &o); err != nil {
			return nil, err
		}
		made, err := v.Keys.CreateOrganization(tx, o)
		if err != nil {
			return nil, err
		}
		return organizationRecord(made), nil
	})
}

// chosen is the id that a request gives to what it makes, or a fresh one.
func chosen(given *string) string {
	if given == nil {
		return id.NewUUID()
	}
	return *given
}

// GetOrganization shows one organization.
func (s organizationService) GetOrganization(ctx context.Context, in *gatewayv1.GetOrganizationRequest) (*gatewayv1.OrganizationRecord, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	o, err := visibleOrganization(v.Keys, nil, v.Keys.Rights(nil, operation.Principal(ctx)), in.GetOrganizationId())
	if err != nil {
		return nil, err
	}
	return fullOrganization(v.Keys, o), nil
}

// GetOrganizations shows several organizations, all that are asked for or none.
func (s organizationService) GetOrganizations(ctx context.Context, in *gatewayv1.GetOrganizationsRequest) (*gatewayv1.GetOrganizationsResponse, error) {
	v, err := operation.Current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	r, out := v.Keys.Rights(nil, operation.Principal(ctx)), &gatewayv1.GetOrganizationsResponse{}
	for i, of := range in.GetOrganizations() {
		o, err := visibleOrganization(v.Keys, nil, r, of)
		if err != nil {
			return nil, field.Named(field.At("organizations", i), err)
		}
		out.Organizations = append(out.GetOrganizations(), fullOrganization(v.Keys, o))
	}
	return out, nil
}

// ListOrganizations shows the organizations that who asks may see.
func (s organizationService) ListOrganizations(ctx context.Context, in *gatewayv1.ListOrganizationsRequest) (*gatewayv1.ListOrganizationsResponse, error) {
	v := operation.View(ctx)
	r, part, out := v.Keys.Rights(nil, operation.Principal(ctx)), strings.ToLower(in.GetOrgAlias()), &gatewayv1.ListOrganizationsResponse{}
	for o := range v.Keys.Organizations() {
		if in.GetOrgId() != "" && string(o.ID) != in.GetOrgId() || !strings.Contains(strings.ToLower(o.Alias), part) || !r.MaySeeOrganization(o) {
			continue
		}
		out.Organizations = append(out.GetOrganizations(), fullOrganization(v.Keys, o))
	}
	return out, nil
}

// UpdateOrganization changes what the request gives.
func (s organizationService) UpdateOrganization(ctx context.Context, in *gatewayv1.UpdateOrganizationRequest) (*gatewayv1.OrganizationRecord, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.OrganizationRecord, error) {
		r := v.Keys.Rights(tx, operation.Principal(ctx))
		before, err := visibleOrganization(v.Keys, tx, r, in.GetOrganizationId())
		if err != nil {
			return nil, err
		}
		after, err := patchOrganization(*before, in, in.GetClear())
		if err != nil {
			return nil, err
		}
		if err := r.MayGrantOrganization(before, &after); err != nil {
			return nil, err
		}
		made, err := v.Keys.UpdateOrganization(tx, after, operation.IfRevision(ctx))
		if err != nil {
			return nil, err
		}
		return organizationRecord(made), nil
	})
}

// patchOrganization returns the organization as a request wants it.
func patchOrganization(o tenancy.Organization, m proto.Message, clears []string) (tenancy.Organization, error) {
	p := patchOf(m, clears, limitFields("models", "metadata")...)
	o.Alias = p.text("organization_alias", o.Alias)
	o.Models = p.list("models", o.Models)
	o.Metadata = p.free("metadata", o.Metadata)
	o.Limits = p.limits(o.Limits)
	return o, p.err
}

// DeleteOrganizations deletes organizations with all that is theirs.
func (s organizationService) DeleteOrganizations(ctx context.Context, in *gatewayv1.DeleteOrganizationsRequest) (*gatewayv1.DeleteOrganizationsResponse, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeleteOrganizationsResponse, error) {
		out := &gatewayv1.DeleteOrganizationsResponse{}
		for i, of := range distinct(in.GetOrganizationIds()) {
			old, err := v.DeleteOrganization(tx, id.Organization(of))
			if err != nil {
				return nil, field.Named(field.At("organization_ids", i), err)
			}
			out.Organizations = append(out.GetOrganizations(), organizationRecord(old))
		}
		return out, nil
	})
}

// Codes of refusals.
const (
	codeNoRight        = "insufficient_permissions"
	codeNoOrganization = "organization_not_found"
	codeNoUser         = "user_not_found"
	codeNoTeam         = "team_not_found"
	codeNoMember       = "member_not_found"
)

// visibleOrganization returns an organization that the caller may see; tx is nil for a
// request that changes nothing.
func visibleOrganization(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, of string) (*tenancy.Organization, error) {
	o, ok := set.Organization(tx, id.Organization(of))
	if ok && r.MaySeeOrganization(o) {
		return o, nil
	}
	return nil, unseen(r, ok, codeNoOrganization, "organization_id", "organization")
}

// unseen returns the error for a record that does not exist or that the caller may not
// see. Only callers that see everything learn which of both it is.
func unseen(r *tenancy.Rights, exists bool, code, param, what string) error {
	if exists || !r.SeesAll() {
		return notYours(param, "This API key may not see that "+what+".")
	}
	return &fault.Error{Kind: fault.NotFound, Code: code, Param: param, Detail: "There is no such " + what + "."}
}

// distinct yields the entries of a list at the place where they occur first.
func distinct(list []string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		seen := map[string]bool{}
		for i, one := range list {
			if !seen[one] && !yield(i, one) {
				return
			}
			seen[one] = true
		}
	}
}
