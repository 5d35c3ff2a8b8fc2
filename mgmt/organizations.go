package mgmt

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
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
	o.Metadata = p.metadata(o.Metadata)
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

// visibleOrganization returns an organization that the caller may see; tx is nil for a
// request that changes nothing.
func visibleOrganization(set *tenancy.Set, tx *record.Txn, r *tenancy.Rights, of string) (*tenancy.Organization, error) {
	o, _ := set.Organization(tx, id.Organization(of))
	return visible(r, o, r.MaySeeOrganization, missing{codeNoOrganization, "organization_id", "organization"})
}

// fieldOrganizationBudget is what a member may spend in an organization.
const fieldOrganizationBudget = "max_budget_in_organization"

// memberForms reads a single member that stands without a list.
func memberForms(members map[string]jsontext.Value) error {
	if v, ok := members["member"]; ok && v.Kind() == '{' {
		members["member"] = jsontext.Value("[" + string(v) + "]")
	}
	return nil
}

// AddOrganizationMembers adds users, all of them or none.
func (s organizationService) AddOrganizationMembers(ctx context.Context, in *gatewayv1.AddOrganizationMembersRequest) (*gatewayv1.AddOrganizationMembersResponse, error) {
	budget, err := optionalDollars(fieldOrganizationBudget, in.MaxBudgetInOrganization)
	if err != nil {
		return nil, err
	}
	fresh := make([]id.User, len(in.GetMember()))
	for i, m := range in.GetMember() {
		if m.GetUserId() == "" && m.GetUserEmail() == "" {
			return nil, field.Within(field.At("member", i), nobody())
		}
		fresh[i] = id.User(id.NewUUID())
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.AddOrganizationMembersResponse, error) {
		r := v.Keys.Rights(tx, operation.Principal(ctx))
		o, err := visibleOrganization(v.Keys, tx, r, in.GetOrganizationId())
		if err != nil {
			return nil, err
		}
		if err := r.MayManageOrganization(o); err != nil {
			return nil, err
		}
		out := &gatewayv1.AddOrganizationMembersResponse{OrganizationId: string(o.ID)}
		all := joining{set: v.Keys, tx: tx, rights: r, batch: v.Keys.UserBatch(tx), defaults: s.defaults.User}
		for i, m := range in.GetMember() {
			u, place, err := all.add(m, fresh[i], tenancy.OrganizationMember{Organization: o.ID, Role: tenancy.Role(m.GetRole()), MaxBudget: budget})
			if err != nil {
				return nil, field.Within(field.At("member", i), err)
			}
			shown := userRecord(v.Keys, r, u)
			addPlace(shown, place)
			out.UpdatedUsers = append(out.GetUpdatedUsers(), shown)
			out.UpdatedOrganizationMemberships = append(out.GetUpdatedOrganizationMemberships(), membership(place, u))
		}
		return out, nil
	})
}

// nobody refuses a request that names no user.
func nobody() error {
	return fault.Field("user_id", "missing_required_parameter", "Name the user, by user_id or user_email.")
}

// joining is users that are put into an organization in one transaction.
type joining struct {
	set    *tenancy.Set
	tx     *record.Txn
	rights *tenancy.Rights
	batch  *tenancy.UserBatch
	// defaults are those of users who are made
	defaults tenancy.UserDefaults
}

// add puts a user into an organization and makes it where it is not there yet. Invite says
// which users a caller may add: an org_admin has a say over the members.
func (j joining) add(in *gatewayv1.NewOrganizationMember, fresh id.User, place tenancy.OrganizationMember) (*tenancy.User, *tenancy.OrganizationMember, error) {
	newcomer := tenancy.User{ID: id.User(in.GetUserId()), Email: in.GetUserEmail(), Role: tenancy.RoleInternalUser}
	if place.Role == tenancy.RoleInternalUserViewer {
		newcomer.Role = tenancy.RoleInternalUserViewer
	}
	u, made, err := j.batch.Invite(tenancy.Invitation{
		User: j.defaults.Complete(newcomer), Fresh: fresh, To: tenancy.Place{Organization: place.Organization}, Rights: j.rights,
	})
	if err == nil && made {
		err = j.rights.MayGrantUser(nil, u)
	}
	if err != nil {
		return nil, nil, err
	}
	m, err := j.set.AddOrganizationMember(j.tx, u, place)
	return u, m, err
}

