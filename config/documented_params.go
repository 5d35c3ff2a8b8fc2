package config

import "slices"

// Reasons in the table of litellm_params.
const (
	nobodyUses          = "no built-in provider and no routing strategy uses it"
	noDeploymentBudget  = "the deployment would spend without this budget; set max_budget for this model on teams or keys, then remove the setting"
	noDeploymentGuard   = "the deployment would answer without its guardrails; run them in front of the gateway, then remove the setting"
	noDeploymentTags    = "requests with other tags would reach the deployment; give it a model_name of its own, and list that in models of the keys that may use it"
	noDeploymentRates   = "the deployment would serve more than these limits; set rpm_limit, tpm_limit or tpd_limit on keys and teams, then remove the setting"
	noSignIn            = "this way to sign in at a provider does not exist here; write api_key"
	noPriceForm         = "requests would be billed at other prices than this one; write it as input_cost_per_token_above_200k_tokens and the like, or remove it"
	noPricedEndpoint    = "the gateway does not have the endpoint that this price is for; requests to it get 404"
	noRequestDefaults   = "a deployment has no default request parameters; callers send them"
	envoyVerifies       = "Envoy makes the connections; certificates are always verified"
	headersElsewhere    = "write headers as extra_headers"
	routerSets          = "set it in router_settings, for all deployments"
	otherProviders      = "no built-in provider uses it"
	requestsAsTheyAre   = "the gateway passes requests on as they are, but for what the provider needs"
	noCallerCredentials = "callers cannot replace the credential or the address of a deployment"
	noRouterModels      = "a deployment is one model of one provider; models that choose among others do not exist here"
	paramsNoEndpoint    = "the gateway does not have the endpoint that this setting is for; requests to it get 404"
	paramsNoCallbacks   = "the gateway calls no callbacks and caches no answers"
	besideParams        = "write model_info next to litellm_params"
)

// paramsTable is the table of litellm_params.
func paramsTable() []row {
	return slices.Concat(
		paramsHonoured(),
		paramsGuards(),
		paramsSignIn(),
		paramsPrices(),
		paramsDefaults(),
		paramsRest(),
		paramsAbsent(),
	)
}

// paramsHonoured lists what the gateway does as LiteLLM does. Prices are honoured too: see unit.go of the catalogue.
func paramsHonoured() []row {
	return []row{
		{"model", honoured, ""},
		{"custom_llm_provider", honoured, ""},
		{"api_base", honoured, ""},
		{"api_key", honoured, ""},
		{"organization", honoured, ""},
		{"timeout", honoured, ""},
		{"stream_timeout", honoured, ""},
		{"rpm", honoured, ""},
		{"tpm", honoured, ""},
		{"max_parallel_requests", honoured, ""},
		{"weight", honoured, ""},
		{"order", honoured, ""},
		{"extra_headers", honoured, ""},
		{"drop_params", honoured, ""},
		{"base_model", honoured, ""},
		{"api_version", harmless, nobodyUses},
		{"max_retries", harmless, nobodyUses},
	}
}

// paramsGuards lists what protects, or restricts who is served.
func paramsGuards() []row {
	return []row{
		{"max_budget", protecting, noDeploymentBudget},
		{"budget_duration", protecting, noDeploymentBudget},
		{"guardrails", protecting, noDeploymentGuard},
		{"default_guardrails", protecting, noDeploymentGuard},
		{"tags", protecting, noDeploymentTags},
		{"tag_regex", protecting, noDeploymentTags},
		{"rpm_limit", protecting, noDeploymentRates},
		{"tpm_limit", protecting, noDeploymentRates},
		{"tpd", protecting, noDeploymentRates},
		{"rpd", protecting, noDeploymentRates},
		{"itpm", protecting, noDeploymentRates},
		{"otpm", protecting, noDeploymentRates},
		{"daily_reset_time", protecting, noDeploymentRates},
		{"default_api_key_tpm_limit", protecting, noDeploymentRates},
		{"default_api_key_rpm_limit", protecting, noDeploymentRates},
	}
}

