package config

import "slices"

// Reasons in the table of general_settings.
const (
	noNetworkGuard  = "every address could send requests; filter addresses in front of the gateway, then remove the setting"
	noRouteGuard    = "keys could use routes that this list forbids; set allowed_routes on each key, then remove the setting"
	noCustomCode    = "the gateway does not run this code, so what it denies would be allowed; express the rule with keys, teams and roles, then remove the setting"
	noRoleRules     = "these rules for roles would not hold; the built-in roles are proxy_admin, proxy_admin_viewer, internal_user and internal_user_viewer"
	noKeyRules      = "callers could make keys that this setting forbids; give them keys without rights to /key/generate, then remove the setting"
	noTagGuard      = "callers could still send tags of their own; remove the setting if they may"
	noSessionGuard  = "requests without a session id would be served; remove the setting if they may"
	noFallbackGuard = "the gateway does not check whether a key may use a fallback model; list only fallbacks that every key of the model may use, then remove the setting"
	noSecretManager = "secrets that this setting fetches would be missing; pass them as environment variables, or set encryption_key to a key in a KMS"
	noParallelLimit = "the gateway has no workers, and queues no requests; set global_max_parallel_requests to the number of requests of one instance, then remove the setting"
	wrongSection    = "it belongs in litellm_settings, where the gateway applies it; move it there"
	noUserBudget    = "requests with keys of a team would not count against the budget of the user; set max_budget_in_team on its members, then remove the setting"
	noRateKind      = "token limits would count input and output together, which may be looser or stricter; remove the setting if they may"
	alwaysReserved  = "every request reserves its estimated cost before a provider is called, and rate limits hold without Redis"
	ownWindows      = "budget windows reset by themselves, at the minute they end"
	ownerBudget     = "only callers with rights above a key change its budget"
	ownState        = "the gateway keeps its state itself, in data_dir; no database is needed"
	ownNodes        = "nodes find each other by the section cluster"
	ownRecords      = "usage is always recorded, and prompts are never stored"
	ownAlerts       = "where events are delivered to is set by POST /config/update, for all nodes at once"
	ownTraces       = "the gateway has its own log and metrics"
	ownHealth       = "deployments are in cooldown after failures; they are not probed"
	keysOnly        = "callers authenticate by keys only; other credentials are denied"
	keyHeaders      = "the key is read from Authorization, x-api-key, api-key, x-goog-api-key or x-gateway-api-key"
	ownCredentials  = "a provider gets only the credential of its deployment, and no header of the caller"
	noPublicRoutes  = "every route but health needs a key"
	strongMasterKey = "the gateway never starts with a weak master key, and never returns it"
	endUserFields   = "the end user is read from user, metadata.user_id, safety_identifier or x-gateway-customer-id"
	noInterface     = "the gateway has no web interface and no passwords"
	noEndpoint      = "the gateway does not have the endpoint that this setting is for; requests to it get 404"
	noTools         = "the gateway serves no MCP tools"
	callerNames     = "callers name the model in each request; write aliases as router_settings.model_group_alias"
	noURLs          = "the gateway never fetches a URL of a request, and api_base comes from the operator"
	cancels         = "a request whose caller has gone is cancelled at the provider"
	deprecated      = "LiteLLM itself no longer uses it"
	onlyMessages    = "it changes only the text of an error"
)

// generalTable is the table of general_settings.
func generalTable() []row {
	return slices.Concat(
		generalHonoured(),
		generalAccess(),
		generalLimits(),
		generalState(),
		generalRecords(),
		generalHealth(),
		generalSignIn(),
		generalInterface(),
		generalAbsent(),
		generalNames(),
	)
}

// generalHonoured lists what the gateway does as LiteLLM does.
func generalHonoured() []row {
	return []row{
		{"master_key", honoured, ""},
		{"max_request_size_mb", honoured, ""},
		{"max_response_size_mb", honoured, ""},
		{"enforced_params", honoured, ""},
		{"enforce_user_param", honoured, ""},
		{"max_parallel_requests", honoured, ""},
		{"global_max_parallel_requests", honoured, ""},
		{"service_account_settings", honoured, ""},
	}
}

