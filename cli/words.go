package cli

// noun is a resource, as people call it.
type noun struct {
	name    string
	aliases []string
	short   string
	service string // in gateway.v1
	verbs   []verb
}

// verb is one of its operations.
type verb struct {
	name    string
	aliases []string
	rpc     string   // of the service
	args    []string // fields that may stand without their flags, in this order; "…" behind one takes all that is left
	rows    string   // field of the answer that is a list of what it is about; empty: the answer is
	columns []string // of the table; empty: every field that is set, one a line
}

// nouns is the table of all commands. A test holds it against the operations that
// there are.
func nouns() []noun {
	return []noun{
		keyNoun(), organizationNoun(), teamNoun(), userNoun(), customerNoun(), budgetNoun(), modelNoun(), fallbackNoun(), credentialNoun(), guardrailNoun(), promptNoun(), settingsNoun(), spendNoun(),
		activityNoun(), billingNoun(), auditLogNoun(),
	}
}

func keyNoun() noun {
	columns := []string{"key_name", "key_alias", "status", "team_id", "user_id", "models", "max_budget", "expires", "created_at", "token"}
	return noun{"key", []string{"keys"}, "virtual keys", "KeyService", []verb{
		{"generate", []string{"new", "create"}, "GenerateKey", nil, "", nil},
		{"generate-service-account", nil, "GenerateServiceAccountKey", nil, "", nil},
		{"info", []string{"get", "show"}, "GetKey", []string{"key"}, "info", nil},
		{"infos", nil, "GetKeys", []string{"keys…"}, "info", columns},
		{"list", []string{"ls"}, "ListKeys", nil, "keys", columns},
		{"aliases", nil, "ListKeyAliases", nil, "aliases", []string{"alias"}},
		{"update", nil, "UpdateKey", []string{"key"}, "", nil},
		{"bulk-update", nil, "BulkUpdateKeys", nil, "", nil},
		{"delete", []string{"rm"}, "DeleteKeys", []string{"keys…"}, "deleted_keys", []string{"deleted"}},
		{"regenerate", []string{"rotate"}, "RegenerateKey", []string{"key"}, "", nil},
		{"reset-spend", nil, "ResetKeySpend", []string{"key", "reset_to"}, "", nil},
		{"block", nil, "BlockKey", []string{"key"}, "", nil},
		{"unblock", nil, "UnblockKey", []string{"key"}, "", nil},
		{"health", nil, "CheckKeyHealth", nil, "", nil},
	}}
}

func organizationNoun() noun {
	columns := []string{"organization_id", "organization_alias", "models", "max_budget", "teams", "created_at"}
	return noun{"organization", []string{"org", "organizations", "orgs"}, "organizations and their members", "OrganizationService", []verb{
		{"new", []string{"create"}, "CreateOrganization", []string{"organization_alias"}, "", nil},
		{"info", []string{"get", "show"}, "GetOrganization", []string{"organization_id"}, "", nil},
		{"infos", nil, "GetOrganizations", []string{"organizations…"}, "", columns},
		{"list", []string{"ls"}, "ListOrganizations", nil, "", columns},
		{"update", nil, "UpdateOrganization", []string{"organization_id"}, "", nil},
		{"delete", []string{"rm"}, "DeleteOrganizations", []string{"organization_ids…"}, "", columns},
		{"member-add", nil, "AddOrganizationMembers", []string{"organization_id"}, "updated_organization_memberships", []string{"organization_id", "user_id", "user_role", "max_budget_in_organization"}},
		{"member-update", nil, "UpdateOrganizationMember", []string{"organization_id", "user_id"}, "", nil},
		{"member-delete", nil, "DeleteOrganizationMember", []string{"organization_id", "user_id"}, "", nil},
	}}
}

