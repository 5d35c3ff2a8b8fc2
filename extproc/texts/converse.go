package texts

// Converse reads Amazon Bedrock's requests of Converse, and those that count its tokens.
func Converse() Reader {
	return Reader{request: converseRequest, answer: converseResponse, event: converseEvent}
}

const (
	converseRequest = converseNodes + iota
	converseInput
	converseConfig
	converseOutput
	converseTools
	converseTool
	converseMessage
	converseBlock
	converseGuard
	converseUse
	converseResult
	converseThought
	converseMedia
	converseSource
	converseSearch
	converseVariable
	converseResponse
	converseMade
	converseAnswerBlock
	converseEvent
	converseDelta
)

// converse is the rule for a member of an object of Bedrock's language.
func (w *walker) converse(n node, name []byte) rule {
	switch n { //nolint:exhaustive // the others are of other languages
	case converseRequest:
		return converseRequestMember(name)
	case converseInput: // of a count
		if string(name) == "converse" {
			return rule{kind: Other, in: converseRequest}
		}
		return rule{kind: Other}
	case converseConfig:
		if string(name) == "stopSequences" {
			return rule{kind: Other}
		}
		return rule{}
	case converseOutput:
		return converseOutputMember(name)
	case converseTools, converseTool:
		return converseToolMember(name)
	case converseMessage:
		switch string(name) {
		case "role":
			return rule{}
		case "content":
			return rule{kind: w.at.said, in: converseBlock}
		}
		return rule{kind: Other}
	case converseBlock, converseAnswerBlock, converseDelta:
		return w.converseBlockMember(name)
	case converseGuard:
		if string(name) == "image" {
			return rule{kind: w.at.said, in: converseMedia}
		}
		// Its text is an object.
		return rule{kind: w.at.said, in: converseBlock}
	case converseUse, converseResult:
		return w.converseCallMember(name)
	case converseThought:
		return w.converseThoughtMember(name)
	case converseMedia, converseSource:
		return w.converseMediaMember(name)
	case converseSearch:
		return w.converseSearchMember(name)
	case converseVariable:
		return rule{kind: Other, in: converseVariable}
	case converseResponse, converseMade:
		return converseResponseMember(name)
	case converseEvent:
		switch string(name) {
		case "start", "delta":
			return rule{kind: Content, in: converseDelta, role: Assistant}
		case "additionalModelResponseFields":
			return rule{kind: Content, role: Assistant}
		}
	}
	return rule{}
}

func converseRequestMember(name []byte) rule {
	switch string(name) {
	case "messages":
		return rule{kind: Other, in: converseMessage}
	case "system":
		return rule{kind: Content, in: converseBlock, role: System}
	case "toolConfig":
		return rule{kind: Other, in: converseTools}
	case "inferenceConfig":
		return rule{kind: Other, in: converseConfig}
	case "outputConfig":
		return rule{kind: Other, in: converseOutput}
	case "input": // of a count
		return rule{kind: Other, in: converseInput}
	case "promptVariables":
		return rule{kind: Other, in: converseVariable}
	case "guardrailConfig", "performanceConfig", "requestMetadata", "serviceTier", "additionalModelResponseFieldPaths":
		return rule{}
	}
	return topLevel(name)
}

// converseToolMember is the rule for a member of what says which tools there are.
func converseToolMember(name []byte) rule {
	switch string(name) {
	case "tools", "toolSpec", "systemTool":
		return rule{kind: Other, in: converseTool}
	case "name":
		return rule{kind: ToolName}
	case "description":
		return rule{kind: Description}
	case "inputSchema":
		return rule{kind: Schema}
	case "toolChoice", "cachePoint", "strict":
		return rule{}
	}
	return rule{kind: Other}
}

