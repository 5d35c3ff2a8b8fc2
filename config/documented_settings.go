package config

import "slices"

// Reasons in the table of litellm_settings.
const (
	noGuard             = "requests would be served without this guard; run the guard in front of the gateway, then remove the setting"
	noGlobalBudget      = "the gateway would spend without this budget; set max_budget on organizations, teams, users or keys, then remove the setting"
	noDefaults          = "records would be created without these defaults and their budgets; set them when you create the record, then remove the setting"
	noUserTeams         = "users would not be put into these teams and their budgets; add them by POST /team/member_add, then remove the setting"
	noKeySettings       = "callers could make keys that this setting forbids; give them keys without rights to /key/generate, then remove the setting"
	noPriority          = "requests would not be limited by priority; set rpm_limit and tpm_limit on keys and teams, then remove the setting"
	noPriceGuard        = "models without a price would be served; add prices to each deployment, then remove the setting"
	noUserGuard         = "requests of unknown end users would be served; remove the setting if they may"
	noThrottle          = "requests beyond the budget would get other answers; set general_settings.budget_throttle_factor instead"
	noWiderAccess       = "it would change which models personal keys may use; set models on each key, then remove the setting"
	noPriceChange       = "requests would be billed at other prices; write the prices into each deployment, then remove the setting"
	softOnly            = "soft budgets are set on each record; they deny nothing"
	noSessions          = "the gateway has no web interface, so no session of it spends"
	noCallbacks         = "the gateway has its own log and metrics, which never hold prompts or answers; it calls no callbacks"
	neverLogged         = "prompts, answers and credentials are never logged"
	ownLog              = "set log.level and log.format instead"
	ownMetrics          = "the gateway has its own metrics, and /metrics always needs a key"
	alwaysCounted       = "usage is always recorded, by end user and by tag"
	noCache             = "answers are not cached"
	envoyConnects       = "Envoy makes the connections; certificates are always verified"
	perDeployment       = "write it into each deployment"
	ownRetries          = "retries and cooldown are set in router_settings"
	settingsNoURLs      = "the gateway never fetches a URL of a request, and api_base comes from the operator"
	settingsNoHeaders   = "a provider gets no header of the caller"
	passedOn            = "the gateway passes requests on as they are, but for what the provider needs"
	noSchemaCheck       = "answers would not be checked against the schema; check them in the application, then remove the setting"
	ownTokens           = "the gateway counts tokens itself"
	ownModels           = "models and prices stand in model_list and in the price map"
	settingsNoEndpoint  = "the gateway does not have the endpoint that this setting is for; requests to it get 404"
	settingsNoPrompts   = "prompts are managed over /prompts"
	noEmail             = "LiteLLM itself no longer uses it"
	settingsCredentials = "deployments would lack these credentials; write api_key into each, best as os.environ/NAME, then remove the list"
)

// settingsTable is the table of litellm_settings.
func settingsTable() []row {
	return slices.Concat(
		settingsHonoured(),
		settingsGuards(),
		settingsBudgets(),
		settingsRecords(),
		settingsCache(),
		settingsConnections(),
		settingsRequests(),
		settingsAbsent(),
	)
}

// settingsHonoured lists what the gateway does as LiteLLM does.
func settingsHonoured() []row {
	return []row{
		{"num_retries", honoured, ""},
		{"request_timeout", honoured, ""},
		{"stream_timeout", honoured, ""},
		{"allowed_fails", honoured, ""},
		{"cooldown_time", honoured, ""},
		{"fallbacks", honoured, ""},
		{"default_fallbacks", honoured, ""},
		{"model_group_alias", honoured, ""},
		{"max_fallbacks", honoured, ""},
		{"drop_params", honoured, ""},
		{"context_window_fallbacks", harmless, oneCause},
		{"content_policy_fallbacks", harmless, oneCause},
	}
}

