package texts

// Contents reads Gemini's requests for content. Their names may be in camel or in snake case.
func Contents() Reader {
	return Reader{request: contentsRequest, answer: contentsAnswer, event: contentsAnswer}
}

const (
	contentsRequest = contentsNodes + iota
	contentsConfig
	contentsTool
	contentsFunction
	contentsSystem
	contentsTurn
	contentsPart
	contentsMedia
	contentsCall
	contentsResult
	contentsCode
	contentsAnswer
	contentsCandidate
	contentsSaid
	contentsAnswerPart
)

// contents is the rule for a member of an object of Gemini's language.
func (w *walker) contents(n node, name []byte) rule {
	switch n { //nolint:exhaustive // the others are of other languages
	case contentsRequest:
		return contentsRequestMember(name)
	case contentsConfig:
		return contentsConfigMember(name)
	case contentsTool:
		return contentsToolMember(name)
	case contentsFunction:
		return contentsFunctionMember(name)
	case contentsSystem, contentsTurn, contentsSaid:
		return w.contentsTurnMember(n, name)
	case contentsPart, contentsAnswerPart:
		return w.contentsPartMember(name)
	case contentsMedia:
		return contentsMediaMember(name)
	case contentsCall, contentsResult:
		return w.contentsCallMember(name)
	case contentsCode:
		switch string(name) {
		case "id", "language", "outcome":
			return rule{}
		}
		return rule{kind: w.at.said}
	case contentsAnswer:
		if string(name) == "candidates" {
			return rule{kind: Content, in: contentsCandidate, role: Assistant}
		}
	case contentsCandidate:
		switch string(name) {
		case "content":
			return rule{kind: Content, in: contentsSaid}
		case "logprobsResult":
			return rule{kind: Logprobs, repeat: true}
		}
	}
	return rule{}
}

func contentsRequestMember(name []byte) rule {
	switch string(name) {
	case "contents":
		return rule{kind: Other, in: contentsTurn, role: User}
	case "systemInstruction", "system_instruction":
		return rule{kind: Content, in: contentsSystem, role: System}
	case "tools":
		return rule{kind: Other, in: contentsTool}
	case "generationConfig", "generation_config":
		return rule{kind: Other, in: contentsConfig}
	case "generateContentRequest", "generate_content_request": // of a count
		return rule{kind: Other, in: contentsRequest}
	case "toolConfig", "tool_config", "safetySettings", "safety_settings", "cachedContent", "cached_content", "labels", "serviceTier", "store":
		return rule{}
	}
	return topLevel(name)
}

func contentsConfigMember(name []byte) rule {
	switch string(name) {
	case "responseSchema", "response_schema", "responseJsonSchema", "response_json_schema":
		return rule{kind: Format}
	case "responseMimeType", "response_mime_type", "responseModalities", "response_modalities", "speechConfig", "speech_config",
		"thinkingConfig", "thinking_config", "mediaResolution", "media_resolution", "imageConfig", "image_config":
		return rule{}
	}
	return rule{kind: Other}
}

// contentsToolMember is the rule for a member of a tool. All but functions run at the provider.
func contentsToolMember(name []byte) rule {
	switch string(name) {
	case "functionDeclarations", "function_declarations":
		return rule{kind: Other, in: contentsFunction}
	case "googleSearch", "google_search", "googleSearchRetrieval", "google_search_retrieval", "enterpriseWebSearch", "enterprise_web_search",
		"codeExecution", "code_execution", "urlContext", "url_context", "googleMaps", "google_maps", "computerUse", "computer_use",
		"fileSearch", "file_search", "retrieval":
		return rule{}
	}
	return rule{kind: Other}
}

func contentsFunctionMember(name []byte) rule {
	switch string(name) {
	case "name":
		return rule{kind: ToolName}
	case "description":
		return rule{kind: Description}
	case "parameters", "parametersJsonSchema", "parameters_json_schema", "response", "responseJsonSchema", "response_json_schema":
		return rule{kind: Schema}
	case "behavior":
		return rule{}
	}
	return rule{kind: Other}
}

