package litellm

// settingsGuards are the settings of litellm_settings that protect.
func settingsGuards() []Entry {
	return []Entry{
		{Protecting, "requests would be served without this guard; run the guard in front of the gateway, then remove the setting", `
			guardrails blocked_user_list banned_keywords_list block_robots google_moderation_confidence_threshold llamaguard_model_name
			llamaguard_unsafe_content_categories llm_guard_mode openai_moderations_model_name presidio_ad_hoc_recognizers output_parse_pii
			guardrail_name_config_map pre_call_rules post_call_rules modify_response skip_system_message_in_guardrail
			skip_tool_message_in_guardrail`},
		{Protecting, "the gateway would spend without this budget; set max_budget on organizations, teams, users or keys, then remove the setting", `
			max_budget budget_duration max_user_budget max_end_user_budget max_end_user_budget_id tag_budget_config`},
		{Protecting, "records would be created without these defaults and their budgets; set them when you create the record, then remove the setting", "default_team_settings default_key_generate_params"},
		{Protecting, "users would not be put into these teams and their budgets; add them by POST /team/member_add, then remove the setting", "default_internal_user_params.teams"},
		{Protecting, "callers could make keys that this setting forbids; give them keys without rights to /key/generate, then remove the setting", `
			upperbound_key_generate_params enable_key_alias_format_validation key_alias_pattern`},
		{Protecting, "requests would not be limited by priority; set rpm_limit and tpm_limit on keys and teams, then remove the setting", "priority_reservation priority_reservation_settings"},
		{Protecting, "models without a price would be served; add prices to each deployment, then remove the setting", "block_requests_for_models_without_pricing"},
		{Protecting, "requests of unknown end users would be served; remove the setting if they may", "validate_end_user_id_in_db"},
		{Protecting, "requests beyond the budget would get other responses; set general_settings.budget_throttle_factor instead", "budget_exceeded_throttle_percentage"},
		{Protecting, "it would change which models personal keys may use; set models on each key, then remove the setting", "personal_key_model_access_from_teams"},
		{Protecting, "requests would be billed at other prices; write the prices into each deployment, then remove the setting", `
			cost_discount_config cost_margin_config apply_search_free_tier`},
		{Protecting, "responses would not be checked against the schema; check them in the application, then remove the setting", "enable_json_schema_validation"},
		{Protecting, "deployments would lack these credentials; write api_key into each, best as os.environ/NAME, then remove the list", "credential_list"},
	}
}

