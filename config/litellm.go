package config

import "strings"

// fate is what becomes of a LiteLLM key that has no meaning here.
type fate struct {
	why    string // completes "has no effect: …" or "is not supported: …"
	refuse bool   // starting without it would be less safe than the file asks for
}

// ignored is the fate of a key that can be left out without harm.
func ignored(why string) (fate, bool) { return fate{why: why}, true }

// refused is the fate of a key that protects, restricts or names what is needed.
func refused(why string) (fate, bool) { return fate{why: why, refuse: true}, true }

// meet applies the fate of a field, and reports whether the field is known.
func (d *decoder) meet(f field, what fate, known bool) bool {
	switch {
	case !known:
		return false
	case f.value.kind == absent || off(f.value): // it asks for nothing
	case what.refuse:
		d.fail(f.value, "is not supported: %s", what.why)
	default:
		d.warn(f.value, "has no effect: %s", what.why)
	}
	return true
}

// off reports whether a value says no.
func off(n *node) bool {
	switch n.kind {
	case scalar:
		s := strings.ToLower(n.text)
		return s == "false" || s == "no" || s == "off"
	case list:
		return len(n.items) == 0
	case mapping:
		return len(n.fields) == 0
	case absent:
	}
	return true
}

// foreignSection meets the top-level sections of LiteLLM that have no meaning here.
func (d *decoder) foreignSection(f field) bool {
	what, known := sectionFate(f.name)
	return d.meet(f, what, known)
}

func sectionFate(name string) (fate, bool) {
	switch name {
	case "guardrails", "policies", "policy_attachments":
		return refused("the gateway would answer without the guardrails that this file asks for; remove the section if it may")
	case "include":
		return refused("models in other files would be missing; copy the content of those files into this one")
	case "credential_list":
		return refused("write api_key into each deployment, best as os.environ/NAME, and remove the section")
	case "callback_settings", "assistant_settings", "files_settings", "finetune_settings", "mcp_servers", "mcp_tools",
		"mcp_aliases", "mcp_server_groups", "prompts", "search_tools", "vector_store_registry", "default_vertex_config", "cost_discount_config",
		"cost_margin_config", "sso_settings", "ui_settings":
		return ignored("this LiteLLM section has no counterpart in the file; remove it")
	}
	return fate{}, false
}

// foreignGeneral meets the general_settings of LiteLLM that have no meaning here.
func (d *decoder) foreignGeneral(f field) bool {
	what, known := generalFate(f.name)
	return d.meet(f, what, known)
}

func generalFate(name string) (fate, bool) {
	switch name {
	case "allowed_ips", "allowed_routes", "admin_only_routes", "custom_auth", "custom_auth_settings", "enforced_params",
		"enforce_user_param", "reject_clientside_metadata_tags", "key_management_system", "key_management_settings":
		return refused("the gateway would let through, or fail to find, what this setting guards; remove it if that is meant")
	case "database_url", "database_connection_pool_limit", "database_connection_timeout", "database_extra_connection_params",
		"database_type", "database_args", "store_model_in_db", "use_prisma_migrate", "allow_requests_on_db_unavailable",
		"disable_prisma_schema_update", "proxy_batch_write_at", "proxy_budget_rescheduler_min_time",
		"proxy_budget_rescheduler_max_time", "use_redis_transaction_buffer", "use_shared_health_check",
		"supported_db_objects", "database_socket_timeout":
		return ignored("the gateway keeps its state itself, in data_dir; no database is needed")
	case "disable_spend_logs", "disable_error_logs", "disable_adding_master_key_hash_to_db", "store_prompts_in_spend_logs",
		"maximum_spend_logs_retention_period", "maximum_spend_logs_retention_interval", "spend_report_frequency",
		"disable_spend_updates":
		return ignored("usage is always accounted for, and prompts are never stored")
	case "alerting", "alerting_args", "alerting_threshold", "alert_types", "alert_to_webhook_url", "email_settings":
		return ignored("where events are delivered to is set by POST /config/update, for all nodes at once")
	case "max_parallel_requests", "global_max_parallel_requests":
		return ignored("the number of requests at a time is not limited by the file")
	case "background_health_checks", "health_check_interval", "health_check_details", "health_check_concurrency",
		"health_check_staleness_threshold", "health_check_ignore_transient_errors", "enable_health_check_routing":
		return ignored("deployments rest after failures; they are not probed")
	case "completion_model", "infer_model_from_keys", "alias", "custom_key_generate", "custom_sso", "custom_ui_sso_sign_in_handler",
		"default_team_disabled", "default_team_params", "default_internal_user_params", "disable_reset_budget", "enable_jwt_auth",
		"enable_oauth2_auth", "enable_oauth2_proxy_auth", "litellm_jwtauth", "enable_public_model_hub", "forward_client_headers_to_llm_api",
		"forward_llm_provider_auth_headers", "forward_openai_org_id", "llm_api_name", "litellm_key_header_name",
		"pass_through_endpoints", "public_routes", "role_permissions", "token_rate_limit_type", "ui_access_mode",
		"use_azure_key_vault", "use_google_kms", "use_client_credentials_pass_through_routes", "user_header_name",
		"user_header_mappings", "user_mcp_management_mode", "control_plane_url", "coordination", "otel", "always_include_stream_usage",
		"custom_run_cmd", "store_audit_logs", "supported_access_groups", "service_account_settings", "ui_theme_config",
		"disable_copilot_system_to_assistant", "mcp_internal_ip_ranges", "disable_responses_id_security", "enable_mcp_registry",
		"allow_user_auth", "allow_client_side_credentials", "auto_redirect_ui_login_to_sso", "environment", "proxy_base_url":
		return ignored("this LiteLLM setting has no counterpart here; remove it")
	}
	return fate{}, false
}