// generalAccess lists what decides who may do what.
func generalAccess() []row {
	return []row{
		{"allowed_ips", protecting, noNetworkGuard},
		{"trusted_proxy_ranges", protecting, noNetworkGuard},
		{"allowed_routes", protecting, noRouteGuard},
		{"admin_only_routes", protecting, noRouteGuard},
		{"custom_auth", protecting, noCustomCode},
		{"custom_auth_settings", protecting, noCustomCode},
		{"custom_auth_run_common_checks", protecting, noCustomCode},
		{"custom_key_generate", protecting, noCustomCode},
		{"custom_key_update", protecting, noCustomCode},
		{"custom_key_policy", protecting, noCustomCode},
		{"custom_team_metadata_validate", protecting, noCustomCode},
		{"role_permissions", protecting, noRoleRules},
		{"enforce_rbac", protecting, noRoleRules},
		{"default_team_disabled", protecting, noKeyRules},
		{"disable_custom_api_keys", protecting, noKeyRules},
		{"disable_key_generate_for_org_admin", protecting, noKeyRules},
		{"team_metadata_schema", protecting, noKeyRules},
		{"reject_clientside_metadata_tags", protecting, noTagGuard},
		{"missing_session_id", protecting, noSessionGuard},
		{"enforce_fallback_model_access", protecting, noFallbackGuard},
		{"key_management_system", protecting, noSecretManager},
		{"key_management_settings", protecting, noSecretManager},
		{"use_azure_key_vault", protecting, noSecretManager},
		{"use_google_kms", protecting, noSecretManager},
	}
}

// generalLimits lists what bounds spend, rates and load.
func generalLimits() []row {
	return []row{
		{"max_in_flight_requests_per_worker", protecting, noParallelLimit},
		{"max_queued_requests_per_worker", protecting, noParallelLimit},
		{"default_internal_user_params", protecting, wrongSection},
		{"default_team_params", protecting, wrongSection},
		{"apply_user_budget_to_team_keys", protecting, noUserBudget},
		{"token_rate_limit_type", protecting, noRateKind},
		{"disable_budget_reservation", harmless, alwaysReserved},
		{"fail_closed_budget_enforcement", harmless, alwaysReserved},
		{"fail_closed_rate_limit_enforcement", harmless, alwaysReserved},
		{"admission_queue_timeout_seconds", harmless, alwaysReserved},
		{"disable_retry_on_max_parallel_request_limit_error", harmless, alwaysReserved},
		{"disable_fallbacks_on_per_model_rate_limits", harmless, alwaysReserved},
		{"disable_reset_budget", harmless, ownWindows},
		{"proxy_budget_rescheduler_min_time", harmless, ownWindows},
		{"proxy_budget_rescheduler_max_time", harmless, ownWindows},
		{"budget_reset_time", harmless, ownWindows},
		{"self_serve_budget_policy", harmless, ownerBudget},
	}
}

// generalState lists what is about databases, Redis and processes.
func generalState() []row {
	return []row{
		{"database_url", harmless, ownState},
		{"database_connection_pool_limit", harmless, ownState},
		{"database_connection_pool_timeout", harmless, ownState},
		{"database_connection_timeout", harmless, ownState},
		{"database_connect_timeout", harmless, ownState},
		{"database_extra_connection_params", harmless, ownState},
		{"database_type", harmless, ownState},
		{"database_args", harmless, ownState},
		{"database_socket_timeout", harmless, ownState},
		{"database_max_idle_connection_lifetime", harmless, ownState},
		{"database_disable_prepared_statements", harmless, ownState},
		{"store_model_in_db", harmless, ownState},
		{"use_prisma_migrate", harmless, ownState},
		{"allow_requests_on_db_unavailable", harmless, ownState},
		{"disable_prisma_schema_update", harmless, ownState},
		{"proxy_batch_write_at", harmless, ownState},
		{"use_redis_transaction_buffer", harmless, ownState},
		{"supported_db_objects", harmless, ownState},
		{"user_api_key_cache_ttl", harmless, ownState},
		{"user_api_key_cache_max_size", harmless, ownState},
		{"scheduled_job_stagger", harmless, ownState},
		{"coordination_redis", harmless, ownState},
		{"proxy_config_reload_interval_seconds", harmless, ownState},
		{"disable_model_info_refresh", harmless, ownState},
		{"control_plane_url", harmless, ownNodes},
		{"coordination", harmless, ownNodes},
		{"custom_run_cmd", harmless, ownNodes},
		{"enable_drain_endpoint", harmless, ownNodes},
		{"drain_endpoint_token", harmless, ownNodes},
	}
}

