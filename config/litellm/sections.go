package litellm

// sectionTable is the table of the sections of a file of LiteLLM.
func sectionTable() []Entry {
	return []Entry{
		{Protecting, "requests would be served without the guardrails that this file requires; create each with POST /guardrail, then remove the section", "guardrails"},
		{Protecting, "requests would be served without the guardrails that this file requires; create them with POST /guardrail, name them in guardrails of keys, teams, organizations and models, then remove the section", "policies policy_attachments"},
		{Protecting, "models and settings of other files would be missing; copy the content of those files into this one", "include"},
		{Protecting, "deployments would lack these credentials; write api_key into each, best as os.environ/NAME, then remove the section", "credential_list"},
		{Protecting, "requests would be billed at other prices; write the prices into each deployment, then remove the section", "cost_discount_config cost_margin_config"},
		{Harmless, "the gateway calls no callbacks", "callback_settings"},
		{Harmless, "the gateway does not have the endpoint that this section is for; requests to it get 404", `
			assistant_settings files_settings finetune_settings batch_settings mcp_servers mcp_tools mcp_aliases mcp_server_groups search_tools
			vector_store_registry default_vertex_config agents agent_list sandbox_tools pass_through_endpoints`},
		{Harmless, "prompts are managed over /prompts", "prompts"},
		{Harmless, "the gateway has no web interface", "sso_settings ui_settings plugins classifier_plugin"},
		{Harmless, "nodes find each other by the section cluster", "worker_registry"},
	}
}

// deploymentTable is the table of what LiteLLM allows next to litellm_params.
func deploymentTable() []Entry {
	return []Entry{
		{Protecting, "the deployment would be used although it is blocked; remove the deployment", "blocked"},
		{Protecting, "the gateway has no access groups; list the models in models of each key or team, then remove the setting", "access_groups"},
		{Protecting, "this way to sign in at a provider does not exist here; write api_key", "litellm_credential_name"},
		{Harmless, "write model_info.id for an id", "model_id"},
		{Harmless, "the gateway does not show it", "description"},
	}
}

// infoTable is the table of what LiteLLM reads of model_info to decide which callers a deployment serves. Everything else there is free text.
func infoTable() []Entry {
	return []Entry{
		{Protecting, "every team could use the deployment; give it a model_name of its own, and list that in models of the team", "team_id team_public_model_name"},
		{Protecting, "the deployment would be used although it is blocked; remove the deployment", "blocked"},
		{Protecting, "the deployment would be used at all times; remove the setting if it may", "access_windows"},
		{Protecting, "the deployment would serve every endpoint; remove the setting if it may", "enforce_supported_endpoints"},
	}
}

// precheckTable is the table of the values of router_settings.optional_pre_call_checks.
func precheckTable() []Entry {
	return []Entry{
		{Protecting, "deployments would serve more than their rpm and tpm; set rpm_limit and tpm_limit on keys and teams, then remove it from the list", "enforce_model_rate_limits"},
		{Protecting, "the gateway would spend without these budgets; set max_budget on organizations, teams, users or keys, then remove it from the list", "router_budget_limiting"},
		{Harmless, "every deployment of a group serves every request, wherever the request before it went", `
			prompt_caching responses_api_deployment_check encrypted_content_affinity deployment_affinity session_affinity`},
		{Harmless, "a provider gets no header of the caller", "forward_client_headers_by_model_group"},
	}
}