// foreignModel meets what LiteLLM allows beside litellm_params.
func (d *decoder) foreignModel(f field) bool {
	switch f.name {
	case "model_id", "access_groups", "litellm_credential_name", "description":
		return d.meet(f, fate{why: "write model_info.id for an id; the others have no counterpart here"}, true)
	}
	return false
}

// foreignParam meets the litellm_params that have no meaning here.
func (d *decoder) foreignParam(f field) bool {
	what, known := paramFate(f.name)
	return d.meet(f, what, known)
}

func paramFate(name string) (fate, bool) {
	switch name {
	case "max_budget", "budget_duration":
		return refused("the deployment would spend without this budget; remove it if it may")
	case "guardrails", "default_guardrails":
		return refused("the deployment would answer without its guardrails; remove the setting if it may")
	case "litellm_credential_name", "azure_ad_token", "tenant_id", "client_id", "client_secret", "vertex_credentials",
		"azure_username", "azure_password", "azure_scope", "watsonx_region_name", "aws_profile_name", "aws_role_name",
		"aws_session_name", "aws_web_identity_token", "aws_sts_endpoint", "aws_access_key_id", "aws_secret_access_key", "aws_session_token", "aws_region_name":
		return refused("this way to sign in at a provider does not exist here; write api_key")
	case "tiered_pricing", "off_peak_pricing", "search_context_cost_per_query", "regional_processing_uplift_multiplier_eu",
		"regional_processing_uplift_multiplier_us":
		return refused("requests would be billed at other prices than this one; write it as input_cost_per_token_above_200k_tokens and the like, or remove it")
	case "temperature", "top_p", "n", "max_tokens", "max_completion_tokens", "stop", "seed", "stream", "presence_penalty",
		"frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "user", "response_format", "tools", "tool_choice",
		"parallel_tool_calls", "reasoning_effort", "thinking", "extra_body", "metadata", "modalities", "service_tier",
		"dimensions", "encoding_format", "input_type", "safety_settings", "verbosity", "stream_options", "top_k", "cache_control_injection_points":
		return ignored("a deployment has no default request parameters; callers send them")
	case "vertex_project", "vertex_location", "region_name", "api_type", "deployment_id", "api_version_override",
		"use_in_pass_through", "use_litellm_proxy", "merge_reasoning_content_in_choices", "mock_response", "configurable_clientside_auth_params",
		"model_info", "max_parallel_requests", "max_file_size_mb", "ssl_verify", "num_retries", "cooldown_time", "allowed_openai_params",
		"additional_drop_params", "headers", "default_headers", "organization_id", "litellm_trace_id", "allowed_fails_policy",
		"auto_router_config_path", "auto_router_default_model", "auto_router_embedding_model", "caching_groups", "cache",
		"use_chat_completions_api", "prompt_id", "prompt_variables", "no-log", "litellm_logging_obj", "s3_bucket_name",
		"gcs_bucket_name", "rpm_limit", "tpm_limit", "tpd", "rpd", "input_cost", "output_cost", "aws_bedrock_runtime_endpoint":
		return ignored("this LiteLLM parameter has no counterpart here; remove it")
	}
	return fate{}, false
}