func teamNoun() noun {
	columns := []string{"team_id", "team_alias", "organization_id", "models", "max_budget", "budget_duration", "blocked", "members", "created_at"}
	return noun{"team", []string{"teams"}, "teams and their members", "TeamService", []verb{
		{"new", []string{"create"}, "CreateTeam", []string{"team_alias"}, "", nil},
		{"info", []string{"get", "show"}, "GetTeam", []string{"team_id"}, "team_info", nil},
		{"list", []string{"ls"}, "ListTeams", nil, "", columns},
		{"page", nil, "ListTeamsPage", nil, "teams", columns},
		{"update", nil, "UpdateTeam", []string{"team_id"}, "data", nil},
		{"patch", nil, "PatchTeam", []string{"team_id"}, "", nil},
		{"delete", []string{"rm"}, "DeleteTeams", []string{"team_ids…"}, "deleted_teams", columns},
		{"block", nil, "BlockTeam", []string{"team_id"}, "", nil},
		{"unblock", nil, "UnblockTeam", []string{"team_id"}, "", nil},
		{"member-add", nil, "AddTeamMembers", []string{"team_id"}, "updated_team_memberships", []string{"team_id", "user_id", "role", "max_budget_in_team"}},
		{"member-bulk-add", nil, "BulkAddTeamMembers", []string{"team_id"}, "updated_team_memberships", []string{"team_id", "user_id", "role", "max_budget_in_team"}},
		{"member-update", nil, "UpdateTeamMember", []string{"team_id", "user_id"}, "", nil},
		{"member-delete", nil, "DeleteTeamMember", []string{"team_id", "user_id"}, "", nil},
		{"model-add", nil, "AddTeamModels", []string{"team_id", "models…"}, "", nil},
		{"model-delete", nil, "DeleteTeamModels", []string{"team_id", "models…"}, "", nil},
		{"permissions", nil, "ListTeamPermissions", []string{"team_id"}, "", nil},
		{"permissions-update", nil, "UpdateTeamPermissions", []string{"team_id", "team_member_permissions…"}, "", nil},
	}}
}

func userNoun() noun {
	columns := []string{"user_id", "user_email", "user_role", "teams", "key_count", "max_budget", "blocked", "created_at"}
	return noun{"user", []string{"users"}, "users", "UserService", []verb{
		{"new", []string{"create"}, "CreateUser", []string{"user_email"}, "", nil},
		{"info", []string{"get", "show"}, "GetUser", []string{"user_id"}, "user_info", nil},
		{"record", nil, "GetUserRecord", []string{"user_id"}, "", nil},
		{"list", []string{"ls"}, "ListUsers", nil, "users", columns},
		{"update", nil, "UpdateUser", []string{"user_id"}, "data", nil},
		{"bulk-update", nil, "BulkUpdateUsers", nil, "results", []string{"user_id", "success", "error"}},
		{"delete", []string{"rm"}, "DeleteUsers", []string{"user_ids…"}, "", nil},
	}}
}

func customerNoun() noun {
	columns := []string{"user_id", "alias", "blocked", "models", "budget_id", "max_budget", "created_at"}
	return noun{"customer", []string{"customers", "end-user"}, "customers: the end users of applications", "CustomerService", []verb{
		{"new", []string{"create"}, "CreateCustomer", []string{"user_id"}, "", nil},
		{"info", []string{"get", "show"}, "GetCustomer", []string{"end_user_id"}, "", nil},
		{"list", []string{"ls"}, "ListCustomers", nil, "", columns},
		{"update", nil, "UpdateCustomer", []string{"user_id"}, "", nil},
		{"delete", []string{"rm"}, "DeleteCustomers", []string{"user_ids…"}, "", nil},
		{"block", nil, "BlockCustomers", []string{"user_ids…"}, "blocked_users", columns},
		{"unblock", nil, "UnblockCustomers", []string{"user_ids…"}, "", nil},
	}}
}

