package texts

// Chat reads OpenAI's chat completions.
func Chat() Reader { return Reader{request: chatRequest, answer: chatResponse, event: chatResponse} }

const (
	chatRequest = chatNodes + iota
	chatMessage
	chatPart
	chatCall
	chatPrediction
	chatResponse
	chatChoice
	chatAnswer
	chatAnswerCall
)

// chat is the rule for a member of an object of OpenAI's chats, whose value is at i.
func (w *walker) chat(n node, name []byte, i int) rule {
	switch n { //nolint:exhaustive // the others are of other languages
	case chatRequest:
		return chatRequestMember(name)
	case chatMessage, chatAnswer:
		return w.chatMessageMember(n, name, i)
	case chatPart:
		return w.chatPartMember(name)
	case chatCall, chatAnswerCall:
		return chatCallMember(name)
	case chatPrediction:
		switch string(name) {
		case "type":
			return rule{}
		case "content":
			return rule{kind: Prediction, in: chatPart}
		}
		return rule{kind: Other}
	case chatResponse:
		if string(name) == "choices" {
			return rule{kind: Content, in: chatChoice, role: Assistant}
		}
	case chatChoice:
		switch string(name) {
		case "message", "delta":
			return rule{kind: Content, in: chatAnswer}
		case "text": // of completions
			return rule{kind: Content}
		case "logprobs":
			return rule{kind: Logprobs, repeat: true}
		}
	}
	return rule{}
}

func chatRequestMember(name []byte) rule {
	switch string(name) {
	case "messages":
		return rule{kind: Other, in: chatMessage}
	case "tools", "functions":
		return rule{kind: Other, in: toolNode}
	case "response_format":
		return rule{kind: Other, in: formatNode}
	case "prediction":
		return rule{kind: Prediction, in: chatPrediction}
	case "audio", "logit_bias", "modalities", "prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "verbosity":
		return rule{}
	}
	return topLevel(name)
}

// chatMessageMember is the rule for a member of a message or a delta. Providers that send reasoning under
// two names send the same text twice.
func (w *walker) chatMessageMember(n node, name []byte, i int) rule {
	switch string(name) {
	case "role", "id", "tool_call_id", "cache_control":
		return rule{}
	case "annotations":
		return w.cited()
	case "content":
		return rule{kind: w.at.said, in: chatPart}
	case "name":
		return rule{kind: Name}
	case "refusal":
		return rule{kind: Refusal}
	case "reasoning_content", "reasoning":
		r := rule{kind: Reasoning, repeat: w.twice}
		w.twice = w.twice || i < len(w.b) && w.b[i] == '"'
		return r
	case "tool_calls":
		if n == chatAnswer {
			return rule{kind: Other, in: chatAnswerCall}
		}
		return rule{kind: Other, in: chatCall}
	case "function_call":
		return rule{kind: Other, in: chatCall}
	case "audio":
		return rule{kind: Media, in: mediaNode}
	}
	return rule{kind: Other}
}

func (w *walker) chatPartMember(name []byte) rule {
	switch string(name) {
	case "type", "id", "file_id", "detail", "signature", "cache_control":
		return rule{}
	case "annotations", "citations":
		return w.cited()
	case "text":
		return rule{kind: w.at.said}
	case "content":
		return rule{kind: w.at.said, in: chatPart}
	case "refusal":
		return rule{kind: Refusal}
	case "thinking":
		return rule{kind: Reasoning, in: chatPart}
	case "image_url", "video_url", "audio_url", "file_url", "input_audio", "file", "audio", "image", "file_data":
		return rule{kind: Media, in: mediaNode}
	case "source":
		return rule{kind: w.at.said, in: messagesSource}
	}
	return rule{kind: Other}
}

func chatCallMember(name []byte) rule {
	switch string(name) {
	case "id", "type", "index":
		return rule{}
	case "function", "custom":
		return rule{kind: Other, in: chatCall}
	case "name":
		return rule{kind: ToolName}
	case "arguments", "input":
		return rule{kind: Arguments}
	}
	return rule{kind: Other}
}