// settingsGuards lists what looks at prompts and answers. The lists of callbacks are read one by one: see the table of callbacks.
func settingsGuards() []row {
	return []row{
		{"guardrails", protecting, noGuard},
		{"blocked_user_list", protecting, noGuard},
		{"banned_keywords_list", protecting, noGuard},
		{"block_robots", protecting, noGuard},
		{"google_moderation_confidence_threshold", protecting, noGuard},
		{"llamaguard_model_name", protecting, noGuard},
		{"llamaguard_unsafe_content_categories", protecting, noGuard},
		{"llm_guard_mode", protecting, noGuard},
		{"openai_moderations_model_name", protecting, noGuard},
		{"presidio_ad_hoc_recognizers", protecting, noGuard},
		{"output_parse_pii", protecting, noGuard},
		{"guardrail_name_config_map", protecting, noGuard},
		{"pre_call_rules", protecting, noGuard},
		{"post_call_rules", protecting, noGuard},
		{"modify_response", protecting, noGuard},
		{"skip_system_message_in_guardrail", protecting, noGuard},
		{"skip_tool_message_in_guardrail", protecting, noGuard},
		{"callbacks", honoured, ""},
		{"input_callback", honoured, ""},
		{"success_callback", honoured, ""},
		{"failure_callback", honoured, ""},
		{"service_callback", honoured, ""},
		{"service_callbacks", honoured, ""},
		{"audit_log_callbacks", honoured, ""},
	}
}

// settingsBudgets lists what bounds spend, and who may make keys.
func settingsBudgets() []row {
	return []row{
		{"max_budget", protecting, noGlobalBudget},
		{"budget_duration", protecting, noGlobalBudget},
		{"max_user_budget", protecting, noGlobalBudget},
		{"max_end_user_budget", protecting, noGlobalBudget},
		{"max_end_user_budget_id", protecting, noGlobalBudget},
		{"tag_budget_config", protecting, noGlobalBudget},
		{"key_generation_settings", honoured, ""},
		{"default_internal_user_params", honoured, ""},
		{"default_team_params", honoured, ""},
		{"max_internal_user_budget", honoured, ""},
		{"internal_user_budget_duration", honoured, ""},
		{"default_max_internal_user_budget", honoured, ""},
		{"default_team_settings", protecting, noDefaults},
		{"default_key_generate_params", protecting, noDefaults},
		{"default_internal_user_params.teams", protecting, noUserTeams},
		{"upperbound_key_generate_params", protecting, noKeySettings},
		{"enable_key_alias_format_validation", protecting, noKeySettings},
		{"key_alias_pattern", protecting, noKeySettings},
		{"priority_reservation", protecting, noPriority},
		{"priority_reservation_settings", protecting, noPriority},
		{"block_requests_for_models_without_pricing", protecting, noPriceGuard},
		{"validate_end_user_id_in_db", protecting, noUserGuard},
		{"budget_exceeded_throttle_percentage", protecting, noThrottle},
		{"personal_key_model_access_from_teams", protecting, noWiderAccess},
		{"cost_discount_config", protecting, noPriceChange},
		{"cost_margin_config", protecting, noPriceChange},
		{"apply_search_free_tier", protecting, noPriceChange},
		{"default_soft_budget", harmless, softOnly},
		{"default_key_max_budget_alert_emails", harmless, softOnly},
		{"budget_rollover", harmless, softOnly},
		{"budget_exceeded_status_code", harmless, softOnly},
		{"max_ui_session_budget", harmless, noSessions},
	}
}