// generalRecords lists what is about logs, spend records and alerts.
func generalRecords() []row {
	return []row{
		{"disable_spend_logs", harmless, ownRecords},
		{"disable_spend_updates", harmless, ownRecords},
		{"disable_error_logs", harmless, ownRecords},
		{"disable_adding_master_key_hash_to_db", harmless, ownRecords},
		{"store_prompts_in_spend_logs", harmless, ownRecords},
		{"maximum_spend_logs_retention_period", harmless, ownRecords},
		{"maximum_spend_logs_retention_interval", harmless, ownRecords},
		{"maximum_spend_logs_size", harmless, ownRecords},
		{"maximum_spend_logs_cleanup_target_size", harmless, ownRecords},
		{"maximum_spend_logs_size_check_interval", harmless, ownRecords},
		{"maximum_spend_logs_cleanup_batch_size", harmless, ownRecords},
		{"maximum_spend_logs_cleanup_max_batches", harmless, ownRecords},
		{"maximum_spend_logs_cleanup_run_budget", harmless, ownRecords},
		{"maximum_spend_logs_cleanup_batch_timeout", harmless, ownRecords},
		{"maximum_spend_logs_cleanup_cron", harmless, ownRecords},
		{"use_spend_logs_partitioning", harmless, ownRecords},
		{"maximum_autorouter_session_retention_period", harmless, ownRecords},
		{"maximum_health_check_retention_period", harmless, ownRecords},
		{"maximum_daily_tag_spend_retention_period", harmless, ownRecords},
		{"spend_report_frequency", harmless, ownRecords},
		{"store_audit_logs", harmless, ownRecords},
		{"disable_requester_ip_address_logging", harmless, ownRecords},
		{"spend_logs_metadata_fields", harmless, ownRecords},
		{"spend_capture_rate_check", harmless, ownRecords},
		{"accounting_capture", harmless, ownRecords},
		{"accounting_sync_ack", harmless, ownRecords},
		{"accounting_sync_ack_timeout_seconds", harmless, ownRecords},
		{"accounting_sync_ack_failure_policy", harmless, ownRecords},
		{"track_unmanaged_batch_cost", harmless, ownRecords},
		{"request_tag_mappings", harmless, ownRecords},
		{"always_include_stream_usage", harmless, ownRecords},
		{"alerting", harmless, ownAlerts},
		{"alerting_args", harmless, ownAlerts},
		{"alerting_threshold", harmless, ownAlerts},
		{"alert_types", harmless, ownAlerts},
		{"alert_to_webhook_url", harmless, ownAlerts},
		{"alert_type_config", harmless, ownAlerts},
		{"email_settings", harmless, ownAlerts},
		{"otel", harmless, ownTraces},
		{"tracing", harmless, ownTraces},
		{"include_call_id_in_error_body", harmless, ownTraces},
		{"expose_fallback_errors_to_caller", harmless, ownTraces},
	}
}