func budgetNoun() noun {
	columns := []string{"budget_id", "max_budget", "soft_budget", "budget_duration", "tpm_limit", "rpm_limit", "created_at"}
	settings := []string{"field_name", "field_type", "field_value", "field_default_value", "stored_in_db"}
	return noun{"budget", []string{"budgets"}, "budgets that several share the terms of", "BudgetService", []verb{
		{"new", []string{"create"}, "CreateBudget", []string{"budget_id"}, "", nil},
		{"info", []string{"get", "show"}, "GetBudgets", []string{"budgets…"}, "", columns},
		{"list", []string{"ls"}, "ListBudgets", nil, "", columns},
		{"update", nil, "UpdateBudget", []string{"budget_id"}, "", nil},
		{"delete", []string{"rm"}, "DeleteBudget", []string{"id"}, "", nil},
		{"settings", nil, "GetBudgetSettings", []string{"budget_id"}, "", settings},
	}}
}

func modelNoun() noun {
	columns := []string{"model_name", "gateway_params.model", "model_info.id", "model_info.db_model", "gateway_params.api_base", "gateway_params.weight"}
	return noun{"model", []string{"models"}, "models, their deployments and prices", "ModelService", []verb{
		{"new", []string{"add", "create"}, "CreateModel", []string{"model_name"}, "", nil},
		{"update", nil, "UpdateModel", []string{"model_id"}, "", nil},
		{"delete", []string{"rm"}, "DeleteModel", []string{"id"}, "", nil},
		{"list", []string{"ls", "info"}, "ListModelInfo", nil, "data", columns},
		{"page", nil, "ListModelInfoPage", nil, "data", columns},
		{"groups", nil, "ListModelGroups", nil, "data", []string{"model_group", "providers", "deployments", "max_input_tokens", "input_cost_per_token", "output_cost_per_token"}},
		{"cost", []string{"prices"}, "GetModelCost", []string{"model"}, "data", []string{"model_name", "model_id", "model", "source", "prices.input_cost_per_token", "prices.output_cost_per_token"}},
		{"estimate", nil, "EstimateCost", []string{"model"}, "estimates", []string{"model_id", "model", "cost_per_request", "cost"}},
		{"cost-map-reload", nil, "ReloadCostMap", nil, "", nil},
	}}
}

func fallbackNoun() noun {
	columns := []string{"model", "fallback_type", "fallback_models"}
	return noun{"fallback", []string{"fallbacks"}, "what is tried when a model fails", "FallbackService", []verb{
		{"new", []string{"create", "set"}, "CreateFallback", []string{"model", "fallback_models…"}, "", nil},
		{"list", []string{"ls"}, "ListFallbacks", nil, "fallbacks", columns},
		{"info", []string{"get", "show"}, "GetFallback", []string{"model"}, "", nil},
		{"update", nil, "UpdateFallback", []string{"model", "fallback_models…"}, "", nil},
		{"delete", []string{"rm"}, "DeleteFallback", []string{"model"}, "", nil},
	}}
}

func credentialNoun() noun {
	return noun{"credential", []string{"credentials"}, "credentials of providers", "CredentialService", []verb{
		{"new", []string{"create"}, "CreateCredential", []string{"credential_name"}, "", nil},
		{"list", []string{"ls"}, "ListCredentials", nil, "credentials", []string{"credential_name", "credential_values", "used_by", "updated_at"}},
		{"info", []string{"get", "show"}, "GetCredential", []string{"credential_name"}, "", nil},
		{"update", nil, "UpdateCredential", []string{"credential_name"}, "", nil},
		{"delete", []string{"rm"}, "DeleteCredential", []string{"credential_name"}, "", nil},
		{"rotate", nil, "RotateCredentials", nil, "", nil},
	}}
}

