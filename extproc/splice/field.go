package splice

// Field is a known top-level member of a request.
type Field uint8

// The fields that Scan records. Those from PromptID on are the gateway's own, or are sent by
// callers of other gateways; Extensions contains them all.
const (
	Model Field = iota
	Messages
	Stream
	StreamOptions
	N
	MaxTokens
	MaxCompletionTokens
	Temperature
	TopP
	Tools
	ResponseFormat
	User
	ServiceTier
	Metadata
	SafetyIdentifier
	Logprobs
	TopLogprobs
	LogitBias
	FrequencyPenalty
	PresencePenalty
	ParallelToolCalls
	Dimensions       // of embeddings
	OutputDimension  // of embeddings
	Prompt           // of completions and images
	Input            // of embeddings, moderations, speech and responses
	Query            // of rankings
	Documents        // of rankings
	EncodingFormat   // of embeddings
	PictureSize      // of generated pictures
	PictureQuality   // of generated pictures
	MaxOutputTokens  // of responses
	PreviousResponse // of responses
	Conversation     // of responses
	PromptID
	PromptVariables
	PromptVersion
	PromptLabel
	GuardrailID
	Guardrails
	MemoryID
	StoreMemory
	TokenSavingPlanID
	Cache
	Tags
	Timeout
	StreamTimeout
	RequestTimeout
	NumRetries
	MaxRetries
	Fallbacks
	ContextWindowFallbacks
	ContentPolicyFallbacks
	DisableFallbacks
	DropParams
	AdditionalDropParams
	AllowedOpenAIParams
	LitellmMetadata
	LitellmSessionID
	AnthropicVersion // of bodies at clouds; the gateway's drivers set it
	GoogleEmbedding  // what Google's callers say of embeddings that others lack; written by the gateway
	fields
)

// verdict is the decision about a member.
type verdict uint8

const (
	unknown verdict = iota // not known: passed to the provider unchanged
	pass                   // recorded, and passes to the provider
	strip                  // recorded, and removed before the provider
	reject                 // the request is rejected with 400
)

// row is the table entry of a name.
type row struct {
	verdict verdict
	field   Field // for pass and strip
}

// lookup is the table of the known members. Other members pass to the provider unchanged, so
// that a new provider parameter works at once. It is a switch and not a map: the compiler turns
// it into a binary search over constants, and it is immutable.
//
// Rejected are members with which the caller could choose the target of a request, its
// credentials, headers or price, or how it is recorded, and members that would fake a response.
// Silently dropping such a member would not do what the caller requested, and passing it on
// could be a security hole at the provider.
func lookup(name []byte) row {
	switch string(name) {
	case "model":
		return row{pass, Model}
	case "messages":
		return row{pass, Messages}
	case "stream":
		return row{pass, Stream}
	case "stream_options":
		return row{pass, StreamOptions}
	case "n":
		return row{pass, N}
	case "max_tokens":
		return row{pass, MaxTokens}
	case "max_completion_tokens":
		return row{pass, MaxCompletionTokens}
	case "temperature":
		return row{pass, Temperature}
	case "top_p":
		return row{pass, TopP}
	case "tools":
		return row{pass, Tools}
	case "response_format":
		return row{pass, ResponseFormat}
	case "user":
		return row{pass, User}
	case "service_tier":
		return row{pass, ServiceTier}
	case "metadata":
		return row{pass, Metadata}
	case "safety_identifier":
		return row{pass, SafetyIdentifier}
	}
	return rare(name)
}

// rare is the part of the table with members of chat completions that some providers lack.
func rare(name []byte) row {
	switch string(name) {
	case "logprobs":
		return row{pass, Logprobs}
	case "top_logprobs":
		return row{pass, TopLogprobs}
	case "logit_bias":
		return row{pass, LogitBias}
	case "frequency_penalty":
		return row{pass, FrequencyPenalty}
	case "presence_penalty":
		return row{pass, PresencePenalty}
	case "parallel_tool_calls":
		return row{pass, ParallelToolCalls}
	}
	return input(name)
}

// input is the part of the table with members that only other operations than chat completions have.
func input(name []byte) row {
	switch string(name) {
	case "prompt":
		return row{pass, Prompt}
	case "input":
		return row{pass, Input}
	case "query":
		return row{pass, Query}
	case "documents":
		return row{pass, Documents}
	case "dimensions":
		return row{pass, Dimensions}
	case "output_dimension":
		return row{pass, OutputDimension}
	case "encoding_format":
		return row{pass, EncodingFormat}
	case "size":
		return row{pass, PictureSize}
	case "quality":
		return row{pass, PictureQuality}
	case "max_output_tokens":
		return row{pass, MaxOutputTokens}
	case "previous_response_id":
		return row{pass, PreviousResponse}
	case "conversation":
		return row{pass, Conversation}
	}
	return extension(name)
}