// paramsSignIn lists ways to sign in at a provider that do not exist here.
func paramsSignIn() []row {
	return []row{
		{"litellm_credential_name", protecting, noSignIn},
		{"azure_ad_token", protecting, noSignIn},
		{"azure_ad_token_provider", protecting, noSignIn},
		{"tenant_id", protecting, noSignIn},
		{"client_id", protecting, noSignIn},
		{"client_secret", protecting, noSignIn},
		{"azure_username", protecting, noSignIn},
		{"azure_password", protecting, noSignIn},
		{"azure_scope", protecting, noSignIn},
		{"vertex_credentials", protecting, noSignIn},
		{"watsonx_region_name", protecting, noSignIn},
		{"aws_profile_name", protecting, noSignIn},
		{"aws_role_name", protecting, noSignIn},
		{"aws_session_name", protecting, noSignIn},
		{"aws_web_identity_token", protecting, noSignIn},
		{"aws_sts_endpoint", protecting, noSignIn},
		{"aws_external_id", protecting, noSignIn},
		{"aws_session_tags", protecting, noSignIn},
		{"aws_access_key_id", protecting, noSignIn},
		{"aws_secret_access_key", protecting, noSignIn},
		{"aws_session_token", protecting, noSignIn},
		{"aws_region_name", protecting, noSignIn},
		{"use_xai_oauth", protecting, noSignIn},
		{"chatgpt_auth_file", protecting, noSignIn},
		{"anthropic_federation_rule_id", protecting, noSignIn},
		{"anthropic_organization_id", protecting, noSignIn},
		{"anthropic_service_account_id", protecting, noSignIn},
		{"anthropic_federation_workspace_id", protecting, noSignIn},
		{"anthropic_identity_token_file", protecting, noSignIn},
		{"anthropic_identity_token", protecting, noSignIn},
		{"anthropic_identity_source", protecting, noSignIn},
		{"anthropic_issuer_url", protecting, noSignIn},
		{"anthropic_issuer_subject", protecting, noSignIn},
		{"anthropic_issuer_audience", protecting, noSignIn},
		{"anthropic_issuer_ttl_seconds", protecting, noSignIn},
		{"anthropic_issuer_signing_key_ref", protecting, noSignIn},
		{"anthropic_keycloak_token_url", protecting, noSignIn},
		{"anthropic_keycloak_client_id", protecting, noSignIn},
		{"anthropic_keycloak_auth_method", protecting, noSignIn},
		{"anthropic_keycloak_client_secret_ref", protecting, noSignIn},
		{"anthropic_keycloak_scope", protecting, noSignIn},
		{"anthropic_disable_workload_identity_federation", protecting, noSignIn},
		{"openai_identity_provider_id", protecting, noSignIn},
		{"openai_service_account_id", protecting, noSignIn},
		{"openai_identity_token_file", protecting, noSignIn},
		{"token_exchange_endpoint", protecting, noSignIn},
		{"token_exchange_profile", protecting, noSignIn},
		{"token_exchange_scope", protecting, noSignIn},
		{"token_exchange_audience", protecting, noSignIn},
		{"oci_signer", protecting, noSignIn},
	}
}

// paramsPrices lists prices in forms that do not exist here.
func paramsPrices() []row {
	return []row{
		{"tiered_pricing", protecting, noPriceForm},
		{"off_peak_pricing", protecting, noPriceForm},
		{"search_context_cost_per_query", protecting, noPriceForm},
		{"regional_processing_uplift_multiplier_eu", protecting, noPriceForm},
		{"regional_processing_uplift_multiplier_us", protecting, noPriceForm},
		{"regional_endpoint_uplift_multiplier", protecting, noPriceForm},
		{"input_cost", protecting, noPriceForm},
		{"output_cost", protecting, noPriceForm},
		{"cache_creation_input_audio_token_cost", protecting, noPriceForm},
		{"search_queries_cost_per_query", protecting, noPriceForm},
		{"annotation_cost_per_page", harmless, noPricedEndpoint},
		{"annotation_cost_per_page_batches", harmless, noPricedEndpoint},
		{"ocr_cost_per_credit", harmless, noPricedEndpoint},
		{"input_cost_per_text_message", harmless, noPricedEndpoint},
		{"output_cost_per_audio_per_second", harmless, noPricedEndpoint},
		{"output_cost_per_second_480p", harmless, noPricedEndpoint},
		{"output_cost_per_second_720p", harmless, noPricedEndpoint},
		{"output_cost_per_second_768p", harmless, noPricedEndpoint},
		{"output_cost_per_second_1080p", harmless, noPricedEndpoint},
		{"output_cost_per_second_2k", harmless, noPricedEndpoint},
		{"output_cost_per_second_4k", harmless, noPricedEndpoint},
		{"output_vector_size", harmless, noPricedEndpoint},
	}
}

