package mgmt

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/rights"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	"github.com/modelgateway/modelgateway/mgmt/field"
	"github.com/modelgateway/modelgateway/mgmt/operation"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

type organizationService struct {
	gatewayv1.UnimplementedOrganizationServiceServer
	service
}

// CreateOrganization creates an organization.
func (s organizationService) CreateOrganization(ctx context.Context, in *gatewayv1.CreateOrganizationRequest) (*gatewayv1.OrganizationRecord, error) {
	o, err := patchOrganization(tenancy.Organization{ID: id.Organization(chosen(in.OrganizationId))}, in, nil)
	if err != nil {
		return nil, err
	}
	return changed(ctx, s.state, organizationRecord, func(c caller) (*tenancy.Organization, error) {
		if err := c.rights.MayGrantOrganization(nil, &o); err != nil {
			return nil, err
		}
		o := o
		var err error
		if o.Prompts, err = c.promptRules(tenancy.PromptRules{}, o.Prompts, o.ID); err != nil {
			return nil, err
		}
		if o.Guardrails, err = c.guardrailIDs(nil, o.Guardrails, o.ID); err != nil {
			return nil, err
		}
		return c.set.CreateOrganization(c.tx, o)
	})
}

// chosen returns the id that a request gives to a new record, or a fresh one.
func chosen(given *string) string { return orElse(given, id.NewUUID()) }

// GetOrganization shows one organization.
func (s organizationService) GetOrganization(ctx context.Context, in *gatewayv1.GetOrganizationRequest) (*gatewayv1.OrganizationRecord, error) {
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	return shown(c.fullOrganization)(c.organization(in.GetOrganizationId()))
}

// GetOrganizations shows several organizations; if the caller may not see one, it shows none.
func (s organizationService) GetOrganizations(ctx context.Context, in *gatewayv1.GetOrganizationsRequest) (*gatewayv1.GetOrganizationsResponse, error) {
	c, err := current(ctx, s.state)
	if err != nil {
		return nil, err
	}
	out := &gatewayv1.GetOrganizationsResponse{}
	for i, of := range in.GetOrganizations() {
		o, err := c.organization(of)
		if err != nil {
			return nil, field.Named(field.At("organizations", i), err)
		}
		out.Organizations = append(out.GetOrganizations(), c.fullOrganization(o))
	}
	return out, nil
}

// ListOrganizations shows the organizations that the caller may see.
func (s organizationService) ListOrganizations(ctx context.Context, in *gatewayv1.ListOrganizationsRequest) (*gatewayv1.ListOrganizationsResponse, error) {
	c, part := viewer(ctx), strings.ToLower(in.GetOrgAlias())
	matching := keep(c.set.Organizations(), func(o *tenancy.Organization) bool {
		return (in.GetOrgId() == "" || string(o.ID) == in.GetOrgId()) && strings.Contains(strings.ToLower(o.Alias), part) && c.rights.MaySeeOrganization(o)
	})
	return &gatewayv1.ListOrganizationsResponse{Organizations: shownAll(matching, c.fullOrganization)}, nil
}

// UpdateOrganization changes the fields in the request.
func (s organizationService) UpdateOrganization(ctx context.Context, in *gatewayv1.UpdateOrganizationRequest) (*gatewayv1.OrganizationRecord, error) {
	return changed(ctx, s.state, organizationRecord, func(c caller) (*tenancy.Organization, error) {
		before, err := c.organization(in.GetOrganizationId())
		if err != nil {
			return nil, err
		}
		after, err := patchOrganization(*before, in, in.GetClear())
		if err != nil {
			return nil, err
		}
		if err := c.rights.MayGrantOrganization(before, &after); err != nil {
			return nil, err
		}
		if after.Prompts, err = c.promptRules(before.Prompts, after.Prompts, after.ID); err != nil {
			return nil, err
		}
		if after.Guardrails, err = c.guardrailIDs(before.Guardrails, after.Guardrails, after.ID); err != nil {
			return nil, err
		}
		return c.set.UpdateOrganization(c.tx, after, operation.IfRevision(ctx))
	})
}

