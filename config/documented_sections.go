package config

// Reasons in the table of sections and deployments.
const (
	noGuardrails     = "requests would be served without the guardrails that this file asks for; run them in front of the gateway, then remove the section"
	noInclude        = "models and settings of other files would be missing; copy the content of those files into this one"
	noCredentialList = "deployments would lack these credentials; write api_key into each, best as os.environ/NAME, then remove the section"
	noSectionPrices  = "requests would be billed at other prices; write the prices into each deployment, then remove the section"
	sectionCallbacks = "the gateway calls no callbacks"
	sectionEndpoint  = "the gateway does not have the endpoint that this section is for; requests to it get 404"
	sectionPrompts   = "prompts are managed over /prompts"
	sectionInterface = "the gateway has no web interface"
	sectionNodes     = "nodes find each other by the section cluster"
	modelBlocked     = "the deployment would be used although it is blocked; remove the deployment"
	modelAccess      = "the gateway has no access groups; list the models in models of each key or team, then remove the setting"
	modelCredential  = "this way to sign in at a provider does not exist here; write api_key"
	modelID          = "write model_info.id for an id"
	modelText        = "the gateway does not show it"
	infoTeam         = "every team could use the deployment; give it a model_name of its own, and list that in models of the team"
	infoBlocked      = "the deployment would be used although it is blocked; remove the deployment"
	infoWindows      = "the deployment would be used at all times; remove the setting if it may"
	infoEndpoints    = "the deployment would serve every endpoint; remove the setting if it may"
	checkRates       = "deployments would serve more than their rpm and tpm; set rpm_limit and tpm_limit on keys and teams, then remove it from the list"
	checkBudgets     = "the gateway would spend without these budgets; set max_budget on organizations, teams, users or keys, then remove it from the list"
	checkAffinity    = "every deployment of a group serves every request, wherever the request before it went"
	checkHeaders     = "a provider gets no header of the caller"
)

// sectionTable lists the sections of a file of LiteLLM.
func sectionTable() []row {
	return []row{
		{"model_list", honoured, ""},
		{"litellm_settings", honoured, ""},
		{"router_settings", honoured, ""},
		{"general_settings", honoured, ""},
		{"environment_variables", honoured, ""},
		{"guardrails", protecting, noGuardrails},
		{"policies", protecting, noGuardrails},
		{"policy_attachments", protecting, noGuardrails},
		{"include", protecting, noInclude},
		{"credential_list", protecting, noCredentialList},
		{"cost_discount_config", protecting, noSectionPrices},
		{"cost_margin_config", protecting, noSectionPrices},
		{"callback_settings", harmless, sectionCallbacks},
		{"assistant_settings", harmless, sectionEndpoint},
		{"files_settings", harmless, sectionEndpoint},
		{"finetune_settings", harmless, sectionEndpoint},
		{"batch_settings", harmless, sectionEndpoint},
		{"mcp_servers", harmless, sectionEndpoint},
		{"mcp_tools", harmless, sectionEndpoint},
		{"mcp_aliases", harmless, sectionEndpoint},
		{"mcp_server_groups", harmless, sectionEndpoint},
		{"search_tools", harmless, sectionEndpoint},
		{"vector_store_registry", harmless, sectionEndpoint},
		{"default_vertex_config", harmless, sectionEndpoint},
		{"agents", harmless, sectionEndpoint},
		{"agent_list", harmless, sectionEndpoint},
		{"sandbox_tools", harmless, sectionEndpoint},
		{"pass_through_endpoints", harmless, sectionEndpoint},
		{"prompts", harmless, sectionPrompts},
		{"sso_settings", harmless, sectionInterface},
		{"ui_settings", harmless, sectionInterface},
		{"plugins", harmless, sectionInterface},
		{"classifier_plugin", harmless, sectionInterface},
		{"worker_registry", harmless, sectionNodes},
	}
}

// deploymentTable lists what LiteLLM allows next to litellm_params.
func deploymentTable() []row {
	return []row{
		{"model_name", honoured, ""},
		{"litellm_params", honoured, ""},
		{"model_info", honoured, ""},
		{"blocked", protecting, modelBlocked},
		{"access_groups", protecting, modelAccess},
		{"litellm_credential_name", protecting, modelCredential},
		{"model_id", harmless, modelID},
		{"description", harmless, modelText},
	}
}

// infoTable lists what LiteLLM reads of model_info to decide who is served. Everything else there is free text.
func infoTable() []row {
	return []row{
		{"id", honoured, ""},
		{"base_model", honoured, ""},
		{"mode", honoured, ""},
		{"max_tokens", honoured, ""},
		{"max_input_tokens", honoured, ""},
		{"max_output_tokens", honoured, ""},
		{"team_id", protecting, infoTeam},
		{"team_public_model_name", protecting, infoTeam},
		{"blocked", protecting, infoBlocked},
		{"access_windows", protecting, infoWindows},
		{"enforce_supported_endpoints", protecting, infoEndpoints},
	}
}

// precheckTable lists the values of router_settings.optional_pre_call_checks.
func precheckTable() []row {
	return []row{
		{"enforce_model_rate_limits", protecting, checkRates},
		{"router_budget_limiting", protecting, checkBudgets},
		{"prompt_caching", harmless, checkAffinity},
		{"responses_api_deployment_check", harmless, checkAffinity},
		{"encrypted_content_affinity", harmless, checkAffinity},
		{"deployment_affinity", harmless, checkAffinity},
		{"session_affinity", harmless, checkAffinity},
		{"forward_client_headers_by_model_group", harmless, checkHeaders},
	}
}
