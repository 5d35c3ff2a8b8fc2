package texts

import "bytes"

// Responses reads OpenAI's responses.
func Responses() Reader {
	return Reader{request: responsesRequest, answer: responsesResponse, event: responsesEvent}
}

const (
	responsesRequest = responsesNodes + iota
	responsesPrompt
	responsesVariables
	responsesItem
	responsesAction
	responsesPart
	responsesResponse
	responsesEvent
	responsesEventItem
	responsesEventPart
)

// responses is the rule for a member of an object of OpenAI's responses.
func (w *walker) responses(n node, name []byte) rule {
	switch n { //nolint:exhaustive // the others are of other languages
	case responsesRequest:
		return responsesRequestMember(name)
	case responsesPrompt:
		if string(name) == "variables" {
			return rule{kind: Content, in: responsesVariables}
		}
	case responsesVariables:
		return rule{kind: Content, in: responsesPart}
	case responsesItem, responsesEventItem:
		return w.responsesItemMember(name)
	case responsesAction:
		if string(name) == "type" || string(name) == "sources" {
			return rule{}
		}
		return rule{kind: Arguments}
	case responsesPart, responsesEventPart:
		return w.responsesPartMember(name)
	case responsesResponse:
		if string(name) == "output" {
			return rule{kind: Content, in: responsesItem, role: Assistant}
		}
	case responsesEvent:
		return w.responsesEventMember(name)
	}
	return rule{}
}

func responsesRequestMember(name []byte) rule {
	switch string(name) {
	case "instructions":
		return rule{kind: Content, in: responsesItem, role: System}
	case "input":
		return rule{kind: Content, in: responsesItem, role: User}
	case "prompt":
		return rule{kind: Content, in: responsesPrompt, role: User}
	case "tools":
		return rule{kind: Other, in: toolNode}
	case "text":
		return rule{kind: Other, in: formatNode}
	case "context_management", "include", "prompt_cache_key", "prompt_cache_retention", "reasoning", "truncation":
		return rule{}
	}
	return topLevel(name)
}

// item notes who is the author of the item at i, and what its content is.
func (w *walker) item(i int) {
	typed := find(w.b, i, "type")
	switch role := find(w.b, i, "role"); {
	case role != nil:
		w.at.role = roleOf(role, w.at.role)
	case hasSuffix(typed, "_output"), hasSuffix(typed, "_list_tools"):
		w.at.role = Tool
	case len(typed) > 0 && string(typed) != "message" && !hasSuffix(typed, "_response"):
		w.at.role = Assistant
	}
	if w.at.said = saidBy(w.at.role); string(typed) == "reasoning" {
		w.at.said = Reasoning
	}
}

// responsesItemMember is the rule for a member of an item. It means the same in all types of items.
func (w *walker) responsesItemMember(name []byte) rule {
	switch string(name) {
	case "type", "role", "status", "phase", "id", "call_id", "container_id", "approval_request_id", "encrypted_content",
		"created_by", "background", "output_format", "quality", "size", "pending_safety_checks", "acknowledged_safety_checks":
		return rule{}
	case "content":
		return rule{kind: w.at.said, in: responsesPart}
	case "summary":
		return rule{kind: Reasoning, in: responsesPart}
	case "name", "namespace", "server_label":
		return rule{kind: ToolName}
	case "arguments", "input", "code", "operation", "queries":
		return rule{kind: Arguments}
	case "action":
		return rule{kind: Arguments, in: responsesAction}
	case "reason", "revised_prompt":
		return rule{kind: Content}
	case "output", "outputs", "results", "error":
		return rule{kind: Result, in: responsesPart, role: Tool}
	case "result":
		return rule{kind: Media}
	case "tools":
		return rule{kind: Other, in: toolNode}
	}
	return rule{kind: Other}
}

func (w *walker) responsesPartMember(name []byte) rule {
	switch string(name) {
	case "type", "id", "file_id", "detail", "outcome", "code":
		return rule{}
	case "annotations":
		return w.cited()
	case "text", "message", "logs", "stdout", "stderr":
		return rule{kind: w.at.said}
	case "transcript":
		return rule{kind: Transcript}
	case "content":
		return rule{kind: w.at.said, in: responsesPart}
	case "refusal":
		return rule{kind: Refusal}
	case "image_url", "file_url", "file_data", "url", "input_audio", "audio":
		return rule{kind: Media, in: mediaNode}
	case "filename":
		return rule{kind: Name}
	case "logprobs":
		return rule{kind: Logprobs, repeat: true}
	}
	return rule{kind: Other}
}

// event notes what an event says of its texts. Of the events about a text, those with more of it come
// first; the others repeat it.
func (w *walker) event(i int) {
	typed := find(w.b, i, "type")
	w.at.role = Assistant
	w.at.item = index(w.b, i, "output_index", 0)
	w.at.part = index(w.b, i, "content_index", index(w.b, i, "summary_index", 0))
	w.at.repeat = !hasSuffix(typed, ".delta") && !hasSuffix(typed, ".added") && !hasSuffix(typed, ".partial_image")
	switch {
	case bytes.Contains(typed, []byte("reasoning")):
		w.at.said = Reasoning
	case bytes.Contains(typed, []byte("refusal")):
		w.at.said = Refusal
	case bytes.Contains(typed, []byte("_arguments")), bytes.Contains(typed, []byte("_input")), bytes.Contains(typed, []byte("_code")):
		w.at.said = Arguments
	case bytes.Contains(typed, []byte(".transcript.")):
		w.at.said = Transcript
	case bytes.Contains(typed, []byte(".audio.")):
		w.at.said = Media
	default:
		w.at.said = Content
	}
}

func (w *walker) responsesEventMember(name []byte) rule {
	switch string(name) {
	case "code":
		if w.at.said != Arguments { // of an error
			return rule{}
		}
		return rule{kind: Arguments}
	case "delta", "text", "refusal", "arguments", "input", "transcript":
		return rule{kind: w.at.said}
	case "partial_image_b64":
		return rule{kind: Media}
	case "annotation":
		return w.cited()
	case "part":
		return rule{kind: w.at.said, in: responsesEventPart}
	case "item":
		return rule{kind: Content, in: responsesEventItem}
	case "response":
		return rule{kind: Content, in: responsesResponse}
	case "logprobs":
		return rule{kind: Logprobs, repeat: true}
	}
	return rule{}
}
