package litellm

// generalGuards are the settings of general_settings that protect.
func generalGuards() []Entry {
	return []Entry{
		{Protecting, "every address could send requests; filter addresses in front of the gateway, then remove the setting", "allowed_ips trusted_proxy_ranges"},
		{Protecting, "keys could use routes that this list forbids; set allowed_routes on each key, then remove the setting", "allowed_routes admin_only_routes"},
		{Protecting, "the gateway does not run this code, so what it denies would be allowed; express the rule with keys, teams and roles, then remove the setting", `
			custom_auth custom_auth_settings custom_auth_run_common_checks custom_key_generate custom_key_update custom_key_policy
			custom_team_metadata_validate`},
		{Protecting, "these rules for roles would not hold; the built-in roles are proxy_admin, proxy_admin_viewer, internal_user and internal_user_viewer", "role_permissions enforce_rbac"},
		{Protecting, "callers could make keys that this setting forbids; give them keys without rights to /key/generate, then remove the setting", `
			default_team_disabled disable_custom_api_keys disable_key_generate_for_org_admin team_metadata_schema`},
		{Protecting, "callers could still send tags of their own; remove the setting if they may", "reject_clientside_metadata_tags"},
		{Protecting, "requests without a session id would be served; remove the setting if they may", "missing_session_id"},
		{Protecting, "the gateway does not check whether a key may use a fallback model; list only fallbacks that every key of the model may use, then remove the setting", "enforce_fallback_model_access"},
		{Protecting, "secrets that this setting fetches would be missing; pass them as environment variables, or set encryption_key to a key in a KMS", `
			key_management_system key_management_settings use_azure_key_vault use_google_kms`},
		{Protecting, "the gateway has no workers, and queues no requests; set global_max_parallel_requests to the number of requests of one instance, then remove the setting", `
			max_in_flight_requests_per_worker max_queued_requests_per_worker`},
		{Protecting, "it belongs in litellm_settings, where the gateway applies it; move it there", "default_internal_user_params default_team_params"},
		{Protecting, "requests with keys of a team would not count against the budget of the user; set max_budget_in_team on its members, then remove the setting", "apply_user_budget_to_team_keys"},
		{Protecting, "token limits would count input and output together, which may be looser or stricter; remove the setting if they may", "token_rate_limit_type"},
	}
}