// paramsDefaults lists default parameters of requests.
func paramsDefaults() []row {
	return []row{
		{"temperature", harmless, noRequestDefaults},
		{"top_p", harmless, noRequestDefaults},
		{"n", harmless, noRequestDefaults},
		{"max_tokens", harmless, noRequestDefaults},
		{"max_completion_tokens", harmless, noRequestDefaults},
		{"stop", harmless, noRequestDefaults},
		{"seed", harmless, noRequestDefaults},
		{"stream", harmless, noRequestDefaults},
		{"presence_penalty", harmless, noRequestDefaults},
		{"frequency_penalty", harmless, noRequestDefaults},
		{"logit_bias", harmless, noRequestDefaults},
		{"logprobs", harmless, noRequestDefaults},
		{"top_logprobs", harmless, noRequestDefaults},
		{"user", harmless, noRequestDefaults},
		{"response_format", harmless, noRequestDefaults},
		{"tools", harmless, noRequestDefaults},
		{"tool_choice", harmless, noRequestDefaults},
		{"functions", harmless, noRequestDefaults},
		{"function_call", harmless, noRequestDefaults},
		{"parallel_tool_calls", harmless, noRequestDefaults},
		{"reasoning_effort", harmless, noRequestDefaults},
		{"thinking", harmless, noRequestDefaults},
		{"extra_body", harmless, noRequestDefaults},
		{"extra_query", harmless, noRequestDefaults},
		{"metadata", harmless, noRequestDefaults},
		{"modalities", harmless, noRequestDefaults},
		{"audio", harmless, noRequestDefaults},
		{"prediction", harmless, noRequestDefaults},
		{"service_tier", harmless, noRequestDefaults},
		{"dimensions", harmless, noRequestDefaults},
		{"encoding_format", harmless, noRequestDefaults},
		{"input_type", harmless, noRequestDefaults},
		{"safety_settings", harmless, noRequestDefaults},
		{"safety_identifier", harmless, noRequestDefaults},
		{"verbosity", harmless, noRequestDefaults},
		{"stream_options", harmless, noRequestDefaults},
		{"top_k", harmless, noRequestDefaults},
		{"store", harmless, noRequestDefaults},
		{"web_search_options", harmless, noRequestDefaults},
		{"cache_control_injection_points", harmless, noRequestDefaults},
		{"prompt_cache_key", harmless, noRequestDefaults},
	}
}

// paramsRest lists what can be left out.
func paramsRest() []row {
	return []row{
		{"ssl_verify", harmless, envoyVerifies},
		{"keepalive_seconds", harmless, envoyVerifies},
		{"allow_client_keepalive_override", harmless, envoyVerifies},
		{"max_file_size_mb", harmless, envoyVerifies},
		{"headers", harmless, headersElsewhere},
		{"default_headers", harmless, headersElsewhere},
		{"provider_affinity_header", harmless, headersElsewhere},
		{"num_retries", harmless, routerSets},
		{"cooldown_time", harmless, routerSets},
		{"allowed_fails_policy", harmless, routerSets},
		{"timeout_by_service_tier", harmless, routerSets},
		{"stream_timeout_by_service_tier", harmless, routerSets},
		{"vertex_project", harmless, otherProviders},
		{"vertex_location", harmless, otherProviders},
		{"region_name", harmless, otherProviders},
		{"api_type", harmless, otherProviders},
		{"deployment_id", harmless, otherProviders},
		{"api_version_override", harmless, otherProviders},
		{"responses_api_version", harmless, otherProviders},
		{"organization_id", harmless, otherProviders},
		{"aws_bedrock_runtime_endpoint", harmless, otherProviders},
		{"aws_bedrock_control_plane_endpoint", harmless, otherProviders},
		{"aws_bedrock_project_id", harmless, otherProviders},
		{"bedrock_tags", harmless, otherProviders},
		{"fireworks_forward_user_id", harmless, otherProviders},
		{"s3_bucket_name", harmless, otherProviders},
		{"s3_endpoint_url", harmless, otherProviders},
		{"s3_region_name", harmless, otherProviders},
		{"s3_access_key_id", harmless, otherProviders},
		{"s3_secret_access_key", harmless, otherProviders},
		{"s3_encryption_key_id", harmless, otherProviders},
		{"s3_bucket_owner", harmless, otherProviders},
		{"s3_output_bucket_name", harmless, otherProviders},
		{"aws_batch_role_arn", harmless, otherProviders},
		{"gcs_bucket_name", harmless, otherProviders},
		{"bucket_name", harmless, otherProviders},
		{"kubernetes_pod_discovery", harmless, otherProviders},
	}
}