// settingsRest are the settings of litellm_settings that do not protect.
func settingsRest() []Entry {
	return []Entry{
		{Harmless, "soft budgets are set on each record; they deny nothing", `
			default_soft_budget default_key_max_budget_alert_emails budget_rollover budget_exceeded_status_code`},
		{Harmless, "the gateway has no web interface, so no session of it spends", "max_ui_session_budget"},
		{Harmless, "the gateway has its own log and metrics, which never hold prompts or responses; it calls no callbacks", `
			langfuse_default_tags langfuse_enable_update_trace_keys langsmith_batch_size argilla_batch_size argilla_transformation_object
			datadog_params datadog_llm_observability_params datadog_use_v1 gcs_pub_sub_use_v1 generic_api_use_v1 generic_logger_headers
			s3_callback_params s3_audit_callback_params gcs_callback_params newrelic_params pointfive_params zerobus_params
			aws_sqs_callback_params dynamodb_table_name callback_settings batch_line_item_callbacks cold_storage_custom_logger
			logged_real_time_event_types allow_dynamic_callback_disabling global_disable_no_log_param disable_streaming_logging
			otel_tenant_destination_mode store_audit_logs telemetry`},
		{Harmless, "prompts, responses and credentials are never logged", `
			turn_off_message_logging redact_messages_in_exceptions redact_user_api_key_info log_raw_request_response
			standard_logging_payload_excluded_fields log_client_error_tracebacks log_auth_failure_key_identity expose_router_debug_in_errors
			request_correlation_in_logs`},
		{Harmless, "set log.level and log.format instead", `
			json_logs set_verbose suppress_debug_info suppress_startup_output logging`},
		{Harmless, "the gateway has its own metrics, and /metrics always needs a key", `
			prometheus_metrics_config prometheus_initialize_budget_metrics prometheus_latency_buckets prometheus_exclude_metrics
			prometheus_exclude_labels prometheus_emit_stream_label prometheus_emit_input_sequence_length_label
			prometheus_deployment_and_latency_caller_identity prometheus_emit_rate_limit_labels prometheus_user_budget_label_include_email_alias
			prometheus_end_user_metrics_max_series_per_metric prometheus_end_user_metrics_ttl_seconds
			prometheus_end_user_metrics_cleanup_interval_seconds prometheus_metrics_max_series_per_metric prometheus_metrics_ttl_seconds
			prometheus_metrics_cleanup_interval_seconds custom_prometheus_metadata_labels custom_prometheus_tags
			require_auth_for_metrics_endpoint enable_end_user_cost_tracking_prometheus_only disable_end_user_cost_tracking_prometheus_only`},
		{Harmless, "usage is always recorded, by end user and by tag", `
			disable_end_user_cost_tracking extra_spend_tag_headers disable_add_user_agent_to_request_tags include_cost_in_streaming_usage
			return_response_headers forward_traceparent_to_llm_provider`},
		{Harmless, "responses are not cached", `
			cache cache_params caching caching_with_models enable_caching_on_provider_specific_optional_params enable_redis_auth_cache
			default_redis_ttl default_in_memory_ttl default_redis_batch_cache_expiry force_redis_hash_tag_grouping`},
		{Harmless, "Envoy makes the connections; certificates are always verified", `
			ssl_verify ssl_certificate ssl_security_level ssl_ecdh_curve force_ipv4 http2 aiohttp_trust_env disable_aiohttp_trust_env
			disable_aiohttp_transport use_aiohttp_transport network_mock proxy_url client_session aclient_session proxy_auth
			sse_keepalive_ping_interval_seconds anthropic_sse_ping_interval_seconds`},
		{Harmless, "write it into each deployment", `
			api_key api_base api_version headers organization region_name vertex_project vertex_location use_litellm_proxy use_client
			enable_azure_ad_token_refresh vertex_ai_safety_settings`},
		{Harmless, "retries and cooldown are set in router_settings", `
			num_retries_per_request retry allowed_fails_policy retry_policy`},
		{Harmless, "the gateway never fetches a URL of a request, and api_base comes from the operator", `
			user_url_validation user_url_allowed_hosts provider_url_destination_allowed_hosts`},
		{Harmless, "a provider gets no header of the caller", "model_group_settings"},
		{Harmless, "the gateway passes requests on as they are, but for what the provider needs", `
			modify_params add_function_to_prompt drop_unknown_params disable_add_prefix_to_prompt disable_stop_sequence_limit
			disable_add_transform_inline_image_block use_chat_completions_url_for_anthropic_messages
			anthropic_messages_estimate_initial_input_tokens strip_anthropic_total_tokens bedrock_neutralize_orphaned_tool_blocks
			route_all_chat_openai_to_responses gemini_live_defer_setup disable_anthropic_gemini_context_caching_transform
			enable_anthropic_prompt_caching anthropic_prompt_caching_ttl openai_system_messages_first disable_vertex_batch_output_transformation
			reasoning_auto_summary reasoning_effort_rounding enable_gemini_default_thinking_level_low gemini_include_thoughts_default
			filter_invalid_headers add_user_information_to_llm_headers overwrite_user_with_key_hash bedrock_request_metadata_fields
			disable_copilot_system_to_assistant custom_prompt_dict enable_preview_features max_tokens anthropic_beta_headers_url
			enable_model_config_credential_overrides LITELLM_DISABLE_STOP_SEQUENCE_LIMIT`},
		{Harmless, "the gateway counts tokens itself", "disable_token_counter disable_hf_tokenizer_download"},
		{Harmless, "models and prices are in model_list and in the price map", `
			model_cost_map_url model_alias_map model_fallbacks custom_provider_map blog_posts_url autorouter_presets_url`},
		{Harmless, "the gateway does not have the endpoint that this setting is for; requests to it get 404", `
			mcp_aliases mcp_semantic_tool_filter mcp_tool_search public_mcp_servers public_mcp_hub_strict_whitelist public_model_groups
			public_model_groups_links public_skills_index public_agent_groups agent_search_embedding_model skill_search_embedding_model
			vector_store_registry vector_store_index_registry vector_store_search_failure_mode enable_loadbalancing_on_batch_endpoints
			require_managed_files disable_vertex_batch_output responses ui_theme_config adapters`},
		{Harmless, "prompts are managed over /prompts", `
			global_prompt_directory global_bitbucket_config global_gitlab_config prompt_name_config_map`},
		{Harmless, "LiteLLM itself no longer uses it", "email token safe_memory_mode"},
	}
}