// generalRest are the settings of general_settings that do not protect.
func generalRest() []Entry {
	return []Entry{
		{Harmless, "every request reserves its estimated cost before a provider is called, and rate limits hold without Redis", `
			disable_budget_reservation fail_closed_budget_enforcement fail_closed_rate_limit_enforcement admission_queue_timeout_seconds
			disable_retry_on_max_parallel_request_limit_error disable_fallbacks_on_per_model_rate_limits`},
		{Harmless, "budget windows reset by themselves, at the minute they end", `
			disable_reset_budget proxy_budget_rescheduler_min_time proxy_budget_rescheduler_max_time budget_reset_time`},
		{Harmless, "only callers with rights above a key change its budget", "self_serve_budget_policy"},
		{Harmless, "the gateway keeps its state itself, in data_dir; no database is needed", `
			database_url database_connection_pool_limit database_connection_pool_timeout database_connection_timeout database_connect_timeout
			database_extra_connection_params database_type database_args database_socket_timeout database_max_idle_connection_lifetime
			database_disable_prepared_statements store_model_in_db use_prisma_migrate allow_requests_on_db_unavailable
			disable_prisma_schema_update proxy_batch_write_at use_redis_transaction_buffer supported_db_objects user_api_key_cache_ttl
			user_api_key_cache_max_size scheduled_job_stagger coordination_redis proxy_config_reload_interval_seconds disable_model_info_refresh`},
		{Harmless, "nodes find each other by the section cluster", `
			control_plane_url coordination custom_run_cmd enable_drain_endpoint drain_endpoint_token`},
		{Harmless, "usage is always recorded, and prompts are never stored", `
			disable_spend_logs disable_spend_updates disable_error_logs disable_adding_master_key_hash_to_db store_prompts_in_spend_logs
			maximum_spend_logs_retention_period maximum_spend_logs_retention_interval maximum_spend_logs_size
			maximum_spend_logs_cleanup_target_size maximum_spend_logs_size_check_interval maximum_spend_logs_cleanup_batch_size
			maximum_spend_logs_cleanup_max_batches maximum_spend_logs_cleanup_run_budget maximum_spend_logs_cleanup_batch_timeout
			maximum_spend_logs_cleanup_cron use_spend_logs_partitioning maximum_autorouter_session_retention_period
			maximum_health_check_retention_period maximum_daily_tag_spend_retention_period spend_report_frequency store_audit_logs
			disable_requester_ip_address_logging spend_logs_metadata_fields spend_capture_rate_check accounting_capture accounting_sync_ack
			accounting_sync_ack_timeout_seconds accounting_sync_ack_failure_policy track_unmanaged_batch_cost request_tag_mappings
			always_include_stream_usage`},
		{Harmless, "where events are delivered to is set by POST /config/update, for all nodes at once", `
			alerting alerting_args alerting_threshold alert_types alert_to_webhook_url alert_type_config email_settings`},
		{Harmless, "the gateway has its own log and metrics", `
			otel tracing include_call_id_in_error_body expose_fallback_errors_to_caller`},
		{Harmless, "deployments are in cooldown after failures; they are not probed", `
			background_health_checks health_check_interval health_check_details health_check_concurrency health_check_staleness_threshold
			health_check_ignore_transient_errors enable_health_check_routing use_shared_health_check
			health_check_skip_disabled_background_models background_health_check_model_groups model_list_healthy_only
			allow_public_health_readiness_details`},
		{Harmless, "callers authenticate by keys only; other credentials are denied", `
			enable_jwt_auth litellm_jwtauth enable_oauth2_auth enable_oauth2_proxy_auth oauth2_config_mappings allow_user_auth custom_sso
			custom_ui_sso_sign_in_handler allow_cli_sso_verification_uri_complete enable_claude_code_gateway
			claude_code_gateway_managed_settings`},
		{Harmless, "the key is read from Authorization, x-api-key, api-key, x-goog-api-key or x-gateway-api-key", "litellm_key_header_name use_x_forwarded_for"},
		{Harmless, "a provider gets only the credential of its deployment, and no header of the caller", `
			allow_client_side_credentials forward_client_headers_to_llm_api forward_llm_provider_auth_headers forward_openai_org_id
			use_client_credentials_pass_through_routes`},
		{Harmless, "every route but health needs a key", `
			public_routes enable_public_model_hub claude_code_marketplace_auth_required`},
		{Harmless, "the gateway never starts with a weak master key, and never returns it", `
			dangerously_permit_weak_or_unset_master_key disable_master_key_return`},
		{Harmless, "the end user is read from user, metadata.user_id, safety_identifier or x-gateway-customer-id", "user_header_name user_header_mappings"},
		{Harmless, "the gateway has no web interface and no passwords", `
			ui_access_mode ui_theme_config auto_redirect_ui_login_to_sso disable_env_credential_login hide_default_credentials_hint
			disable_password_login_when_sso_enabled max_failed_login_attempts_per_source max_failed_login_attempts_per_source_overrides
			failed_login_window_seconds failed_login_block_seconds password_policy_min_length password_policy_require_uppercase
			password_policy_require_lowercase password_policy_require_numbers password_policy_require_special_characters
			password_policy_check_breached_passwords plugins proxy_base_url environment litellm_license disable_auto_add_proxy_admin_to_teams`},
		{Harmless, "the gateway does not have the endpoint that this setting is for; requests to it get 404", `
			pass_through_endpoints pass_through_request_timeout vertex_ai_pass_through_drop_anthropic_betas
			disable_bedrock_agent_runtime_passthrough enable_openai_websocket_passthrough responses_websocket_session_limit_seconds
			disable_responses_id_security allow_unmanaged_response_ids passthrough_managed_object_ids image_generation_model embedding_model
			moderation_model max_batch_file_size_mb max_batch_file_records max_batch_file_uploads_per_day max_file_downloads_per_minute
			max_file_size_mb allowed_file_extensions blocked_file_extensions proxy_batch_polling_interval disable_batch_input_file_rate_limiting
			skip_batch_input_file_rate_limiting_for_models skip_batch_input_file_rate_limiting_for_providers transcribe_media_buckets
			vector_store_deny_by_default search_tool_deny_by_default search_tools agent_access_default_deny`},
		{Harmless, "the gateway serves no MCP tools", `
			user_mcp_management_mode enable_mcp_registry mcp_internal_ip_ranges mcp_advertised_versions mcp_disabled_capabilities
			mcp_allowed_clients mcp_require_explicit_server_scope mcp_client_id_header mcp_trusted_proxy_ranges mcp_xff_num_trusted_hops
			mcp_required_fields mcp_prefer_client_id_metadata_document mcp_allow_all_keys_respects_mcp_scope mcp_client_side_auth_header_name
			mcp_session_token_signing require_end_user_mcp_access_defined require_key_mcp_access_defined`},
		{Harmless, "callers name the model in each request; write aliases as router_settings.model_group_alias", `
			completion_model infer_model_from_keys alias llm_api_name use_team_public_model_name supported_access_groups return_wildcard_routes`},
		{Harmless, "the gateway never fetches a URL of a request, and api_base comes from the operator", `
			user_url_validation user_url_allowed_hosts provider_url_destination_allowed_hosts`},
		{Harmless, "a request whose caller has gone is cancelled at the provider", "cancel_on_disconnect"},
		{Harmless, "LiteLLM itself no longer uses it", "disable_copilot_system_to_assistant"},
		{Harmless, "it changes only the text of an error", `
			team_metadata_validation_error_message team_metadata_validation_timeout`},
	}
}
