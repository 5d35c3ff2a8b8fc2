package texts

// Turns reads Cohere's chats.
func Turns() Reader {
	return Reader{request: turnsRequest, answer: turnsResponse, event: turnsEvent}
}

const (
	turnsRequest = turnsNodes + iota
	turnsMessage
	turnsPart
	turnsCall
	turnsDocument
	turnsFormat
	turnsResponse
	turnsAnswer
	turnsSaid
	turnsAnswerCall
	turnsEvent
	turnsDelta
	turnsChange
	turnsChanged
	turnsChangedCall
	turnsCitation
)

// The parts of an answer's items: the content and the calls are counted by themselves, and the plan is neither.
const (
	turnsCallPart = 1 + iota
	turnsPlanPart
)

// turns is the rule for a member of an object of Cohere's language.
func (w *walker) turns(n node, name []byte) rule {
	switch n { //nolint:exhaustive // the others are of other languages
	case turnsRequest:
		return turnsRequestMember(name)
	case turnsMessage:
		return w.turnsMessageMember(name)
	case turnsPart, turnsSaid, turnsChanged:
		return w.turnsPartMember(name)
	case turnsCall, turnsAnswerCall, turnsChangedCall:
		return turnsCallMember(name)
	case turnsDocument:
		switch string(name) {
		case "id":
			return rule{}
		case "data":
			return rule{kind: w.at.said}
		}
		return rule{kind: Other}
	case turnsFormat:
		switch string(name) {
		case "type":
			return rule{}
		case "json_schema", "schema":
			return rule{kind: Format}
		}
		return rule{kind: Other}
	case turnsCitation:
		return citation(name)
	}
	return w.turnsAnswerMember(n, name)
}

func turnsRequestMember(name []byte) rule {
	switch string(name) {
	case "messages":
		return rule{kind: Other, in: turnsMessage}
	case "documents":
		return rule{kind: Content, in: turnsDocument, role: User}
	case "tools":
		return rule{kind: Other, in: toolNode}
	case "response_format":
		return rule{kind: Other, in: turnsFormat}
	case "safety_mode", "citation_options", "tool_choice", "thinking", "priority", "strict_tools":
		return rule{}
	}
	return topLevel(name)
}

func (w *walker) turnsMessageMember(name []byte) rule {
	switch string(name) {
	case "role", "tool_call_id", "citations":
		return rule{}
	case "content":
		return rule{kind: w.at.said, in: turnsPart}
	case "tool_plan":
		return rule{kind: w.at.said}
	case "tool_calls":
		return rule{kind: Other, in: turnsCall}
	}
	return rule{kind: Other}
}

func (w *walker) turnsPartMember(name []byte) rule {
	switch string(name) {
	case "type":
		return rule{}
	case "text":
		return rule{kind: w.at.said}
	case "thinking":
		return rule{kind: Reasoning}
	case "image_url":
		return rule{kind: Media, in: mediaNode}
	case "document":
		return rule{kind: w.at.said, in: turnsDocument}
	}
	return rule{kind: Other}
}

func turnsCallMember(name []byte) rule {
	switch string(name) {
	case "id", "type":
		return rule{}
	case "function":
		return rule{kind: Other, in: turnsCall}
	case "name":
		return rule{kind: ToolName}
	case "arguments":
		return rule{kind: Arguments}
	}
	return rule{kind: Other}
}

// turnsAnswerMember is the rule for a member of an answer, or of an event.
func (w *walker) turnsAnswerMember(n node, name []byte) rule {
	switch n { //nolint:exhaustive // the others are of requests
	case turnsResponse:
		switch string(name) {
		case "message":
			return rule{kind: Content, in: turnsAnswer, role: Assistant}
		case "logprobs":
			return rule{kind: Logprobs, repeat: true}
		}
	case turnsAnswer:
		switch w.at.part = 0; string(name) {
		case "content":
			return rule{kind: Content, in: turnsSaid}
		case "tool_plan":
			w.at.part = turnsPlanPart
			return rule{kind: Content}
		case "tool_calls":
			return rule{kind: Other, in: turnsAnswerCall}
		case "citations":
			return rule{kind: Citation, in: turnsCitation}
		}
	case turnsEvent:
		switch string(name) {
		case "delta":
			return rule{kind: Content, in: turnsDelta, role: Assistant}
		case "logprobs":
			return rule{kind: Logprobs, repeat: true}
		}
	case turnsDelta:
		if string(name) == "message" {
			return rule{kind: Content, in: turnsChange}
		}
	case turnsChange:
		switch w.at.part = 0; string(name) {
		case "content":
			return rule{kind: Content, in: turnsChanged}
		case "tool_plan":
			w.at.part = turnsPlanPart
			return rule{kind: Content}
		case "tool_calls":
			return rule{kind: Other, in: turnsChangedCall}
		case "citations":
			return rule{kind: Citation, in: turnsCitation}
		}
	}
	return rule{}
}

// turns reads an event of Cohere's streams.
func (f *Flow) turns(b []byte, i int) {
	switch string(find(b, i, "type")) {
	case "content-delta":
		f.Bare = member(b, i, "logprobs") == 0
	case "tool-plan-delta", "tool-call-delta":
		f.Bare = true
	case "content-end", "tool-call-end":
		f.Item = index(b, i, "index", 0)
	case "message-start", "content-start", "tool-call-start", "citation-start", "citation-end", "debug":
	default:
		f.All = true
	}
}