// settingsRecords lists what is about logs and metrics.
func settingsRecords() []row {
	return []row{
		{"langfuse_default_tags", harmless, noCallbacks},
		{"langfuse_enable_update_trace_keys", harmless, noCallbacks},
		{"langsmith_batch_size", harmless, noCallbacks},
		{"argilla_batch_size", harmless, noCallbacks},
		{"argilla_transformation_object", harmless, noCallbacks},
		{"datadog_params", harmless, noCallbacks},
		{"datadog_llm_observability_params", harmless, noCallbacks},
		{"datadog_use_v1", harmless, noCallbacks},
		{"gcs_pub_sub_use_v1", harmless, noCallbacks},
		{"generic_api_use_v1", harmless, noCallbacks},
		{"generic_logger_headers", harmless, noCallbacks},
		{"s3_callback_params", harmless, noCallbacks},
		{"s3_audit_callback_params", harmless, noCallbacks},
		{"gcs_callback_params", harmless, noCallbacks},
		{"newrelic_params", harmless, noCallbacks},
		{"pointfive_params", harmless, noCallbacks},
		{"zerobus_params", harmless, noCallbacks},
		{"aws_sqs_callback_params", harmless, noCallbacks},
		{"dynamodb_table_name", harmless, noCallbacks},
		{"callback_settings", harmless, noCallbacks},
		{"batch_line_item_callbacks", harmless, noCallbacks},
		{"cold_storage_custom_logger", harmless, noCallbacks},
		{"logged_real_time_event_types", harmless, noCallbacks},
		{"allow_dynamic_callback_disabling", harmless, noCallbacks},
		{"global_disable_no_log_param", harmless, noCallbacks},
		{"disable_streaming_logging", harmless, noCallbacks},
		{"otel_tenant_destination_mode", harmless, noCallbacks},
		{"store_audit_logs", harmless, noCallbacks},
		{"telemetry", harmless, noCallbacks},
		{"turn_off_message_logging", harmless, neverLogged},
		{"redact_messages_in_exceptions", harmless, neverLogged},
		{"redact_user_api_key_info", harmless, neverLogged},
		{"log_raw_request_response", harmless, neverLogged},
		{"standard_logging_payload_excluded_fields", harmless, neverLogged},
		{"log_client_error_tracebacks", harmless, neverLogged},
		{"log_auth_failure_key_identity", harmless, neverLogged},
		{"expose_router_debug_in_errors", harmless, neverLogged},
		{"request_correlation_in_logs", harmless, neverLogged},
		{"json_logs", harmless, ownLog},
		{"set_verbose", harmless, ownLog},
		{"suppress_debug_info", harmless, ownLog},
		{"suppress_startup_output", harmless, ownLog},
		{"logging", harmless, ownLog},
		{"prometheus_metrics_config", harmless, ownMetrics},
		{"prometheus_initialize_budget_metrics", harmless, ownMetrics},
		{"prometheus_latency_buckets", harmless, ownMetrics},
		{"prometheus_exclude_metrics", harmless, ownMetrics},
		{"prometheus_exclude_labels", harmless, ownMetrics},
		{"prometheus_emit_stream_label", harmless, ownMetrics},
		{"prometheus_emit_input_sequence_length_label", harmless, ownMetrics},
		{"prometheus_deployment_and_latency_caller_identity", harmless, ownMetrics},
		{"prometheus_emit_rate_limit_labels", harmless, ownMetrics},
		{"prometheus_user_budget_label_include_email_alias", harmless, ownMetrics},
		{"prometheus_end_user_metrics_max_series_per_metric", harmless, ownMetrics},
		{"prometheus_end_user_metrics_ttl_seconds", harmless, ownMetrics},
		{"prometheus_end_user_metrics_cleanup_interval_seconds", harmless, ownMetrics},
		{"prometheus_metrics_max_series_per_metric", harmless, ownMetrics},
		{"prometheus_metrics_ttl_seconds", harmless, ownMetrics},
		{"prometheus_metrics_cleanup_interval_seconds", harmless, ownMetrics},
		{"custom_prometheus_metadata_labels", harmless, ownMetrics},
		{"custom_prometheus_tags", harmless, ownMetrics},
		{"require_auth_for_metrics_endpoint", harmless, ownMetrics},
		{"enable_end_user_cost_tracking_prometheus_only", harmless, ownMetrics},
		{"disable_end_user_cost_tracking_prometheus_only", harmless, ownMetrics},
		{"disable_end_user_cost_tracking", harmless, alwaysCounted},
		{"extra_spend_tag_headers", harmless, alwaysCounted},
		{"disable_add_user_agent_to_request_tags", harmless, alwaysCounted},
		{"include_cost_in_streaming_usage", harmless, alwaysCounted},
		{"return_response_headers", harmless, alwaysCounted},
		{"forward_traceparent_to_llm_provider", harmless, alwaysCounted},
	}
}