// generalHealth lists what is about health checks.
func generalHealth() []row {
	return []row{
		{"background_health_checks", harmless, ownHealth},
		{"health_check_interval", harmless, ownHealth},
		{"health_check_details", harmless, ownHealth},
		{"health_check_concurrency", harmless, ownHealth},
		{"health_check_staleness_threshold", harmless, ownHealth},
		{"health_check_ignore_transient_errors", harmless, ownHealth},
		{"enable_health_check_routing", harmless, ownHealth},
		{"use_shared_health_check", harmless, ownHealth},
		{"health_check_skip_disabled_background_models", harmless, ownHealth},
		{"background_health_check_model_groups", harmless, ownHealth},
		{"model_list_healthy_only", harmless, ownHealth},
		{"allow_public_health_readiness_details", harmless, ownHealth},
	}
}

// generalSignIn lists ways to authenticate that do not exist here. Without them requests are denied, so nothing is opened.
func generalSignIn() []row {
	return []row{
		{"enable_jwt_auth", harmless, keysOnly},
		{"litellm_jwtauth", harmless, keysOnly},
		{"enable_oauth2_auth", harmless, keysOnly},
		{"enable_oauth2_proxy_auth", harmless, keysOnly},
		{"oauth2_config_mappings", harmless, keysOnly},
		{"allow_user_auth", harmless, keysOnly},
		{"custom_sso", harmless, keysOnly},
		{"custom_ui_sso_sign_in_handler", harmless, keysOnly},
		{"allow_cli_sso_verification_uri_complete", harmless, keysOnly},
		{"enable_claude_code_gateway", harmless, keysOnly},
		{"claude_code_gateway_managed_settings", harmless, keysOnly},
		{"litellm_key_header_name", harmless, keyHeaders},
		{"use_x_forwarded_for", harmless, keyHeaders},
		{"allow_client_side_credentials", harmless, ownCredentials},
		{"forward_client_headers_to_llm_api", harmless, ownCredentials},
		{"forward_llm_provider_auth_headers", harmless, ownCredentials},
		{"forward_openai_org_id", harmless, ownCredentials},
		{"use_client_credentials_pass_through_routes", harmless, ownCredentials},
		{"public_routes", harmless, noPublicRoutes},
		{"enable_public_model_hub", harmless, noPublicRoutes},
		{"claude_code_marketplace_auth_required", harmless, noPublicRoutes},
		{"dangerously_permit_weak_or_unset_master_key", harmless, strongMasterKey},
		{"disable_master_key_return", harmless, strongMasterKey},
		{"user_header_name", harmless, endUserFields},
		{"user_header_mappings", harmless, endUserFields},
	}
}

// generalInterface lists what is about the web interface.
func generalInterface() []row {
	return []row{
		{"ui_access_mode", harmless, noInterface},
		{"ui_theme_config", harmless, noInterface},
		{"auto_redirect_ui_login_to_sso", harmless, noInterface},
		{"disable_env_credential_login", harmless, noInterface},
		{"hide_default_credentials_hint", harmless, noInterface},
		{"disable_password_login_when_sso_enabled", harmless, noInterface},
		{"max_failed_login_attempts_per_source", harmless, noInterface},
		{"max_failed_login_attempts_per_source_overrides", harmless, noInterface},
		{"failed_login_window_seconds", harmless, noInterface},
		{"failed_login_block_seconds", harmless, noInterface},
		{"password_policy_min_length", harmless, noInterface},
		{"password_policy_require_uppercase", harmless, noInterface},
		{"password_policy_require_lowercase", harmless, noInterface},
		{"password_policy_require_numbers", harmless, noInterface},
		{"password_policy_require_special_characters", harmless, noInterface},
		{"password_policy_check_breached_passwords", harmless, noInterface},
		{"plugins", harmless, noInterface},
		{"proxy_base_url", harmless, noInterface},
		{"environment", harmless, noInterface},
		{"litellm_license", harmless, noInterface},
		{"disable_auto_add_proxy_admin_to_teams", harmless, noInterface},
	}
}

