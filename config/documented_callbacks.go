package config

import "slices"

// Reasons in the table of callbacks.
const (
	callbackGuard   = "requests would be served without this guard; run it in front of the gateway, then remove it from the list"
	callbackLimiter = "requests would not be limited by it; set rpm_limit, tpm_limit and max_parallel_requests on keys and teams, then remove it from the list"
	callbackRecords = "the gateway has its own log, metrics and audit log, which never hold prompts or answers; it calls no callbacks"
	callbackHelps   = "the gateway passes requests on as they are, but for what the provider needs"
)

// callbackTable is the table of callbacks.
func callbackTable() []row {
	return slices.Concat(
		callbackGuards(),
		callbackRecorders(),
		callbackHelpers(),
	)
}

// callbackGuards lists callbacks that look at requests before a provider does, or limit them.
func callbackGuards() []row {
	return []row{
		{"presidio", protecting, callbackGuard},
		{"detect_prompt_injection", protecting, callbackGuard},
		{"hide_secrets", protecting, callbackGuard},
		{"lakera_prompt_injection", protecting, callbackGuard},
		{"llamaguard_moderations", protecting, callbackGuard},
		{"llmguard_moderations", protecting, callbackGuard},
		{"banned_keywords", protecting, callbackGuard},
		{"blocked_user_check", protecting, callbackGuard},
		{"azure_content_safety", protecting, callbackGuard},
		{"aporia_prompt_injection", protecting, callbackGuard},
		{"google_text_moderation", protecting, callbackGuard},
		{"openai_moderations", protecting, callbackGuard},
		{"dynamic_rate_limiter", protecting, callbackLimiter},
		{"dynamic_rate_limiter_v3", protecting, callbackLimiter},
		{"parallel_request_limiter", protecting, callbackLimiter},
		{"max_budget_limiter", protecting, callbackLimiter},
		{"batch_rate_limiter", protecting, callbackLimiter},
	}
}

// callbackRecorders lists callbacks that only record or report.
func callbackRecorders() []row {
	return []row{
		{"langfuse", harmless, callbackRecords},
		{"langfuse_otel", harmless, callbackRecords},
		{"langsmith", harmless, callbackRecords},
		{"literalai", harmless, callbackRecords},
		{"logfire", harmless, callbackRecords},
		{"otel", harmless, callbackRecords},
		{"arize", harmless, callbackRecords},
		{"arize_phoenix", harmless, callbackRecords},
		{"langtrace", harmless, callbackRecords},
		{"opik", harmless, callbackRecords},
		{"weave_otel", harmless, callbackRecords},
		{"mlflow", harmless, callbackRecords},
		{"galileo", harmless, callbackRecords},
		{"braintrust", harmless, callbackRecords},
		{"argilla", harmless, callbackRecords},
		{"humanloop", harmless, callbackRecords},
		{"lunary", harmless, callbackRecords},
		{"helicone", harmless, callbackRecords},
		{"athina", harmless, callbackRecords},
		{"traceloop", harmless, callbackRecords},
		{"wandb", harmless, callbackRecords},
		{"promptlayer", harmless, callbackRecords},
		{"greenscale", harmless, callbackRecords},
		{"supabase", harmless, callbackRecords},
		{"sentry", harmless, callbackRecords},
		{"posthog", harmless, callbackRecords},
		{"slack", harmless, callbackRecords},
		{"webhook", harmless, callbackRecords},
		{"email", harmless, callbackRecords},
		{"generic", harmless, callbackRecords},
		{"generic_api", harmless, callbackRecords},
		{"custom_callback_api", harmless, callbackRecords},
		{"datadog", harmless, callbackRecords},
		{"datadog_metrics", harmless, callbackRecords},
		{"datadog_llm_observability", harmless, callbackRecords},
		{"datadog_cost_management", harmless, callbackRecords},
		{"prometheus", harmless, callbackRecords},
		{"prometheus_system", harmless, callbackRecords},
		{"newrelic", harmless, callbackRecords},
		{"signoz", harmless, callbackRecords},
		{"azure_sentinel", harmless, callbackRecords},
		{"agentops", harmless, callbackRecords},
		{"deepeval", harmless, callbackRecords},
		{"levo", harmless, callbackRecords},
		{"s3", harmless, callbackRecords},
		{"s3_v2", harmless, callbackRecords},
		{"gcs_bucket", harmless, callbackRecords},
		{"gcs_pubsub", harmless, callbackRecords},
		{"azure_storage", harmless, callbackRecords},
		{"aws_sqs", harmless, callbackRecords},
		{"dynamodb", harmless, callbackRecords},
		{"clickhouse", harmless, callbackRecords},
		{"pointfive", harmless, callbackRecords},
		{"zerobus", harmless, callbackRecords},
		{"lago", harmless, callbackRecords},
		{"openmeter", harmless, callbackRecords},
		{"cloudzero", harmless, callbackRecords},
		{"focus", harmless, callbackRecords},
		{"mavvrik", harmless, callbackRecords},
		{"vantage", harmless, callbackRecords},
		{"ternary", harmless, callbackRecords},
		{"pagerduty", harmless, callbackRecords},
		{"smtp_email", harmless, callbackRecords},
		{"sendgrid_email", harmless, callbackRecords},
		{"resend_email", harmless, callbackRecords},
	}
}

// callbackHelpers lists callbacks that change requests without guarding anything.
func callbackHelpers() []row {
	return []row{
		{"anthropic_cache_control_hook", harmless, callbackHelps},
		{"vector_store_pre_call_hook", harmless, callbackHelps},
		{"websearch_interception", harmless, callbackHelps},
		{"compression_interception", harmless, callbackHelps},
		{"code_interpreter_interception", harmless, callbackHelps},
		{"dotprompt", harmless, callbackHelps},
		{"bitbucket", harmless, callbackHelps},
		{"gitlab", harmless, callbackHelps},
		{"litellm_agent", harmless, callbackHelps},
		{"batch_redis_requests", harmless, callbackHelps},
		{"cache", harmless, callbackHelps},
		{"managed_files", harmless, callbackHelps},
		{"managed_vector_stores", harmless, callbackHelps},
	}
}