// extension is the part of the table with members that are not sent to a provider.
func extension(name []byte) row {
	switch string(name) {
	case "guardrail_id":
		return row{strip, GuardrailID}
	case "guardrails":
		return row{strip, Guardrails}
	case "memory_id":
		return row{strip, MemoryID}
	case "store_memory":
		return row{strip, StoreMemory}
	case "token_saving_plan_id":
		return row{strip, TokenSavingPlanID}
	case "cache":
		return row{strip, Cache}
	case "tags":
		return row{strip, Tags}
	case "timeout":
		return row{strip, Timeout}
	case "stream_timeout":
		return row{strip, StreamTimeout}
	case "request_timeout":
		return row{strip, RequestTimeout}
	case "num_retries":
		return row{strip, NumRetries}
	case "max_retries":
		return row{strip, MaxRetries}
	case "fallbacks":
		return row{strip, Fallbacks}
	case "context_window_fallbacks":
		return row{strip, ContextWindowFallbacks}
	case "content_policy_fallbacks":
		return row{strip, ContentPolicyFallbacks}
	case "disable_fallbacks":
		return row{strip, DisableFallbacks}
	case "drop_params":
		return row{strip, DropParams}
	case "additional_drop_params":
		return row{strip, AdditionalDropParams}
	case "allowed_openai_params":
		return row{strip, AllowedOpenAIParams}
	case "litellm_metadata":
		return row{strip, LitellmMetadata}
	case "litellm_session_id":
		return row{strip, LitellmSessionID}
	case "anthropic_version":
		return row{strip, AnthropicVersion}
	case "google_embedding":
		return row{strip, GoogleEmbedding}
	}
	return promptField(name)
}

// promptField is the part of the table with the members that name a prompt.
func promptField(name []byte) row {
	switch string(name) {
	case "prompt_id":
		return row{strip, PromptID}
	case "prompt_variables":
		return row{strip, PromptVariables}
	case "prompt_version":
		return row{strip, PromptVersion}
	case "prompt_label":
		return row{strip, PromptLabel}
	}
	return forbidden(name)
}

// forbidden is the part of the table with rejected members.
func forbidden(name []byte) row {
	switch string(name) {
	case
		"api_base", "base_url", "custom_host", "deployment_id", "custom_llm_provider", "proxy", "router_settings", "user_config",
		"region_name", "project_id", "model_list",
		"api_key", "api_type", "api_version", "organization", "tenant_id", "client_id", "client_secret", "credentials",
		"headers", "extra_headers", "default_headers", "extra_query", "extra_body", "ssl_verify", "http_client", "client",
		"input_cost_per_token", "output_cost_per_token", "input_cost_per_second", "output_cost_per_second",
		"no-log", "no_log", "proxy_server_request", "callbacks", "success_callback", "failure_callback":
		return row{verdict: reject}
	}
	for _, prefix := range [...]string{"aws_", "azure_", "vertex_", "litellm_", "mock_"} {
		if len(name) >= len(prefix) && string(name[:len(prefix)]) == prefix {
			return row{verdict: reject}
		}
	}
	return row{}
}

// longest is the number of bytes of a name that are examined: more than three times the longest
// name in the table, because each letter could be a three-byte variant.
const longest = 128

// classify returns the table entry of a name. For a name that matches only case-insensitively
// it also sets variant. Some JSON readers treat such a member like the one that it resembles,
// and the last one wins.
func classify(name []byte) (r row, variant bool) {
	name = name[:min(len(name), longest)]
	if lower(name) {
		return lookup(name), false
	}
	var buf [longest]byte
	folded := fold(buf[:0], name)
	r = lookup(folded)
	return r, r.verdict != unknown
}

// lower reports whether fold would not change a name.
func lower(name []byte) bool {
	for _, c := range name {
		if c >= 0x80 || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// fold converts a name to lower case. Besides ASCII it folds the two characters that Unicode
// folds to ASCII letters: the long s and the Kelvin sign.
func fold(dst, name []byte) []byte {
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == 0xc5 && i+1 < len(name) && name[i+1] == 0xbf: // U+017F
			c = 's'
			i++
		case c == 0xe2 && i+2 < len(name) && name[i+1] == 0x84 && name[i+2] == 0xaa: // U+212A
			c = 'k'
			i += 2
		}
		dst = append(dst, c)
	}
	return dst
}

// FieldSet is a set of fields.
type FieldSet uint64

// Extensions is the set of all fields that are not sent to a provider.
const Extensions FieldSet = 1<<fields - 1<<PromptID

// Has reports whether f is in the set.
func (s FieldSet) Has(f Field) bool { return s>>f&1 != 0 }

// Set returns the set of some fields.
func Set(list ...Field) FieldSet {
	var s FieldSet
	for _, f := range list {
		s |= 1 << f
	}
	return s
}

// FieldNamed returns the known field of a name; not ok if there is none.
func FieldNamed(name []byte) (f Field, ok bool) {
	row := lookup(name)
	return row.field, row.verdict == pass || row.verdict == strip
}