// generalAbsent lists what belongs to endpoints that do not exist here. Requests to them get 404.
func generalAbsent() []row {
	return []row{
		{"pass_through_endpoints", harmless, noEndpoint},
		{"pass_through_request_timeout", harmless, noEndpoint},
		{"vertex_ai_pass_through_drop_anthropic_betas", harmless, noEndpoint},
		{"disable_bedrock_agent_runtime_passthrough", harmless, noEndpoint},
		{"enable_openai_websocket_passthrough", harmless, noEndpoint},
		{"responses_websocket_session_limit_seconds", harmless, noEndpoint},
		{"disable_responses_id_security", harmless, noEndpoint},
		{"allow_unmanaged_response_ids", harmless, noEndpoint},
		{"passthrough_managed_object_ids", harmless, noEndpoint},
		{"image_generation_model", harmless, noEndpoint},
		{"embedding_model", harmless, noEndpoint},
		{"moderation_model", harmless, noEndpoint},
		{"max_batch_file_size_mb", harmless, noEndpoint},
		{"max_batch_file_records", harmless, noEndpoint},
		{"max_batch_file_uploads_per_day", harmless, noEndpoint},
		{"max_file_downloads_per_minute", harmless, noEndpoint},
		{"max_file_size_mb", harmless, noEndpoint},
		{"allowed_file_extensions", harmless, noEndpoint},
		{"blocked_file_extensions", harmless, noEndpoint},
		{"proxy_batch_polling_interval", harmless, noEndpoint},
		{"disable_batch_input_file_rate_limiting", harmless, noEndpoint},
		{"skip_batch_input_file_rate_limiting_for_models", harmless, noEndpoint},
		{"skip_batch_input_file_rate_limiting_for_providers", harmless, noEndpoint},
		{"transcribe_media_buckets", harmless, noEndpoint},
		{"vector_store_deny_by_default", harmless, noEndpoint},
		{"search_tool_deny_by_default", harmless, noEndpoint},
		{"search_tools", harmless, noEndpoint},
		{"agent_access_default_deny", harmless, noEndpoint},
		{"user_mcp_management_mode", harmless, noTools},
		{"enable_mcp_registry", harmless, noTools},
		{"mcp_internal_ip_ranges", harmless, noTools},
		{"mcp_advertised_versions", harmless, noTools},
		{"mcp_disabled_capabilities", harmless, noTools},
		{"mcp_allowed_clients", harmless, noTools},
		{"mcp_require_explicit_server_scope", harmless, noTools},
		{"mcp_client_id_header", harmless, noTools},
		{"mcp_trusted_proxy_ranges", harmless, noTools},
		{"mcp_xff_num_trusted_hops", harmless, noTools},
		{"mcp_required_fields", harmless, noTools},
		{"mcp_prefer_client_id_metadata_document", harmless, noTools},
		{"mcp_allow_all_keys_respects_mcp_scope", harmless, noTools},
		{"mcp_client_side_auth_header_name", harmless, noTools},
		{"mcp_session_token_signing", harmless, noTools},
		{"require_end_user_mcp_access_defined", harmless, noTools},
		{"require_key_mcp_access_defined", harmless, noTools},
	}
}

// generalNames lists what changes requests, or names models.
func generalNames() []row {
	return []row{
		{"completion_model", harmless, callerNames},
		{"infer_model_from_keys", harmless, callerNames},
		{"alias", harmless, callerNames},
		{"llm_api_name", harmless, callerNames},
		{"use_team_public_model_name", harmless, callerNames},
		{"supported_access_groups", harmless, callerNames},
		{"return_wildcard_routes", harmless, callerNames},
		{"user_url_validation", harmless, noURLs},
		{"user_url_allowed_hosts", harmless, noURLs},
		{"provider_url_destination_allowed_hosts", harmless, noURLs},
		{"cancel_on_disconnect", harmless, cancels},
		{"disable_copilot_system_to_assistant", harmless, deprecated},
		{"team_metadata_validation_error_message", harmless, onlyMessages},
		{"team_metadata_validation_timeout", harmless, onlyMessages},
	}
}