// converseOutputMember is the rule for a member of what says which form the response must have.
func converseOutputMember(name []byte) rule {
	switch string(name) {
	case "textFormat", "structure", "jsonSchema":
		return rule{kind: Format, in: converseOutput}
	case "name":
		return rule{kind: Name}
	case "description":
		return rule{kind: Description}
	case "schema":
		return rule{kind: Format}
	case "type", "effort":
		return rule{}
	}
	return rule{kind: Other}
}

// converseBlockMember is the rule for a member of a block, or of the beginning or the delta of one.
func (w *walker) converseBlockMember(name []byte) rule {
	switch string(name) {
	case "text":
		return rule{kind: w.at.said}
	case "json":
		return rule{kind: w.at.said}
	case "image", "document", "video", "audio":
		return rule{kind: w.at.said, in: converseMedia}
	case "toolUse":
		return rule{kind: Arguments, in: converseUse}
	case "toolResult":
		return rule{kind: Result, in: converseResult, role: Tool}
	case "reasoningContent":
		return rule{kind: Reasoning, in: converseThought}
	case "guardContent":
		return rule{kind: w.at.said, in: converseGuard}
	case "citationsContent":
		return rule{kind: w.at.said, in: converseBlock}
	case "content": // of citationsContent
		return rule{kind: w.at.said, in: converseBlock}
	case "citation", "citations":
		return w.cited()
	case "searchResult":
		return rule{kind: w.at.said, in: converseSearch}
	case "cachePoint", "qualifiers":
		return rule{}
	}
	return rule{kind: Other}
}

// converseCallMember is the rule for a member of a call, or of its result.
func (w *walker) converseCallMember(name []byte) rule {
	switch string(name) {
	case "toolUseId", "status", "type":
		return rule{}
	case "name":
		return rule{kind: ToolName}
	case "input":
		return rule{kind: Arguments}
	case "content":
		return rule{kind: Result, in: converseBlock}
	}
	return rule{kind: Other}
}

func (w *walker) converseThoughtMember(name []byte) rule {
	switch string(name) {
	case "reasoningText":
		return rule{kind: Reasoning, in: converseThought}
	case "text":
		return rule{kind: Reasoning}
	case "signature", "redactedContent":
		return rule{}
	}
	return rule{kind: Other}
}

// converseMediaMember is the rule for a member of a medium or a document, or of where it comes from.
func (w *walker) converseMediaMember(name []byte) rule {
	switch string(name) {
	case "source":
		return rule{kind: w.at.said, in: converseSource}
	case "bytes", "s3Location":
		return rule{kind: Media}
	case "text", "context":
		return rule{kind: w.at.said}
	case "content":
		return rule{kind: w.at.said, in: converseBlock}
	case "name":
		return rule{kind: Name}
	case "format", "citations", "error":
		return rule{}
	}
	return rule{kind: Other}
}

func (w *walker) converseSearchMember(name []byte) rule {
	switch string(name) {
	case "source", "title":
		return rule{kind: w.at.said}
	case "content":
		return rule{kind: w.at.said, in: converseBlock}
	case "citations":
		return rule{}
	}
	return rule{kind: Other}
}

// converseResponseMember is the rule for a member of a response, or of what it has around its message.
func converseResponseMember(name []byte) rule {
	switch string(name) {
	case "output":
		return rule{kind: Content, in: converseMade}
	case "message":
		return rule{kind: Content, in: converseMade, role: Assistant}
	case "content":
		return rule{kind: Content, in: converseAnswerBlock}
	case "additionalModelResponseFields":
		return rule{kind: Content, role: Assistant}
	}
	return rule{}
}

// converse reads an event of Bedrock's streams. Events differ in their members.
func (f *Flow) converse(b []byte, i int) {
	switch {
	case member(b, i, "delta") > 0:
		f.Bare = true
	case member(b, i, "start") > 0, member(b, i, "role") > 0:
	case member(b, i, "contentBlockIndex") > 0:
		f.Item = index(b, i, "contentBlockIndex", 0)
	default:
		f.All = true
	}
}