// settings folds what litellm_settings says about routing into router_settings,
// which wins where both say something, and returns the rest that has a meaning.
func (d *decoder) settings(own, foreign *node) (*node, settings) {
	var s settings
	o := d.open(foreign)
	router := &node{kind: mapping, path: "router_settings"}
	if own != nil && own.kind == mapping {
		router.at, router.fields = own.at, append(router.fields, own.fields...)
	} else if own != nil && own.kind != absent {
		d.open(own) // says that it must be a mapping
	}
	for _, name := range []string{
		"num_retries", "request_timeout", "allowed_fails", "cooldown_time", "fallbacks", "default_fallbacks",
		"context_window_fallbacks", "content_policy_fallbacks", "model_group_alias", "max_fallbacks", "stream_timeout",
	} {
		n, ok := o.take(name)
		if !ok {
			continue
		}
		to := strings.Replace(name, "request_timeout", "timeout", 1)
		if router.field(to) != nil {
			d.warn(n, "has no effect: router_settings.%s is set and wins; remove one of the two", to)
			continue
		}
		router.fields = append(router.fields, field{to, n.at, n})
	}
	o.boolean("drop_params", &s.dropParams)
	o.rest(d.foreignSetting)
	return router, s
}

// foreignSetting meets the litellm_settings that have no meaning here.
func (d *decoder) foreignSetting(f field) bool {
	what, known := settingFate(f.name)
	return d.meet(f, what, known)
}

func settingFate(name string) (fate, bool) {
	switch name {
	case "max_budget", "max_end_user_budget", "max_end_user_budget_id", "max_user_budget", "max_internal_user_budget", "budget_duration",
		"internal_user_budget_duration", "upperbound_key_generate_params":
		return refused("the gateway would spend without this budget; remove it if it may")
	case "guardrails", "blocked_user_list", "banned_keywords_list", "block_robots", "google_moderation_confidence_threshold", "llamaguard_model_name",
		"block_requests_for_models_without_pricing":
		return refused("the gateway would answer without this guard; remove it if it may")
	case "callbacks", "success_callback", "failure_callback", "service_callback", "audit_log_callbacks", "input_callback", "post_call_rules",
		"langfuse_default_tags", "datadog_params", "s3_callback_params", "gcs_callback_params", "json_logs", "set_verbose",
		"suppress_debug_info", "turn_off_message_logging", "redact_messages_in_exceptions", "redact_user_api_key_info",
		"log_raw_request_response", "standard_logging_payload_excluded_fields", "prometheus_metrics_config", "custom_prometheus_metadata_labels",
		"custom_prometheus_tags", "prometheus_initialize_budget_metrics", "require_auth_for_metrics_endpoint", "enable_end_user_cost_tracking_prometheus_only",
		"callback_settings", "langsmith_batch_size", "generic_logger_headers", "store_audit_logs", "prometheus_emit_stream_label":
		return ignored("the gateway has its own log and metrics, which never hold prompts or answers; there are no callbacks")
	case "cache", "cache_params", "caching", "caching_with_models", "enable_caching_on_provider_specific_optional_params",
		"enable_redis_auth_cache", "disable_copilot_system_to_assistant":
		return ignored("answers are not cached")
	case "ssl_verify", "ssl_certificate", "ssl_security_level", "ssl_ecdh_curve", "force_ipv4", "aiohttp_trust_env", "network_mock", "proxy_url",
		"disable_aiohttp_transport", "use_aiohttp_transport":
		return ignored("Envoy makes the connections; certificates are always verified")
	case "modify_params", "telemetry", "add_function_to_prompt", "drop_unknown_params", "enable_json_schema_validation",
		"disable_end_user_cost_tracking", "default_internal_user_params", "default_team_params", "default_team_settings",
		"default_max_internal_user_budget", "key_generation_settings", "public_model_groups", "public_model_groups_links",
		"enable_preview_features", "return_response_headers", "model_cost_map_url", "custom_provider_map", "priority_reservation",
		"priority_reservation_settings", "tag_budget_config", "enable_loadbalancing_on_batch_endpoints", "default_redis_ttl",
		"default_in_memory_ttl", "default_redis_batch_cache_expiry", "forward_traceparent_to_llm_provider", "num_retries_per_request",
		"allowed_fails_policy", "retry_policy", "mcp_aliases", "mcp_semantic_tool_filter", "extra_spend_tag_headers", "vector_store_registry",
		"use_chat_completions_url_for_anthropic_messages", "disable_add_prefix_to_prompt", "disable_token_counter", "disable_hf_tokenizer_download",
		"ui_theme_config", "max_ui_session_budget", "user_url_validation", "include_cost_in_streaming_usage", "cost_discount_config",
		"cost_margin_config", "disable_stop_sequence_limit", "modify_response", "api_key", "api_base", "headers", "region_name", "organization",
		"client_session", "aclient_session", "anthropic_beta_headers_url":
		return ignored("this LiteLLM setting has no counterpart here; remove it")
	}
	return fate{}, false
}