// patchOrganization returns an organization with the changes of a request.
func patchOrganization(o tenancy.Organization, m proto.Message, clears []string) (tenancy.Organization, error) {
	p := patchOf(m, clears, limitFields(ruleFields("models", "metadata")...)...)
	o.Alias = p.text("organization_alias", o.Alias)
	o.Models = p.list("models", o.Models)
	o.Metadata = p.metadata(o.Metadata)
	o.Prompts = p.prompts(o.Prompts)
	o.Guardrails = p.list(tenancy.FieldGuardrails, o.Guardrails)
	o.Limits = p.limits(o.Limits)
	return o, p.err
}

// DeleteOrganizations deletes organizations with everything that belongs to them.
func (s organizationService) DeleteOrganizations(ctx context.Context, in *gatewayv1.DeleteOrganizationsRequest) (*gatewayv1.DeleteOrganizationsResponse, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.DeleteOrganizationsResponse, error) {
		out := &gatewayv1.DeleteOrganizationsResponse{}
		for i, of := range distinct(in.GetOrganizationIds()) {
			old, err := c.view.DeleteOrganization(c.tx, id.Organization(of))
			if err != nil {
				return nil, field.Named(field.At("organization_ids", i), err)
			}
			out.Organizations = append(out.GetOrganizations(), organizationRecord(old))
		}
		return out, nil
	})
}

// organization returns an organization that the caller may see.
func (c caller) organization(of string) (*tenancy.Organization, error) {
	o, _ := c.set.Organization(c.tx, id.Organization(of))
	return visible(c.rights, o, c.rights.MaySeeOrganization, missing{codeNoOrganization, "organization_id", "organization"})
}

// managedOrganization returns an organization that the caller may manage.
func (c caller) managedOrganization(of string) (*tenancy.Organization, error) {
	o, err := c.organization(of)
	if err != nil {
		return nil, err
	}
	return o, c.rights.MayManageOrganization(o)
}

// fieldOrganizationBudget bounds the spend of a member in an organization.
const fieldOrganizationBudget = "max_budget_in_organization"

// memberForms reads a single member that is not in a list.
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
	return change(ctx, s.state, func(c caller) (*gatewayv1.AddOrganizationMembersResponse, error) {
		o, err := c.managedOrganization(in.GetOrganizationId())
		if err != nil {
			return nil, err
		}
		out := &gatewayv1.AddOrganizationMembersResponse{OrganizationId: string(o.ID)}
		all := joining{caller: c, batch: c.set.UserBatch(c.tx), defaults: s.defaults.User}
		for i, m := range in.GetMember() {
			u, place, err := all.add(m, fresh[i], tenancy.OrganizationMember{Organization: o.ID, Role: tenancy.Role(m.GetRole()), MaxBudget: budget})
			if err != nil {
				return nil, field.Within(field.At("member", i), err)
			}
			user := c.userRecord(u)
			addPlace(user, place)
			out.UpdatedUsers = append(out.GetUpdatedUsers(), user)
			out.UpdatedOrganizationMemberships = append(out.GetUpdatedOrganizationMemberships(), membership(place, u.Email))
		}
		return out, nil
	})
}

// nobody returns the error for a request that names no user.
func nobody() error {
	return fault.Field("user_id", "missing_required_parameter", "Name the user, by user_id or user_email.")
}

// joining adds users to an organization in one transaction.
type joining struct {
	caller
	batch *tenancy.UserBatch
	// defaults are those of users that are created
	defaults tenancy.UserDefaults
}