// paramsAbsent lists what belongs to features that do not exist here.
func paramsAbsent() []row {
	return []row{
		{"merge_reasoning_content_in_choices", harmless, requestsAsTheyAre},
		{"thought_signature_in_tool_call_id", harmless, requestsAsTheyAre},
		{"use_chat_completions_api", harmless, requestsAsTheyAre},
		{"allowed_openai_params", harmless, requestsAsTheyAre},
		{"additional_drop_params", harmless, requestsAsTheyAre},
		{"use_litellm_proxy", harmless, requestsAsTheyAre},
		{"use_in_pass_through", harmless, requestsAsTheyAre},
		{"mock_response", harmless, requestsAsTheyAre},
		{"mock_timeout", harmless, requestsAsTheyAre},
		{"mock_tool_calls", harmless, requestsAsTheyAre},
		{"configurable_clientside_auth_params", harmless, noCallerCredentials},
		{"auto_router_config_path", harmless, noRouterModels},
		{"auto_router_config", harmless, noRouterModels},
		{"auto_router_default_model", harmless, noRouterModels},
		{"auto_router_embedding_model", harmless, noRouterModels},
		{"auto_router_max_input_chars", harmless, noRouterModels},
		{"auto_router_routing_compression", harmless, noRouterModels},
		{"auto_router_model_compression", harmless, noRouterModels},
		{"complexity_router_config", harmless, noRouterModels},
		{"complexity_router_default_model", harmless, noRouterModels},
		{"adaptive_router_default_model", harmless, noRouterModels},
		{"adaptive_router_config", harmless, noRouterModels},
		{"quality_router_config", harmless, noRouterModels},
		{"quality_router_default_model", harmless, noRouterModels},
		{"vector_store_id", harmless, paramsNoEndpoint},
		{"vector_bucket_name", harmless, paramsNoEndpoint},
		{"index_name", harmless, paramsNoEndpoint},
		{"embedding_model", harmless, paramsNoEndpoint},
		{"milvus_text_field", harmless, paramsNoEndpoint},
		{"milvus_db_name", harmless, paramsNoEndpoint},
		{"milvus_partition_names", harmless, paramsNoEndpoint},
		{"valkey_host", harmless, paramsNoEndpoint},
		{"valkey_port", harmless, paramsNoEndpoint},
		{"valkey_password", harmless, paramsNoEndpoint},
		{"valkey_ssl", harmless, paramsNoEndpoint},
		{"valkey_text_field", harmless, paramsNoEndpoint},
		{"valkey_embedding_field", harmless, paramsNoEndpoint},
		{"prompt_id", harmless, paramsNoEndpoint},
		{"prompt_variables", harmless, paramsNoEndpoint},
		{"litellm_trace_id", harmless, paramsNoCallbacks},
		{"no-log", harmless, paramsNoCallbacks},
		{"litellm_logging_obj", harmless, paramsNoCallbacks},
		{"caching_groups", harmless, paramsNoCallbacks},
		{"cache", harmless, paramsNoCallbacks},
		{"caching", harmless, paramsNoCallbacks},
		{"model_info", harmless, besideParams},
	}
}