// settingsCache lists what is about caches.
func settingsCache() []row {
	return []row{
		{"cache", harmless, noCache},
		{"cache_params", harmless, noCache},
		{"caching", harmless, noCache},
		{"caching_with_models", harmless, noCache},
		{"enable_caching_on_provider_specific_optional_params", harmless, noCache},
		{"enable_redis_auth_cache", harmless, noCache},
		{"default_redis_ttl", harmless, noCache},
		{"default_in_memory_ttl", harmless, noCache},
		{"default_redis_batch_cache_expiry", harmless, noCache},
		{"force_redis_hash_tag_grouping", harmless, noCache},
	}
}

// settingsConnections lists what is about connections to providers.
func settingsConnections() []row {
	return []row{
		{"ssl_verify", harmless, envoyConnects},
		{"ssl_certificate", harmless, envoyConnects},
		{"ssl_security_level", harmless, envoyConnects},
		{"ssl_ecdh_curve", harmless, envoyConnects},
		{"force_ipv4", harmless, envoyConnects},
		{"http2", harmless, envoyConnects},
		{"aiohttp_trust_env", harmless, envoyConnects},
		{"disable_aiohttp_trust_env", harmless, envoyConnects},
		{"disable_aiohttp_transport", harmless, envoyConnects},
		{"use_aiohttp_transport", harmless, envoyConnects},
		{"network_mock", harmless, envoyConnects},
		{"proxy_url", harmless, envoyConnects},
		{"client_session", harmless, envoyConnects},
		{"aclient_session", harmless, envoyConnects},
		{"proxy_auth", harmless, envoyConnects},
		{"sse_keepalive_ping_interval_seconds", harmless, envoyConnects},
		{"anthropic_sse_ping_interval_seconds", harmless, envoyConnects},
		{"api_key", harmless, perDeployment},
		{"api_base", harmless, perDeployment},
		{"api_version", harmless, perDeployment},
		{"headers", harmless, perDeployment},
		{"organization", harmless, perDeployment},
		{"region_name", harmless, perDeployment},
		{"vertex_project", harmless, perDeployment},
		{"vertex_location", harmless, perDeployment},
		{"use_litellm_proxy", harmless, perDeployment},
		{"use_client", harmless, perDeployment},
		{"enable_azure_ad_token_refresh", harmless, perDeployment},
		{"vertex_ai_safety_settings", harmless, perDeployment},
		{"num_retries_per_request", harmless, ownRetries},
		{"retry", harmless, ownRetries},
		{"allowed_fails_policy", harmless, ownRetries},
		{"retry_policy", harmless, ownRetries},
		{"user_url_validation", harmless, settingsNoURLs},
		{"user_url_allowed_hosts", harmless, settingsNoURLs},
		{"provider_url_destination_allowed_hosts", harmless, settingsNoURLs},
		{"model_group_settings", harmless, settingsNoHeaders},
	}
}