func guardrailNoun() noun {
	columns := []string{"guardrail_id", "guardrail_name", "organization_id", "default_on", "engines.engine_name", "created_at"}
	return noun{"guardrail", []string{"guardrails"}, "guardrails", "GuardrailService", []verb{
		{"new", []string{"create"}, "CreateGuardrail", []string{"guardrail_name"}, "", nil},
		{"list", []string{"ls"}, "ListGuardrails", nil, "guardrails", columns},
		{"engines", nil, "ListGuardrailEngines", nil, "engines", []string{"engine_name", "event_hooks", "description"}},
		{"info", []string{"get", "show"}, "GetGuardrail", []string{"guardrail_id"}, "", nil},
		{"update", nil, "UpdateGuardrail", []string{"guardrail_id"}, "", nil},
		{"delete", []string{"rm"}, "DeleteGuardrail", []string{"guardrail_id"}, "", nil},
	}}
}

func promptNoun() noun {
	columns := []string{"prompt_id", "prompt_name", "version", "is_latest", "org", "variables", "created_at"}
	return noun{"prompt", []string{"prompts"}, "prompts and their versions", "PromptService", []verb{
		{"new", []string{"create"}, "CreatePrompt", []string{"prompt_name"}, "", nil},
		{"list", []string{"ls"}, "ListPrompts", nil, "prompts", columns},
		{"info", []string{"get", "show"}, "GetPrompt", []string{"prompt_id"}, "", nil},
		{"versions", nil, "ListPromptVersions", []string{"prompt_id"}, "versions", columns},
		{"render", nil, "RenderPrompt", []string{"prompt_id"}, "messages", []string{"role", "content"}},
		{"update", nil, "UpdatePrompt", []string{"name"}, "", nil},
		{"delete", []string{"rm"}, "DeletePrompt", []string{"name"}, "", nil},
	}}
}

func settingsNoun() noun {
	columns := []string{"field_name", "field_type", "field_value", "field_default_value", "stored_in_db"}
	return noun{"settings", []string{"setting"}, "settings that can be changed at run time", "ConfigService", []verb{
		{"show", []string{"get"}, "GetConfig", nil, "", nil},
		{"update", nil, "UpdateConfig", nil, "", nil},
		{"list", []string{"ls"}, "ListConfig", nil, "", columns},
		{"field", []string{"info"}, "GetConfigField", []string{"field_name"}, "", nil},
		{"set", nil, "UpdateConfigField", []string{"field_name", "field_value"}, "", nil},
		{"reset", nil, "DeleteConfigField", []string{"field_name"}, "", nil},
	}}
}

func spendNoun() noun {
	return noun{"spend", nil, "what requests consumed and cost", "SpendService", []verb{
		{"logs", nil, "ListSpendLogs", nil, "", []string{"endTime", "model_group", "model_id", "status", "prompt_tokens", "completion_tokens", "spend", "key_alias", "request_id"}},
	}}
}

func activityNoun() noun {
	columns := []string{"date", "metrics.spend", "metrics.api_requests", "metrics.failed_requests", "metrics.prompt_tokens", "metrics.completion_tokens"}
	return noun{"activity", nil, "what was used day by day", "ActivityService", []verb{
		{"team", nil, "GetTeamActivity", []string{"team_id"}, "results", columns},
		{"user", nil, "GetUserActivity", []string{"user_id"}, "results", columns},
		{"customer", nil, "GetCustomerActivity", []string{"customer_id"}, "results", columns},
		{"organization", []string{"org"}, "GetOrganizationActivity", []string{"organization_id"}, "results", columns},
	}}
}

func billingNoun() noun {
	return noun{"billing", nil, "what is to be paid", "BillingService", []verb{
		{"daily-spend", nil, "GetDailySpend", nil, "data", []string{"date", "spend", "requests", "failed_requests", "tokens_input", "tokens_output"}},
	}}
}

func auditLogNoun() noun {
	return noun{"audit-log", nil, "the audit log of a running gateway", "AuditService", []verb{
		{"list", []string{"ls"}, "ListAuditLog", nil, "data", []string{"event_id", "timestamp", "event_type", "actor", "org_id", "team_id", "request_id"}},
		{"info", []string{"get", "show"}, "GetAuditRecord", []string{"event_id"}, "", nil},
		{"verify", nil, "VerifyAuditLog", nil, "", nil},
	}}
}
