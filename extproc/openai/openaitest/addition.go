package openaitest

// addition is a member that OpenAI's document lacks and the gateway may write.
type addition struct {
	schema string // the place below components/schemas
	member string
	reason string
}

// additions lists them. No other member that a schema lacks is allowed.
func additions() []addition {
	const (
		cost      = "the gateway reports the cost"
		anthropic = "callers of Anthropic's models look for Anthropic's name"
		reasoning = "OpenAI's chats have no place for the text of reasoning; other providers' have this one"
		proof     = "the caller sends the signed reasoning back"
		lacking   = "OpenAI's API has it, and the document lacks it"
	)
	return []addition{
		{"Error", "details", "the gateway names the attempts that failed"},
		{"ResponseUsage", "cost", cost},
		{"ResponseUsage/properties/input_tokens_details", "cache_write_tokens", lacking},
		{"CompletionUsage", "cost", cost},
		{"CompletionUsage", "cache_creation_input_tokens", anthropic},
		{"CompletionUsage", "cache_read_input_tokens", anthropic},
		{"CompletionUsage/properties/prompt_tokens_details", "cache_write_tokens", lacking},
		{"ChatCompletionRequestAssistantMessage", "reasoning_content", "DeepSeek, whose API is OpenAI's otherwise, requires it with tools"},
		{"ChatCompletionResponseMessage", "reasoning_content", reasoning},
		{"ChatCompletionResponseMessage", "thinking_blocks", proof},
		{"ChatCompletionStreamResponseDelta", "reasoning_content", reasoning},
		{"ChatCompletionStreamResponseDelta", "thinking_blocks", proof},
		{"ChatCompletionStreamResponseDelta", "annotations", lacking},
		{"ChatCompletionStreamResponseDelta", "audio", lacking},
	}
}

// isAddition reports whether a schema may have a member that it lacks.
func isAddition(schema, member string) bool {
	for _, a := range additions() {
		if a.schema == schema && a.member == member {
			return true
		}
	}
	return false
}