// settingsRequests lists what changes requests and answers.
func settingsRequests() []row {
	return []row{
		{"modify_params", harmless, passedOn},
		{"add_function_to_prompt", harmless, passedOn},
		{"drop_unknown_params", harmless, passedOn},
		{"disable_add_prefix_to_prompt", harmless, passedOn},
		{"disable_stop_sequence_limit", harmless, passedOn},
		{"disable_add_transform_inline_image_block", harmless, passedOn},
		{"use_chat_completions_url_for_anthropic_messages", harmless, passedOn},
		{"anthropic_messages_estimate_initial_input_tokens", harmless, passedOn},
		{"strip_anthropic_total_tokens", harmless, passedOn},
		{"bedrock_neutralize_orphaned_tool_blocks", harmless, passedOn},
		{"route_all_chat_openai_to_responses", harmless, passedOn},
		{"gemini_live_defer_setup", harmless, passedOn},
		{"disable_anthropic_gemini_context_caching_transform", harmless, passedOn},
		{"enable_anthropic_prompt_caching", harmless, passedOn},
		{"anthropic_prompt_caching_ttl", harmless, passedOn},
		{"openai_system_messages_first", harmless, passedOn},
		{"disable_vertex_batch_output_transformation", harmless, passedOn},
		{"reasoning_auto_summary", harmless, passedOn},
		{"reasoning_effort_rounding", harmless, passedOn},
		{"enable_gemini_default_thinking_level_low", harmless, passedOn},
		{"gemini_include_thoughts_default", harmless, passedOn},
		{"filter_invalid_headers", harmless, passedOn},
		{"add_user_information_to_llm_headers", harmless, passedOn},
		{"overwrite_user_with_key_hash", harmless, passedOn},
		{"bedrock_request_metadata_fields", harmless, passedOn},
		{"disable_copilot_system_to_assistant", harmless, passedOn},
		{"custom_prompt_dict", harmless, passedOn},
		{"enable_preview_features", harmless, passedOn},
		{"max_tokens", harmless, passedOn},
		{"anthropic_beta_headers_url", harmless, passedOn},
		{"enable_model_config_credential_overrides", harmless, passedOn},
		{"LITELLM_DISABLE_STOP_SEQUENCE_LIMIT", harmless, passedOn},
		{"enable_json_schema_validation", protecting, noSchemaCheck},
		{"disable_token_counter", harmless, ownTokens},
		{"disable_hf_tokenizer_download", harmless, ownTokens},
		{"model_cost_map_url", harmless, ownModels},
		{"model_alias_map", harmless, ownModels},
		{"model_fallbacks", harmless, ownModels},
		{"custom_provider_map", harmless, ownModels},
		{"blog_posts_url", harmless, ownModels},
		{"autorouter_presets_url", harmless, ownModels},
	}
}

// settingsAbsent lists what belongs to endpoints that do not exist here.
func settingsAbsent() []row {
	return []row{
		{"mcp_aliases", harmless, settingsNoEndpoint},
		{"mcp_semantic_tool_filter", harmless, settingsNoEndpoint},
		{"mcp_tool_search", harmless, settingsNoEndpoint},
		{"public_mcp_servers", harmless, settingsNoEndpoint},
		{"public_mcp_hub_strict_whitelist", harmless, settingsNoEndpoint},
		{"public_model_groups", harmless, settingsNoEndpoint},
		{"public_model_groups_links", harmless, settingsNoEndpoint},
		{"public_skills_index", harmless, settingsNoEndpoint},
		{"public_agent_groups", harmless, settingsNoEndpoint},
		{"agent_search_embedding_model", harmless, settingsNoEndpoint},
		{"skill_search_embedding_model", harmless, settingsNoEndpoint},
		{"vector_store_registry", harmless, settingsNoEndpoint},
		{"vector_store_index_registry", harmless, settingsNoEndpoint},
		{"vector_store_search_failure_mode", harmless, settingsNoEndpoint},
		{"enable_loadbalancing_on_batch_endpoints", harmless, settingsNoEndpoint},
		{"require_managed_files", harmless, settingsNoEndpoint},
		{"disable_vertex_batch_output", harmless, settingsNoEndpoint},
		{"responses", harmless, settingsNoEndpoint},
		{"ui_theme_config", harmless, settingsNoEndpoint},
		{"adapters", harmless, settingsNoEndpoint},
		{"global_prompt_directory", harmless, settingsNoPrompts},
		{"global_bitbucket_config", harmless, settingsNoPrompts},
		{"global_gitlab_config", harmless, settingsNoPrompts},
		{"prompt_name_config_map", harmless, settingsNoPrompts},
		{"email", harmless, noEmail},
		{"token", harmless, noEmail},
		{"safe_memory_mode", harmless, noEmail},
		{"credential_list", protecting, settingsCredentials},
	}
}
