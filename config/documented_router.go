package config

import "slices"

// Reasons in the table of router_settings.
const (
	oneCause         = "whatever the cause of a failure, fallbacks is what is followed"
	noRouterGuard    = "requests would be served without these guardrails; run them in front of the gateway, then remove the setting"
	noRouterBudget   = "the gateway would spend without these budgets; set max_budget on organizations, teams, users or keys, then remove the setting"
	noRouterTags     = "requests would reach deployments that their tags exclude; give such deployments a model_name of their own, and list it in models of the keys that may use it"
	noRouterAccess   = "the gateway does not check whether a key may use a fallback model; list only fallbacks that every key of the model may use, then remove the setting"
	needsTags        = "it has a meaning only with enable_tag_filtering"
	routerRedis      = "the gateway needs no Redis and caches no answers"
	routerRetries    = "set num_retries, allowed_fails and retry_on instead"
	routerStrategies = "the strategies simple-shuffle and least-busy take no arguments"
	routerAffinity   = "every deployment of a group serves every request, wherever the request before it went"
	routerHealth     = "deployments are in cooldown after failures; they are not probed"
	routerLog        = "set log.level instead"
	routerQueue      = "requests are not queued"
	routerAbsent     = "the gateway does not have the endpoint that this setting is for; requests to it get 404"
	routerStrict     = "a file with an invalid deployment is rejected as a whole"
	routerModels     = "deployments stand in model_list"
)

// routerTable is the table of router_settings.
func routerTable() []row {
	return slices.Concat(
		routerHonoured(),
		routerGuards(),
		routerRest(),
	)
}

// routerHonoured lists what the gateway does as LiteLLM does.
func routerHonoured() []row {
	return []row{
		{"routing_strategy", honoured, ""},
		{"num_retries", honoured, ""},
		{"retry_after", honoured, ""},
		{"timeout", honoured, ""},
		{"stream_timeout", honoured, ""},
		{"max_fallbacks", honoured, ""},
		{"default_max_parallel_requests", honoured, ""},
		{"cooldown_time", honoured, ""},
		{"allowed_fails", honoured, ""},
		{"disable_cooldowns", honoured, ""},
		{"enable_pre_call_checks", honoured, ""},
		{"model_group_alias", honoured, ""},
		{"fallbacks", honoured, ""},
		{"default_fallbacks", honoured, ""},
		{"optional_pre_call_checks", honoured, ""},
		{"default_litellm_params", honoured, ""},
		{"context_window_fallbacks", harmless, oneCause},
		{"content_policy_fallbacks", harmless, oneCause},
	}
}

// routerGuards lists what protects, or restricts who is served by what.
func routerGuards() []row {
	return []row{
		{"guardrail_list", protecting, noRouterGuard},
		{"provider_budget_config", protecting, noRouterBudget},
		{"tag_budget_config", protecting, noRouterBudget},
		{"deployment_budget_config", protecting, noRouterBudget},
		{"fallback_budget_check", protecting, noRouterBudget},
		{"enable_tag_filtering", protecting, noRouterTags},
		{"tag_routing_prefix", protecting, noRouterTags},
		{"fallback_access_check", protecting, noRouterAccess},
		{"tag_filtering_match_any", harmless, needsTags},
	}
}

// routerRest lists what can be left out.
func routerRest() []row {
	return []row{
		{"redis_host", harmless, routerRedis},
		{"redis_port", harmless, routerRedis},
		{"redis_password", harmless, routerRedis},
		{"redis_url", harmless, routerRedis},
		{"redis_db", harmless, routerRedis},
		{"redis_ssl", harmless, routerRedis},
		{"cache_kwargs", harmless, routerRedis},
		{"cache_responses", harmless, routerRedis},
		{"caching_groups", harmless, routerRedis},
		{"client_ttl", harmless, routerRedis},
		{"allowed_fails_policy", harmless, routerRetries},
		{"retry_policy", harmless, routerRetries},
		{"model_group_retry_policy", harmless, routerRetries},
		{"num_retries_per_request", harmless, routerRetries},
		{"fallback_on_unsupported_params", harmless, routerRetries},
		{"enable_weighted_failover", harmless, routerRetries},
		{"enable_mid_stream_fallback_continuation", harmless, routerRetries},
		{"max_retries", harmless, routerRetries},
		{"routing_strategy_args", harmless, routerStrategies},
		{"routing_groups", harmless, routerStrategies},
		{"weights", harmless, routerStrategies},
		{"auto_router_capability_limit", harmless, routerStrategies},
		{"plugins", harmless, routerStrategies},
		{"deployment_affinity_ttl_seconds", harmless, routerAffinity},
		{"model_group_affinity_config", harmless, routerAffinity},
		{"session_affinity_repin_on_failover", harmless, routerAffinity},
		{"health_check_ignore_transient_errors", harmless, routerHealth},
		{"enable_health_check_routing", harmless, routerHealth},
		{"health_check_staleness_threshold", harmless, routerHealth},
		{"background_health_check_model_groups", harmless, routerHealth},
		{"set_verbose", harmless, routerLog},
		{"debug_level", harmless, routerLog},
		{"alerting_config", harmless, routerLog},
		{"polling_interval", harmless, routerQueue},
		{"default_priority", harmless, routerQueue},
		{"disable_async_router", harmless, routerQueue},
		{"router_general_settings", harmless, routerQueue},
		{"assistants_config", harmless, routerAbsent},
		{"search_tools", harmless, routerAbsent},
		{"ignore_invalid_deployments", harmless, routerStrict},
		{"model_names", harmless, routerModels},
		{"model_list", harmless, routerModels},
		{"enable_pre_call_check", harmless, routerModels},
	}
}
