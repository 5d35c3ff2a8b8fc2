package litellm

// routerTable is the table of router_settings.
func routerTable() []Entry {
	return []Entry{
		{Protecting, "requests would be served without these guardrails; run them in front of the gateway, then remove the setting", "guardrail_list"},
		{Protecting, "the gateway would spend without these budgets; set max_budget on organizations, teams, users or keys, then remove the setting", `
			provider_budget_config tag_budget_config deployment_budget_config fallback_budget_check`},
		{Protecting, "requests would reach deployments that their tags exclude; give such deployments a model_name of their own, and list it in models of the keys that may use it", "enable_tag_filtering tag_routing_prefix"},
		{Protecting, "the gateway does not check whether a key may use a fallback model; list only fallbacks that every key of the model may use, then remove the setting", "fallback_access_check"},
		{Harmless, "it has a meaning only with enable_tag_filtering", "tag_filtering_match_any"},
		{Harmless, "the gateway needs no Redis and caches no responses", `
			redis_host redis_port redis_password redis_url redis_db redis_ssl cache_kwargs cache_responses caching_groups client_ttl`},
		{Harmless, "set num_retries, allowed_fails and retry_on instead", `
			allowed_fails_policy retry_policy model_group_retry_policy num_retries_per_request fallback_on_unsupported_params
			enable_weighted_failover enable_mid_stream_fallback_continuation max_retries`},
		{Harmless, "the strategies simple-shuffle and least-busy take no arguments", `
			routing_strategy_args routing_groups weights auto_router_capability_limit plugins`},
		{Harmless, "every deployment of a group serves every request, wherever the request before it went", `
			deployment_affinity_ttl_seconds model_group_affinity_config session_affinity_repin_on_failover`},
		{Harmless, "deployments are in cooldown after failures; they are not probed", `
			health_check_ignore_transient_errors enable_health_check_routing health_check_staleness_threshold
			background_health_check_model_groups`},
		{Harmless, "set log.level instead", "set_verbose debug_level alerting_config"},
		{Harmless, "requests are not queued", `
			polling_interval default_priority disable_async_router router_general_settings`},
		{Harmless, "the gateway does not have the endpoint that this setting is for; requests to it get 404", "assistants_config search_tools"},
		{Harmless, "a file with an invalid deployment is rejected as a whole", "ignore_invalid_deployments"},
		{Harmless, "deployments are in model_list", "model_names model_list enable_pre_call_check"},
	}
}
