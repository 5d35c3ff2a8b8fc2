package texts

// Inputs reads the requests of embeddings, moderations, speech and transcriptions, and of completions,
// images and ranks, whose answers have other shapes. What one of them has no member for, its requests
// do not have.
func Inputs() Reader { return Reader{request: inputRequest} }

// Completions reads OpenAI's completions.
func Completions() Reader {
	return Reader{request: inputRequest, answer: chatResponse, event: chatResponse}
}

// Images reads requests for pictures, and pictures.
func Images() Reader {
	return Reader{request: inputRequest, answer: listResponse, event: listItem}
}

// Ranks reads the ranking of documents.
func Ranks() Reader { return Reader{request: inputRequest, answer: listResponse} }

// Sound reads speech, transcriptions and translations. An answer that is plain text or subtitles is no
// JSON, and has no spans.
func Sound() Reader {
	return Reader{request: inputRequest, answer: listTranscript, event: listAudioEvent}
}

const (
	inputRequest = inputNodes + iota
	inputDocument
)

// input is the rule for a member of a request that is not a chat.
func input(_ node, name []byte) rule {
	switch string(name) {
	case "input", "prompt", "suffix":
		return rule{kind: Content, in: chatPart, role: User}
	case "query", "documents":
		return rule{kind: Content, in: inputDocument, role: User}
	case "instructions":
		return rule{kind: Content, role: System}
	case "background", "chunking_strategy", "embedding_types", "include", "input_type", "language", "logit_bias", "moderation",
		"output_format", "quality", "response_format", "size", "stream_format", "style", "timestamp_granularities", "truncate", "voice":
		return rule{}
	}
	return topLevel(name)
}

const (
	listResponse = listNodes + iota
	listItem
	listTranscript
	listSegment
	listAudioEvent
)

// list is the rule for a member of an answer that is no chat, or of an event of one.
func list(n node, name []byte) rule {
	switch n { //nolint:exhaustive // the others are of other languages
	case listResponse:
		switch string(name) {
		case "data", "results":
			return rule{kind: Content, in: listItem, role: Assistant}
		}
	case listItem:
		switch string(name) {
		case "revised_prompt":
			return rule{kind: Content, role: Assistant}
		case "b64_json", "url":
			return rule{kind: Media, role: Assistant}
		case "document":
			return rule{kind: Content, in: inputDocument, role: User, repeat: true}
		}
	case listTranscript, listSegment:
		switch string(name) {
		case "text", "word":
			return rule{kind: Content, role: Assistant}
		case "segments", "words":
			return rule{kind: Content, in: listSegment, role: Assistant, repeat: true}
		case "logprobs":
			return rule{kind: Logprobs, repeat: true}
		}
	case listAudioEvent:
		switch string(name) {
		case "delta", "text":
			return rule{kind: Content, role: Assistant}
		case "audio":
			return rule{kind: Media, role: Assistant}
		case "logprobs":
			return rule{kind: Logprobs, repeat: true}
		}
	}
	return rule{}
}
