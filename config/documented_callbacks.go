package config

// callbackTable is the table of callbacks.
func callbackTable() []documented {
	return []documented{
		{protecting, callbackGuard, `
			presidio detect_prompt_injection hide_secrets lakera_prompt_injection llamaguard_moderations llmguard_moderations banned_keywords
			blocked_user_check azure_content_safety aporia_prompt_injection google_text_moderation openai_moderations`},
		{protecting, callbackLimiter, `
			dynamic_rate_limiter dynamic_rate_limiter_v3 parallel_request_limiter max_budget_limiter batch_rate_limiter`},
		{harmless, "the gateway has its own log, metrics and audit log, which never hold prompts or responses; it calls no callbacks", `
			langfuse langfuse_otel langsmith literalai logfire otel arize arize_phoenix langtrace opik weave_otel mlflow galileo braintrust
			argilla humanloop lunary helicone athina traceloop wandb promptlayer greenscale supabase sentry posthog slack webhook email generic
			generic_api custom_callback_api datadog datadog_metrics datadog_llm_observability datadog_cost_management prometheus
			prometheus_system newrelic signoz azure_sentinel agentops deepeval levo s3 s3_v2 gcs_bucket gcs_pubsub azure_storage aws_sqs
			dynamodb clickhouse pointfive zerobus lago openmeter cloudzero focus mavvrik vantage ternary pagerduty smtp_email sendgrid_email
			resend_email`},
		{harmless, "the gateway passes requests on as they are, but for what the provider needs", `
			anthropic_cache_control_hook vector_store_pre_call_hook websearch_interception compression_interception
			code_interpreter_interception dotprompt bitbucket gitlab litellm_agent batch_redis_requests cache managed_files
			managed_vector_stores`},
	}
}
