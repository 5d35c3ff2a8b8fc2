package mgmt

import (
	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/keys"
)

// access says who may use a route or an operation at all. What of it is theirs is
// for the operation to decide.
type access uint8

// Who may use it. Each but the last two includes those below it.
const (
	public access = iota // with no key
	anyKey               // with any valid key, which sees what is its own
	scoped               // with a key of somebody who has a role; the operation decides by what it is about
	viewer               // who may see everything: proxy_admin_viewer and proxy_admin
	admin                // proxy_admin
)

// effect says what an operation does to the state that the nodes agree on.
type effect uint8

const (
	reads  effect = iota
	scans         // reads what was spent or recorded, for as long as it takes
	writes        // what Idempotency-Key is for
)

// permission is a row of the table of operations.
type permission struct {
	access access
	effect effect
}

// permissions is the one table of who may use which operation. An operation
// without a row is an error of New.
func permissions() map[string]permission {
	table := map[string]permission{}
	for service, rows := range map[string]map[string]permission{
		"gateway.v1.KeyService": {
			"GetKey": {anyKey, reads}, "CheckKeyHealth": {anyKey, reads},
			"GetKeys": {scoped, reads}, "ListKeys": {scoped, reads}, "ListKeyAliases": {scoped, reads},
			"GenerateKey": {scoped, writes}, "GenerateServiceAccountKey": {scoped, writes}, "RegenerateKey": {scoped, writes},
			"UpdateKey": {scoped, writes}, "BulkUpdateKeys": {scoped, writes}, "DeleteKeys": {scoped, writes},
			"ResetKeySpend": {scoped, writes}, "BlockKey": {scoped, writes}, "UnblockKey": {scoped, writes},
		},
		"gateway.v1.OrganizationService": {
			"GetOrganization": {scoped, reads}, "GetOrganizations": {scoped, reads}, "ListOrganizations": {scoped, reads},
			"CreateOrganization": {admin, writes}, "UpdateOrganization": {admin, writes}, "DeleteOrganizations": {admin, writes},
			"AddOrganizationMembers": {scoped, writes}, "UpdateOrganizationMember": {scoped, writes}, "DeleteOrganizationMember": {scoped, writes},
		},
		"gateway.v1.TeamService": {
			"GetTeam": {scoped, reads}, "ListTeams": {scoped, reads}, "ListTeamsPage": {scoped, reads}, "ListTeamPermissions": {scoped, reads},
			"CreateTeam": {scoped, writes}, "UpdateTeam": {scoped, writes}, "PatchTeam": {scoped, writes}, "DeleteTeams": {scoped, writes},
			"BlockTeam": {scoped, writes}, "UnblockTeam": {scoped, writes},
			"AddTeamMembers": {scoped, writes}, "BulkAddTeamMembers": {scoped, writes}, "UpdateTeamMember": {scoped, writes}, "DeleteTeamMember": {scoped, writes},
			"AddTeamModels": {scoped, writes}, "DeleteTeamModels": {scoped, writes}, "UpdateTeamPermissions": {scoped, writes},
		},
		"gateway.v1.UserService": {
			"GetUser": {scoped, reads}, "GetUserRecord": {scoped, reads}, "ListUsers": {scoped, reads},
			"CreateUser": {scoped, writes}, "UpdateUser": {scoped, writes}, "BulkUpdateUsers": {scoped, writes}, "DeleteUsers": {scoped, writes},
		},
		"gateway.v1.CustomerService": {
			"GetCustomer": {scoped, reads}, "ListCustomers": {scoped, reads},
			"CreateCustomer": {scoped, writes}, "UpdateCustomer": {scoped, writes}, "DeleteCustomers": {scoped, writes},
			"BlockCustomers": {scoped, writes}, "UnblockCustomers": {scoped, writes},
		},
		"gateway.v1.BudgetService": {
			"GetBudgets": {viewer, reads}, "ListBudgets": {viewer, reads}, "GetBudgetSettings": {viewer, reads},
			"CreateBudget": {admin, writes}, "UpdateBudget": {admin, writes}, "DeleteBudget": {admin, writes},
		},
		"gateway.v1.ModelService": {
			"ListModelInfo": {anyKey, reads}, "ListModelInfoPage": {anyKey, reads}, "ListModelGroups": {anyKey, reads},
			"GetModelCost": {anyKey, reads}, "EstimateCost": {anyKey, reads},
			"CreateModel": {admin, writes}, "UpdateModel": {admin, writes}, "DeleteModel": {admin, writes}, "ReloadCostMap": {admin, writes},
		},
		"gateway.v1.FallbackService": {
			"ListFallbacks": {viewer, reads}, "GetFallback": {viewer, reads},
			"CreateFallback": {admin, writes}, "UpdateFallback": {admin, writes}, "DeleteFallback": {admin, writes},
		},
		"gateway.v1.CredentialService": {
			"ListCredentials": {viewer, reads}, "GetCredential": {viewer, reads},
			"CreateCredential": {admin, writes}, "UpdateCredential": {admin, writes}, "DeleteCredential": {admin, writes}, "RotateCredentials": {admin, writes},
		},
		"gateway.v1.GuardrailService": {
			"ListGuardrails": {anyKey, reads}, "GetGuardrail": {anyKey, reads}, "ListGuardrailEngines": {anyKey, reads},
			"CreateGuardrail": {scoped, writes}, "UpdateGuardrail": {scoped, writes}, "DeleteGuardrail": {scoped, writes},
		},
		"gateway.v1.PromptService": {
			// What an organization has is for all of its keys, whoever's they are.
			"ListPrompts": {anyKey, reads}, "GetPrompt": {anyKey, reads}, "ListPromptVersions": {anyKey, reads}, "RenderPrompt": {anyKey, reads},
			"CreatePrompt": {scoped, writes}, "UpdatePrompt": {scoped, writes}, "DeletePrompt": {scoped, writes},
		},
		"gateway.v1.ConfigService": {
			"GetConfig": {viewer, reads}, "ListConfig": {viewer, reads}, "GetConfigField": {viewer, reads},
			"UpdateConfig": {admin, writes}, "UpdateConfigField": {admin, writes}, "DeleteConfigField": {admin, writes},
		},
		"gateway.v1.ClusterService": {
			"GetStatus": {viewer, reads}, "ListMembers": {viewer, reads}, "RemoveMember": {admin, writes},
		},
		// What others have used is for those above them, which the operations see to.
		"gateway.v1.SpendService": {"ListSpendLogs": {anyKey, scans}},
		"gateway.v1.ActivityService": {
			"GetTeamActivity": {scoped, scans}, "GetUserActivity": {scoped, scans}, "GetOrganizationActivity": {scoped, scans},
			"GetCustomerActivity": {scoped, scans},
		},
		"gateway.v1.BillingService": {"GetDailySpend": {scoped, scans}},
		"gateway.v1.AuditService": {
			"ListAuditLog": {scoped, scans}, "GetAuditRecord": {scoped, reads}, "VerifyAuditLog": {viewer, scans},
		},
		"grpc.reflection.v1.ServerReflection": {"ServerReflectionInfo": {viewer, reads}},
	} {
		for method, row := range rows {
			table["/"+service+"/"+method] = row
		}
	}
	return table
}

// check refuses who is not of the class, and roles that change nothing what changes
// something. That there is a valid key, where one is needed, has been seen to.
func (p permission) check(who keys.Principal) error {
	role := who.Role()
	switch {
	case p.access <= anyKey, role == keys.RoleProxyAdmin:
		return nil
	case p.access == admin:
		return fault.New(fault.Denied, "insufficient_permissions", "Only an admin key may do that.")
	case p.effect == writes && (role == keys.RoleProxyAdminViewer || role == keys.RoleInternalUserViewer):
		return fault.New(fault.Denied, "insufficient_permissions", "The role %s of this API key changes nothing.", role)
	case p.access == viewer && role != keys.RoleProxyAdminViewer, role == keys.RoleNone:
		return fault.New(fault.Denied, "insufficient_permissions", "This API key has no role that may do that.")
	}
	return nil
}
