package mgmt

import (
	"context"
	"strings"

	"github.com/modelgateway/modelgateway/cluster"
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/record"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type organizationService struct {
	gatewayv1.UnimplementedOrganizationServiceServer
	service
}

// CreateOrganization makes an organization.
func (s organizationService) CreateOrganization(ctx context.Context, in *gatewayv1.CreateOrganizationRequest) (*gatewayv1.OrganizationRecord, error) {
	o := tenancy.Organization{ID: id.Organization(chosen(in.OrganizationId)), Alias: in.GetOrganizationAlias(), Models: in.GetModels()}
	var err error
	if o.Limits, err = limitsOf(in); err != nil {
		return nil, err
	}
	if o.Metadata, err = metadataText(in.GetMetadata()); err != nil {
		return nil, err
	}
	return change(ctx, s.service, func(v *cluster.View, tx *record.Txn) (*gatewayv1.OrganizationRecord, error) {
		if err := v.Keys.Rights(tx, principal(ctx)).MayGrantOrganization(nil, &o); err != nil {
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
	v, err := s.state.Current(ctx)
	if err != nil {
		return nil, err
	}
	show(ctx, v)
	o, err := visibleOrganization(v.Keys, nil, v.Keys.Rights(nil, principal(ctx)), in.GetOrganizationId())
	if err != nil {
		return nil, err
	}
	return fullOrganization(v.Keys, o), nil
}

// GetOrganizations shows several organizations, all that are asked for or none.
func (s organizationService) GetOrganizations(ctx context.Context, in *gatewayv1.GetOrganizationsRequest) (*gatewayv1.GetOrganizationsResponse, error) {
	v, err := s.state.Current(ctx)
	if err != nil {
		return nil, err
	}
	show(ctx, v)
	r, out := v.Keys.Rights(nil, principal(ctx)), &gatewayv1.GetOrganizationsResponse{}
	for i, of := range in.GetOrganizations() {
		o, err := visibleOrganization(v.Keys, nil, r, of)
		if err != nil {
			return nil, named(at("organizations", i), err)
		}
		out.Organizations = append(out.GetOrganizations(), fullOrganization(v.Keys, o))
	}
	return out, nil
}

// ListOrganizations shows the organizations that who asks may see.
func (s organizationService) ListOrganizations(ctx context.Context, in *gatewayv1.ListOrganizationsRequest) (*gatewayv1.ListOrganizationsResponse, error) {
	v := viewOf(ctx)
	r, part, out := v.Keys.Rights(nil, principal(ctx)), strings.ToLower(in.GetOrgAlias()), &gatewayv1.ListOrganizationsResponse{}
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
	revision, err := whole("if_revision", in.GetIfRevision())
	if err != nil {
		return nil, err
	}
	return change(ctx, s.service, func(v *cluster.View, tx *record.Txn) (*gatewayv1.OrganizationRecord, error) {
		r := v.Keys.Rights(tx, principal(ctx))
		before, err := visibleOrganization(v.Keys, tx, r, in.GetOrganizationId())
		if err != nil {
			return nil, err
		}
		after, err := patchOrganization(before, in)
		if err != nil {
			return nil, err
		}
		if err := r.MayGrantOrganization(before, &after); err != nil {
			return nil, err
		}
		made, err := v.Keys.UpdateOrganization(tx, after, uint64(revision))
		if err != nil {
			return nil, err
		}
		return organizationRecord(made), nil
	})
}

// patchOrganization returns the organization as a request wants it.
func patchOrganization(before *tenancy.Organization, in *gatewayv1.UpdateOrganizationRequest) (tenancy.Organization, error) {
	after := *before
	clears, err := cleared(in.GetClear(), limitFields("models", "metadata")...)
	if err != nil {
		return after, err
	}
	if in.OrganizationAlias != nil {
		after.Alias = in.GetOrganizationAlias()
	}
	if len(in.GetModels()) > 0 || clears["models"] {
		after.Models = in.GetModels()
	}
	if in.GetMetadata() != nil || clears["metadata"] {
		if after.Metadata, err = metadataText(in.GetMetadata()); err != nil {
			return after, err
		}
	}
	after.Limits, err = patchLimits(before.Limits, in, in.GetClear())
	return after, err
}

// DeleteOrganizations deletes organizations with all that is theirs.
func (s organizationService) DeleteOrganizations(ctx context.Context, in *gatewayv1.DeleteOrganizationsRequest) (*gatewayv1.DeleteOrganizationsResponse, error) {
	return change(ctx, s.service, func(v *cluster.View, tx *record.Txn) (*gatewayv1.DeleteOrganizationsResponse, error) {
		r, out, seen := v.Keys.Rights(tx, principal(ctx)), &gatewayv1.DeleteOrganizationsResponse{}, map[string]bool{}
		if !r.Admin() {
			return nil, fault.New(fault.Denied, codeNoRight, "Only a proxy_admin deletes organizations.")
		}
		for i, of := range in.GetOrganizationIds() {
			if seen[of] {
				continue
			}
			seen[of] = true
			old, err := v.DeleteOrganization(tx, id.Organization(of))
			if err != nil {
				return nil, named(at("organization_ids", i), err)
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

// visibleOrganization returns an organization that who asks may see; tx is nil for
// an answer that changes nothing. Who does not see everything learns nothing of
// which others there are.
func visibleOrganization(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, of string) (*tenancy.Organization, error) {
	o, ok := set.Organization(tx, id.Organization(of))
	switch {
	case ok && r.MaySeeOrganization(o):
		return o, nil
	case ok || !r.SeesAll():
		return nil, &fault.Error{Kind: fault.Denied, Code: codeNoRight, Param: "organization_id", Detail: "This API key may not see that organization."}
	}
	return nil, &fault.Error{Kind: fault.NotFound, Code: codeNoOrganization, Param: "organization_id", Detail: "There is no such organization."}
}

// named returns a fault with the param of the request's field that it is about.
func named(param string, err error) error {
	e := *fault.From(err)
	e.Param = param
	return &e
}

// within returns a fault with a param that is within another field of the request.
func within(field string, err error) error {
	e := *fault.From(err)
	e.Param = strings.TrimSuffix(field+"."+e.Param, ".")
	return &e
}