// UpdateOrganizationMember changes a member's role or budget.
func (s organizationService) UpdateOrganizationMember(ctx context.Context, in *gatewayv1.UpdateOrganizationMemberRequest) (*gatewayv1.OrganizationMembership, error) {
	budget, err := optionalDollars(fieldOrganizationBudget, in.MaxBudgetInOrganization)
	if err != nil {
		return nil, err
	}
	clears, err := cleared(in.GetClear(), fieldOrganizationBudget)
	if err != nil {
		return nil, err
	}
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.OrganizationMembership, error) {
		u, before, err := s.member(ctx, v, tx, in)
		if err != nil {
			return nil, err
		}
		after := *before
		if in.Role != nil {
			after.Role = tenancy.Role(in.GetRole())
		}
		if budget != nil || clears[fieldOrganizationBudget] {
			after.MaxBudget = budget
		}
		if err := selfServed(v.Keys.Rights(tx, operation.Principal(ctx)), before, &after); err != nil {
			return nil, err
		}
		made, err := v.Keys.UpdateOrganizationMember(tx, after, operation.IfRevision(ctx))
		if err != nil {
			return nil, err
		}
		return membership(made, u), nil
	})
}

// selfServed refuses a bound of their own that admins of an organization loosen.
func selfServed(r *tenancy.Rights, before, after *tenancy.OrganizationMember) error {
	loosened := before.MaxBudget != nil && (after.MaxBudget == nil || *after.MaxBudget > *before.MaxBudget)
	if r.Admin() || before.User != r.User() || !loosened {
		return nil
	}
	return &fault.Error{Kind: fault.Denied, Code: codeNoRight, Param: fieldOrganizationBudget, Detail: "Nobody raises their own budget. Ask another admin of the organization."}
}

// DeleteOrganizationMember takes a user out of an organization.
func (s organizationService) DeleteOrganizationMember(ctx context.Context, in *gatewayv1.DeleteOrganizationMemberRequest) (*gatewayv1.OrganizationMembership, error) {
	return operation.Change(ctx, s.state, func(v *cluster.View, tx *record.Txn) (*gatewayv1.OrganizationMembership, error) {
		u, m, err := s.member(ctx, v, tx, in)
		if err != nil {
			return nil, err
		}
		old, err := v.Keys.DeleteOrganizationMember(tx, m.Organization, m.User)
		if err != nil {
			return nil, err
		}
		return membership(old, u), nil
	})
}

// memberName names a member of an organization.
type memberName interface {
	userName
	GetOrganizationId() string
}

// member returns the member that a request names, which who asks has to be allowed
// to change.
func (organizationService) member(ctx context.Context, v *cluster.View, tx *record.Txn, in memberName) (*tenancy.User, *tenancy.OrganizationMember, error) {
	r := v.Keys.Rights(tx, operation.Principal(ctx))
	o, err := visibleOrganization(v.Keys, tx, r, in.GetOrganizationId())
	if err != nil {
		return nil, nil, err
	}
	if err := r.MayManageOrganization(o); err != nil {
		return nil, nil, err
	}
	var m *tenancy.OrganizationMember
	u, ok, err := userOf(v.Keys, tx, in, func(u id.User) (is bool) {
		m, is = v.Keys.OrganizationMember(tx, o.ID, u)
		return is
	})
	if ok || err != nil {
		return u, m, err
	}
	return nil, nil, &fault.Error{Kind: fault.NotFound, Code: codeNoMember, Param: "user_id", Detail: "There is no such user in the organization."}
}

// organizationRecord is an organization as the API shows it, without its members
// and teams.
func organizationRecord(o *tenancy.Organization) *gatewayv1.OrganizationRecord {
	out := &gatewayv1.OrganizationRecord{
		OrganizationId: string(o.ID), OrganizationAlias: o.Alias, Models: o.Models, Metadata: showMetadata(o.Metadata),
	}
	showLimits(out, o.Limits)
	showMeta(out, o.Meta)
	return out
}

// fullOrganization is an organization with its members and teams.
func fullOrganization(set *tenancy.Set, o *tenancy.Organization) *gatewayv1.OrganizationRecord {
	out := organizationRecord(o)
	for m := range set.OrganizationMembers(o.ID) {
		u, _ := set.User(nil, m.User)
		out.Members = append(out.GetMembers(), membership(m, u))
	}
	for t := range set.TeamsIn(o.ID) {
		out.Teams = append(out.GetTeams(), string(t.ID))
	}
	return out
}

// membership is a user in an organization as the API shows it.
func membership(m *tenancy.OrganizationMember, u *tenancy.User) *gatewayv1.OrganizationMembership {
	out := &gatewayv1.OrganizationMembership{
		UserId: string(m.User), OrganizationId: string(m.Organization), UserRole: string(m.Role),
		MaxBudgetInOrganization: dollarsOrNull(m.MaxBudget),
	}
	if u != nil {
		out.UserEmail = textOrNull(u.Email)
	}
	showMeta(out, m.Meta)
	return out
}
