package texts

// Messages reads Anthropic's messages.
func Messages() Reader {
	return Reader{request: messagesRequest, answer: messagesResponse, event: messagesEvent}
}

const (
	messagesRequest = messagesNodes + iota
	messagesMessage
	messagesBlock
	messagesSource
	messagesResponse
	messagesAnswerBlock
	messagesEvent
	messagesDelta
)

// messages is the rule for a member of an object of Anthropic's language, whose value is at i.
func (w *walker) messages(n node, name []byte, i int) rule {
	switch n { //nolint:exhaustive // the others are of other languages
	case messagesRequest:
		return messagesRequestMember(name)
	case messagesMessage:
		switch string(name) {
		case "role":
			return rule{}
		case "content":
			return rule{kind: w.at.said, in: messagesBlock}
		}
		return rule{kind: Other}
	case messagesDelta:
		if string(name) == "input" && emptyObject(w.b, i) { // the deltas bring the arguments
			return rule{}
		}
		return w.messagesBlockMember(n, name)
	case messagesBlock, messagesAnswerBlock:
		return w.messagesBlockMember(n, name)
	case messagesSource:
		return w.messagesSourceMember(name)
	case messagesResponse:
		if string(name) == "content" {
			return rule{kind: Content, in: messagesAnswerBlock, role: Assistant}
		}
	case messagesEvent:
		switch string(name) {
		case "message":
			return rule{kind: Content, in: messagesResponse}
		case "content_block":
			return rule{kind: Content, in: messagesDelta, role: Assistant}
		case "delta":
			return rule{kind: Content, in: messagesDelta, role: Assistant}
		}
	}
	return rule{}
}

func messagesRequestMember(name []byte) rule {
	switch string(name) {
	case "system":
		return rule{kind: Content, in: messagesBlock, role: System}
	case "messages":
		return rule{kind: Other, in: messagesMessage}
	case "tools", "mcp_servers":
		return rule{kind: Other, in: toolNode}
	case "output_config", "output_format":
		return rule{kind: Other, in: formatNode}
	case "thinking", "container", "context_management", "inference_geo", "speed":
		return rule{}
	}
	return topLevel(name)
}

// block notes what a block says of its content.
func (w *walker) block(i int) {
	if hasSuffix(find(w.b, i, "type"), "tool_result") {
		w.at.role, w.at.said = Tool, Result
	}
}

// messagesBlockMember is the rule for a member of a block, or of a delta, which has the same members.
func (w *walker) messagesBlockMember(n node, name []byte) rule {
	switch string(name) {
	case "type", "id", "tool_use_id", "file_id", "is_error", "caller", "return_code", "retrieved_at", "page_age",
		"signature", "data", "encrypted_content", "encrypted_index", "cache_control", "url", "error_code":
		return rule{}
	case "citations", "citation":
		return w.cited()
	case "stop_reason", "stop_sequence", "stop_details", "container": // of the delta that ends a stream
		if n == messagesDelta {
			return rule{}
		}
	case "text", "title", "context", "stdout", "stderr":
		return rule{kind: w.at.said}
	case "content":
		return rule{kind: w.at.said, in: messagesBlock}
	case "thinking":
		return rule{kind: Reasoning}
	case "name", "server_name", "tool_name":
		return rule{kind: ToolName}
	case "input", "partial_json":
		return rule{kind: Arguments}
	case "source":
		return rule{kind: w.at.said, in: messagesSource}
	}
	return rule{kind: Other}
}

// messagesSourceMember is the rule for a member of where a picture or a document comes from.
func (w *walker) messagesSourceMember(name []byte) rule {
	switch string(name) {
	case "type", "media_type", "file_id":
		return rule{}
	case "data":
		if w.at.plain {
			return rule{kind: w.at.said}
		}
		return rule{kind: Media}
	case "url":
		return rule{kind: Media}
	case "content":
		return rule{kind: w.at.said, in: messagesBlock}
	}
	return rule{kind: Other}
}
