package litellm

// NobodyUses is the reason for parameters of deployments that have no effect.
const NobodyUses = "no built-in provider and no routing strategy uses it"

// paramsTable is the table of litellm_params.
func paramsTable() []Entry {
	return []Entry{
		{Harmless, NobodyUses, "max_retries"},
		{Protecting, "the deployment would spend without this budget; set max_budget for this model on teams or keys, then remove the setting", "max_budget budget_duration"},
		{Protecting, "the deployment would serve requests without its guardrails; name them in guardrails of model_info instead", "default_guardrails"},
		{Protecting, "requests with other tags would reach the deployment; give it a model_name of its own, and list that in models of the keys that may use it", "tags tag_regex"},
		{Protecting, "the deployment would serve more than these limits; set rpm_limit, tpm_limit or tpd_limit on keys and teams, then remove the setting", `
			rpm_limit tpm_limit tpd rpd itpm otpm daily_reset_time default_api_key_tpm_limit default_api_key_rpm_limit`},
		{Protecting, "this way to sign in at a provider does not exist here; write api_key", `
			litellm_credential_name azure_ad_token_provider azure_username azure_password watsonx_region_name aws_session_tags
			use_xai_oauth chatgpt_auth_file anthropic_federation_rule_id anthropic_organization_id anthropic_service_account_id
			anthropic_federation_workspace_id anthropic_identity_token_file anthropic_identity_token anthropic_identity_source
			anthropic_issuer_url anthropic_issuer_subject anthropic_issuer_audience anthropic_issuer_ttl_seconds
			anthropic_issuer_signing_key_ref anthropic_keycloak_token_url anthropic_keycloak_client_id anthropic_keycloak_auth_method
			anthropic_keycloak_client_secret_ref anthropic_keycloak_scope anthropic_disable_workload_identity_federation
			openai_identity_provider_id openai_service_account_id openai_identity_token_file token_exchange_endpoint token_exchange_profile
			token_exchange_scope token_exchange_audience oci_signer`},
		{Protecting, "requests would be billed at other prices than this one; write it as input_cost_per_token_above_200k_tokens and the like, or remove it", `
			tiered_pricing off_peak_pricing search_context_cost_per_query regional_processing_uplift_multiplier_eu
			regional_processing_uplift_multiplier_us regional_endpoint_uplift_multiplier input_cost output_cost
			cache_creation_input_audio_token_cost search_queries_cost_per_query`},
		{Harmless, "the gateway does not have the endpoint that this price is for; requests to it get 404", `
			annotation_cost_per_page annotation_cost_per_page_batches ocr_cost_per_credit input_cost_per_text_message
			output_cost_per_audio_per_second output_cost_per_second_480p output_cost_per_second_720p output_cost_per_second_768p
			output_cost_per_second_1080p output_cost_per_second_2k output_cost_per_second_4k output_vector_size`},
		{Harmless, "a deployment has no default request parameters; callers send them", `
			temperature top_p n max_tokens max_completion_tokens stop seed stream presence_penalty frequency_penalty logit_bias logprobs
			top_logprobs user response_format tools tool_choice functions function_call parallel_tool_calls reasoning_effort thinking extra_body
			extra_query metadata modalities audio prediction service_tier dimensions encoding_format input_type safety_settings
			safety_identifier verbosity stream_options top_k store web_search_options cache_control_injection_points prompt_cache_key`},
		{Harmless, "Envoy makes the connections; certificates are always verified", `
			ssl_verify keepalive_seconds allow_client_keepalive_override max_file_size_mb`},
		{Harmless, "write headers as extra_headers", "headers default_headers provider_affinity_header"},
		{Harmless, "set it in router_settings, for all deployments", `
			num_retries cooldown_time allowed_fails_policy timeout_by_service_tier stream_timeout_by_service_tier`},
		{Harmless, "no built-in provider uses it", `
			region_name api_type deployment_id api_version_override responses_api_version organization_id
			aws_bedrock_control_plane_endpoint aws_bedrock_project_id bedrock_tags fireworks_forward_user_id
			s3_bucket_name s3_endpoint_url s3_region_name s3_access_key_id s3_secret_access_key s3_encryption_key_id s3_bucket_owner
			s3_output_bucket_name aws_batch_role_arn gcs_bucket_name bucket_name kubernetes_pod_discovery`},
		{Harmless, "the gateway passes requests on as they are, but for what the provider needs", `
			merge_reasoning_content_in_choices thought_signature_in_tool_call_id allowed_openai_params
			additional_drop_params use_litellm_proxy use_in_pass_through mock_response mock_timeout mock_tool_calls`},
		{Harmless, "write api: chat", "use_chat_completions_api"},
		{Harmless, "callers cannot replace the credential or the address of a deployment", "configurable_clientside_auth_params"},
		{Harmless, "a deployment is one model of one provider; models that choose among others do not exist here", `
			auto_router_config_path auto_router_config auto_router_default_model auto_router_embedding_model auto_router_max_input_chars
			auto_router_routing_compression auto_router_model_compression complexity_router_config complexity_router_default_model
			adaptive_router_default_model adaptive_router_config quality_router_config quality_router_default_model`},
		{Harmless, "the gateway does not have the endpoint that this setting is for; requests to it get 404", `
			vector_store_id vector_bucket_name index_name embedding_model milvus_text_field milvus_db_name milvus_partition_names valkey_host
			valkey_port valkey_password valkey_ssl valkey_text_field valkey_embedding_field prompt_id prompt_variables`},
		{Harmless, "the gateway calls no callbacks and caches no responses", `
			litellm_trace_id no-log litellm_logging_obj caching_groups cache caching`},
		{Harmless, "write model_info next to litellm_params", "model_info"},
	}
}
