package litellm

import "strings"

// CallbackLists are the lists of litellm_settings that name callbacks. LiteLLM
// runs a guard from any of them.
func CallbackLists() []string {
	return []string{
		"callbacks", "input_callback", "success_callback", "failure_callback", "service_callback", "service_callbacks", "audit_log_callbacks",
	}
}

// Reasons that are also for names that the tables do not have.
const (
	callbackGuard   = "requests would be served without this guard; run it in front of the gateway, then remove it from the list"
	callbackLimiter = "requests would not be limited by it; set rpm_limit, tpm_limit and max_parallel_requests on keys and teams, then remove it from the list"
	unknownCallback = "the gateway does not run this code, so what it denies would be allowed; if it only records, remove it from the list: the gateway has its own log, metrics and audit log"
	unknownCheck    = "the gateway does not know this check, so what it denies would be allowed; remove it from the list if it may"
)

// Unknown returns the reason to reject a callback or a check that the table of the
// section does not have. Guards come in families whose members change from version to
// version.
func (s Section) Unknown(name string) string {
	if s != Callbacks {
		return unknownCheck
	}
	for _, family := range []string{"lakera", "llamaguard", "llmguard", "aporia", "presidio"} {
		if strings.HasPrefix(name, family) {
			return callbackGuard
		}
	}
	if strings.HasPrefix(name, "dynamic_rate_limiter") {
		return callbackLimiter
	}
	return unknownCallback
}

// callbackTable is the table of callbacks.
func callbackTable() []Entry {
	return []Entry{
		{Protecting, callbackGuard, `
			presidio detect_prompt_injection hide_secrets lakera_prompt_injection llamaguard_moderations llmguard_moderations banned_keywords
			blocked_user_check azure_content_safety aporia_prompt_injection google_text_moderation openai_moderations`},
		{Protecting, callbackLimiter, `
			dynamic_rate_limiter dynamic_rate_limiter_v3 parallel_request_limiter max_budget_limiter batch_rate_limiter`},
		{Harmless, "the gateway has its own log, metrics and audit log, which never hold prompts or responses; it calls no callbacks", `
			langfuse langfuse_otel langsmith literalai logfire otel arize arize_phoenix langtrace opik weave_otel mlflow galileo braintrust
			argilla humanloop lunary helicone athina traceloop wandb promptlayer greenscale supabase sentry posthog slack webhook email generic
			generic_api custom_callback_api datadog datadog_metrics datadog_llm_observability datadog_cost_management prometheus
			prometheus_system newrelic signoz azure_sentinel agentops deepeval levo s3 s3_v2 gcs_bucket gcs_pubsub azure_storage aws_sqs
			dynamodb clickhouse pointfive zerobus lago openmeter cloudzero focus mavvrik vantage ternary pagerduty smtp_email sendgrid_email
			resend_email`},
		{Harmless, "the gateway passes requests on as they are, but for what the provider needs", `
			anthropic_cache_control_hook vector_store_pre_call_hook websearch_interception compression_interception
			code_interpreter_interception dotprompt bitbucket gitlab litellm_agent batch_redis_requests cache managed_files
			managed_vector_stores`},
	}
}
