package mgmt

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/modelgateway/modelgateway/cluster/id"
	"github.com/modelgateway/modelgateway/cluster/tenancy"
	gatewayv1 "github.com/modelgateway/modelgateway/proto/gen/gateway/v1"
)

// Fields of a team that its members have where they have none of their own.
const (
	fieldMemberBudget         = "team_member_budget"
	fieldMemberBudgetDuration = "team_member_budget_duration"
	fieldMemberRPM            = "team_member_rpm_limit"
	fieldMemberTPM            = "team_member_tpm_limit"
	fieldMemberKeyDuration    = "team_member_key_duration"
	fieldMemberPermissions    = "team_member_permissions"
)

// patchTeam returns a team as a request wants it.
func patchTeam(t tenancy.Team, m proto.Message, clears []string) (tenancy.Team, error) {
	p := patchOf(m, clears, limitFields("team_alias", "organization_id", "metadata", "models", "model_aliases", "tags",
		fieldMemberPermissions, fieldMemberBudget, fieldMemberBudgetDuration, fieldMemberRPM, fieldMemberTPM, fieldMemberKeyDuration)...)
	t.Alias = p.text("team_alias", t.Alias)
	t.Organization = id.Organization(p.text("organization_id", string(t.Organization)))
	t.Metadata = p.free("metadata", t.Metadata)
	t.Models = p.list("models", t.Models)
	t.ModelAliases = p.pairs("model_aliases", t.ModelAliases)
	t.Tags = p.list("tags", t.Tags)
	t.Blocked = p.flag("blocked", t.Blocked)
	t.MemberPermissions = p.list(fieldMemberPermissions, t.MemberPermissions)
	t.MemberBudget = p.amount(fieldMemberBudget, t.MemberBudget)
	t.MemberBudgetDuration = p.text(fieldMemberBudgetDuration, t.MemberBudgetDuration)
	t.MemberRPM = p.count(fieldMemberRPM, t.MemberRPM)
	t.MemberTPM = p.count(fieldMemberTPM, t.MemberTPM)
	t.MemberKeyDuration = p.text(fieldMemberKeyDuration, t.MemberKeyDuration)
	t.Limits = p.limits(t.Limits)
	return t, p.err
}

// teamRecord is a team as the API shows it.
func teamRecord(set *tenancy.Set, t *tenancy.Team) *gatewayv1.TeamRecord {
	out := bareTeam(t)
	for m := range set.TeamMembers(t.ID) {
		appendTeamMember(out, len(out.GetMembers()), m, emailOf(set, m.User))
	}
	for _, m := range out.GetMembersWithRoles() {
		if m.GetRole() == tenancy.TeamAdmin {
			out.Admins = append(out.GetAdmins(), m.GetUserId())
		}
	}
	return out
}

func teamRecords(set *tenancy.Set, teams []*tenancy.Team) []*gatewayv1.TeamRecord {
	out := make([]*gatewayv1.TeamRecord, len(teams))
	for i, t := range teams {
		out[i] = teamRecord(set, t)
	}
	return out
}

// bareTeam is a team without its members.
func bareTeam(t *tenancy.Team) *gatewayv1.TeamRecord {
	out := &gatewayv1.TeamRecord{
		TeamId: string(t.ID), TeamAlias: textOrNull(t.Alias), OrganizationId: textOrNull(string(t.Organization)),
		TeamMemberPermissions: t.Permissions(), Metadata: showMetadata(t.Metadata), Models: t.Models, ModelAliases: t.ModelAliases,
		Tags: t.Tags, Blocked: t.Blocked,
		TeamMemberBudget: dollarsOrNull(t.MemberBudget), TeamMemberBudgetDuration: textOrNull(t.MemberBudgetDuration),
		TeamMemberRpmLimit: countOrNull(t.MemberRPM), TeamMemberTpmLimit: countOrNull(t.MemberTPM), TeamMemberKeyDuration: textOrNull(t.MemberKeyDuration),
	}
	showLimits(out, t.Limits)
	showMeta(out, t.Meta)
	return out
}

// emailOf is the address of a user; empty for none.
func emailOf(set *tenancy.Set, of id.User) string {
	u, ok := set.User(nil, of)
	if !ok {
		return ""
	}
	return u.Email
}

// addTeamMember adds a member to a team's record, where it belongs by id.
func addTeamMember(to *gatewayv1.TeamRecord, m *tenancy.TeamMember, email string) {
	i, _ := slices.BinarySearch(to.GetMembers(), string(m.User))
	appendTeamMember(to, i, m, email)
	if m.Role == tenancy.TeamAdmin {
		to.Admins = sortedInsert(to.GetAdmins(), string(m.User))
	}
}

// appendTeamMember adds a member at a place, and leaves out whether it is an admin.
func appendTeamMember(to *gatewayv1.TeamRecord, i int, m *tenancy.TeamMember, email string) {
	to.Members = slices.Insert(to.GetMembers(), i, string(m.User))
	to.MembersWithRoles = slices.Insert(to.GetMembersWithRoles(), i, &gatewayv1.TeamMember{UserId: string(m.User), UserEmail: textOrNull(email), Role: m.Role})
}

// removeTeamMember takes a member from a team's record.
func removeTeamMember(from *gatewayv1.TeamRecord, of id.User) {
	is := func(s string) bool { return s == string(of) }
	from.Members, from.Admins = slices.DeleteFunc(from.GetMembers(), is), slices.DeleteFunc(from.GetAdmins(), is)
	from.MembersWithRoles = slices.DeleteFunc(from.GetMembersWithRoles(), func(m *gatewayv1.TeamMember) bool { return is(m.GetUserId()) })
}

// teamMembership is a user's place in a team as the API shows it.
func teamMembership(m *tenancy.TeamMember, email string) *gatewayv1.TeamMembership {
	out := &gatewayv1.TeamMembership{
		UserId: string(m.User), TeamId: string(m.Team), Role: m.Role, UserEmail: textOrNull(email),
		MaxBudgetInTeam: dollarsOrNull(m.MaxBudget), BudgetDuration: textOrNull(m.BudgetDuration),
		TpmLimit: countOrNull(m.TPM), RpmLimit: countOrNull(m.RPM), AllowedModels: m.AllowedModels,
	}
	showMeta(out, m.Meta)
	return out
}
