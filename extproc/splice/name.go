package splice

// String returns the field's name in the body; "" for an invalid field.
func (f Field) String() string {
	if f >= fields {
		return ""
	}
	return [fields]string{
		Model:                  "model",
		Messages:               "messages",
		Stream:                 "stream",
		StreamOptions:          "stream_options",
		N:                      "n",
		MaxTokens:              "max_tokens",
		MaxCompletionTokens:    "max_completion_tokens",
		Temperature:            "temperature",
		TopP:                   "top_p",
		Tools:                  "tools",
		ResponseFormat:         "response_format",
		User:                   "user",
		ServiceTier:            "service_tier",
		Metadata:               "metadata",
		SafetyIdentifier:       "safety_identifier",
		Prompt:                 "prompt",
		Input:                  "input",
		PromptID:               "prompt_id",
		PromptVariables:        "prompt_variables",
		PromptVersion:          "prompt_version",
		GuardrailID:            "guardrail_id",
		Guardrails:             "guardrails",
		MemoryID:               "memory_id",
		StoreMemory:            "store_memory",
		TokenSavingPlanID:      "token_saving_plan_id",
		Cache:                  "cache",
		Tags:                   "tags",
		Timeout:                "timeout",
		StreamTimeout:          "stream_timeout",
		RequestTimeout:         "request_timeout",
		NumRetries:             "num_retries",
		MaxRetries:             "max_retries",
		Fallbacks:              "fallbacks",
		ContextWindowFallbacks: "context_window_fallbacks",
		ContentPolicyFallbacks: "content_policy_fallbacks",
		DisableFallbacks:       "disable_fallbacks",
		DropParams:             "drop_params",
		AdditionalDropParams:   "additional_drop_params",
		AllowedOpenAIParams:    "allowed_openai_params",
		LitellmMetadata:        "litellm_metadata",
		LitellmSessionID:       "litellm_session_id",
	}[f]
}