// add adds a user to an organization, and creates a user that does not exist. Invite says
// which users a caller may add: an org_admin decides about the members.
func (j joining) add(in *gatewayv1.NewOrganizationMember, fresh id.User, place tenancy.OrganizationMember) (*tenancy.User, *tenancy.OrganizationMember, error) {
	newcomer := tenancy.User{ID: id.User(in.GetUserId()), Email: in.GetUserEmail(), Role: tenancy.RoleInternalUser}
	if place.Role == tenancy.RoleInternalUserViewer {
		newcomer.Role = tenancy.RoleInternalUserViewer
	}
	u, made, err := j.rights.Invite(j.batch, rights.Invitation{
		User: j.defaults.Complete(newcomer), Fresh: fresh, To: tenancy.Place{Organization: place.Organization},
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
	return change(ctx, s.state, func(c caller) (*gatewayv1.OrganizationMembership, error) {
		u, before, err := c.organizationMember(in)
		if err != nil {
			return nil, err
		}
		after := *before
		after.Role = tenancy.Role(orElse(in.Role, string(after.Role)))
		if budget != nil || clears[fieldOrganizationBudget] {
			after.MaxBudget = budget
		}
		if err := selfServed(c.rights, before, &after); err != nil {
			return nil, err
		}
		made, err := c.set.UpdateOrganizationMember(c.tx, after, operation.IfRevision(ctx))
		if err != nil {
			return nil, err
		}
		return membership(made, u.Email), nil
	})
}

// selfServed denies an admin of an organization a higher budget of its own.
func selfServed(r *rights.Rights, before, after *tenancy.OrganizationMember) error {
	loosened := before.MaxBudget != nil && (after.MaxBudget == nil || *after.MaxBudget > *before.MaxBudget)
	if r.Admin() || before.User != r.User() || !loosened {
		return nil
	}
	return notYours(fieldOrganizationBudget, "Nobody raises their own budget. Ask another admin of the organization.")
}

// DeleteOrganizationMember removes a user from an organization.
func (s organizationService) DeleteOrganizationMember(ctx context.Context, in *gatewayv1.DeleteOrganizationMemberRequest) (*gatewayv1.OrganizationMembership, error) {
	return change(ctx, s.state, func(c caller) (*gatewayv1.OrganizationMembership, error) {
		u, m, err := c.organizationMember(in)
		if err != nil {
			return nil, err
		}
		old, err := c.set.DeleteOrganizationMember(c.tx, m.Organization, m.User)
		if err != nil {
			return nil, err
		}
		return membership(old, u.Email), nil
	})
}

// memberName names a member of an organization.
type memberName interface {
	userName
	GetOrganizationId() string
}

// organizationMember returns the member that a request names. The caller must be allowed to
// manage the organization.
func (c caller) organizationMember(in memberName) (*tenancy.User, *tenancy.OrganizationMember, error) {
	o, err := c.managedOrganization(in.GetOrganizationId())
	if err != nil {
		return nil, nil, err
	}
	var m *tenancy.OrganizationMember
	u, ok, err := c.userOf(in, func(u id.User) (is bool) {
		m, is = c.set.OrganizationMember(c.tx, o.ID, u)
		return is
	})
	if ok || err != nil {
		return u, m, err
	}
	return nil, nil, &fault.Error{Kind: fault.NotFound, Code: codeNoMember, Param: "user_id", Detail: "There is no such user in the organization."}
}

// organizationRecord returns an organization in the form of the API, without its members and
// teams.
func organizationRecord(o *tenancy.Organization) *gatewayv1.OrganizationRecord {
	out := &gatewayv1.OrganizationRecord{
		OrganizationId: string(o.ID), OrganizationAlias: o.Alias, Models: o.Models, Metadata: showMetadata(o.Metadata),
	}
	showPromptRules(out, o.Prompts)
	showGuardrails(out, o.Guardrails)
	showLimits(out, o.Limits)
	showMeta(out, o.Meta)
	return out
}

// fullOrganization returns an organization with its members and teams.
func (c caller) fullOrganization(o *tenancy.Organization) *gatewayv1.OrganizationRecord {
	out := organizationRecord(o)
	for m := range c.set.OrganizationMembers(o.ID) {
		out.Members = append(out.GetMembers(), membership(m, emailOf(c.set, m.User)))
	}
	out.Teams = shownAll(c.set.TeamsIn(o.ID), func(t *tenancy.Team) string { return string(t.ID) })
	return out
}

// membership returns the membership of a user in an organization in the form of the API.
func membership(m *tenancy.OrganizationMember, email string) *gatewayv1.OrganizationMembership {
	out := &gatewayv1.OrganizationMembership{
		UserId: string(m.User), OrganizationId: string(m.Organization), UserRole: string(m.Role),
		MaxBudgetInOrganization: dollarsOrNull(m.MaxBudget), UserEmail: textOrNull(email),
	}
	showMeta(out, m.Meta)
	return out
}