// contentsTurnMember is the rule for a member of a content.
func (w *walker) contentsTurnMember(n node, name []byte) rule {
	switch string(name) {
	case "role":
		return rule{}
	case "parts":
		if n == contentsSaid {
			return rule{kind: Content, in: contentsAnswerPart}
		}
		return rule{kind: w.at.said, in: contentsPart}
	}
	return rule{kind: Other}
}

func (w *walker) contentsPartMember(name []byte) rule {
	switch string(name) {
	case "text":
		return rule{kind: w.at.said}
	case "inlineData", "inline_data", "fileData", "file_data":
		return rule{kind: Media, in: contentsMedia}
	case "functionCall", "function_call", "toolCall", "tool_call":
		return rule{kind: Arguments, in: contentsCall}
	case "functionResponse", "function_response", "toolResponse", "tool_response":
		return rule{kind: Result, in: contentsResult, role: Tool}
	case "executableCode", "executable_code":
		return rule{kind: Arguments, in: contentsCode}
	case "codeExecutionResult", "code_execution_result":
		return rule{kind: Result, in: contentsCode, role: Tool}
	case "thought", "thoughtSignature", "thought_signature", "mediaResolution", "media_resolution", "videoMetadata", "video_metadata", "partMetadata", "part_metadata":
		return rule{}
	}
	return rule{kind: Other}
}

func contentsMediaMember(name []byte) rule {
	switch string(name) {
	case "data", "fileUri", "file_uri":
		return rule{kind: Media}
	case "displayName", "display_name":
		return rule{kind: Name}
	}
	return rule{}
}

// contentsCallMember is the rule for a member of a call, or of its result.
func (w *walker) contentsCallMember(name []byte) rule {
	switch string(name) {
	case "id", "toolType", "tool_type", "willContinue", "will_continue", "scheduling":
		return rule{}
	case "name":
		return rule{kind: ToolName}
	case "args", "response":
		return rule{kind: w.at.said}
	case "parts":
		return rule{kind: Result, in: contentsPart}
	}
	return rule{kind: Other}
}

// contentPart notes what a part says of its text: thoughts are texts with a mark. Of two marks either
// counts, as readers differ in which one they take.
func (w *walker) contentPart(i int) {
	for at := i; ; {
		if at = member(w.b, at, "thought"); at == 0 {
			return
		}
		if w.b[at] == 't' {
			w.at.said = Reasoning
			return
		}
		at = skip(w.b, at)
	}
}

// contents reads an event of Gemini's streams. Usage may be in each of them.
func (f *Flow) contents(b []byte, i int) {
	f.Bare = true
	n := 0
	list := member(b, i, "candidates")
	if list == 0 || b[list] != '[' {
		f.All, f.Bare = true, false
		return
	}
	for at, ok := element(b, list+1); ok; at, ok = element(b, at) {
		if b[at] == '{' {
			if finish := member(b, at, "finishReason"); finish > 0 && !absent(b, finish) {
				f.Choices, f.Bare = append(f.Choices, index(b, at, "index", n)), false
			}
			f.Bare = f.Bare && onlyTexts(b, at)
		}
		n++
		at = skip(b, at)
	}
	f.All = n == 0
}

// onlyTexts reports whether the parts of a candidate are texts, without signatures.
func onlyTexts(b []byte, i int) bool {
	content := member(b, i, "content")
	if content == 0 || b[content] != '{' || member(b, i, "groundingMetadata") > 0 {
		return false
	}
	parts := member(b, content, "parts")
	if parts == 0 || b[parts] != '[' {
		return false
	}
	for at, ok := element(b, parts+1); ok; at, ok = element(b, at) {
		if b[at] != '{' {
			return false
		}
		for k := at + 1; ; {
			text, value, more := name(b, k)
			if !more {
				break
			}
			if string(text) != "text" && string(text) != "thought" {
				return false
			}
			k = skip(b, value)
		}
		at = skip(b, at)
	}
	return true
}
