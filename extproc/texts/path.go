package texts

import "strconv"

// Paths names places in one body, such as messages[2].content[0].text. Places in ascending order take
// time linear in the body together.
type Paths struct {
	b    []byte
	open []step // the objects and arrays around the last place, from the outermost
}

// step is an object or array, and its member or element in which the place is.
type step struct {
	object bool
	at     int    // of the value of the member or element
	end    int    // of that value; 0: it is not known yet
	n      int    // index of the element
	name   []byte // of the member
}

// NewPaths returns the paths of a body, which must be JSON that a scanner has accepted.
func NewPaths(body []byte) *Paths { return &Paths{b: body} }

// At returns the path of the value that is at an offset or around it, and empty for that of the body.
func (p *Paths) At(off int) string {
	p.find(off)
	return p.text(appendName)
}

// Place is At for records: a name that no language has is *, because a caller or a model may have written
// a text in its place.
func (p *Paths) Place(off int) string {
	p.find(off)
	return p.text(appendMember)
}

// find opens the objects and arrays around an offset.
func (p *Paths) find(off int) {
	for len(p.open) > 0 && !p.seek(&p.open[len(p.open)-1], off) {
		p.open = p.open[:len(p.open)-1]
	}
	i := space(p.b, 0)
	if n := len(p.open); n > 0 {
		i = p.open[n-1].at
	}
	for i < len(p.b) && i < off && (p.b[i] == '{' || p.b[i] == '[') {
		s := step{object: p.b[i] == '{', at: i, n: -1}
		if !p.next(&s, i+1) || !p.seek(&s, off) {
			break
		}
		p.open = append(p.open, s)
		i = s.at
	}
}

// seek moves a step to the member or element in which an offset is, and reports whether there is one.
func (p *Paths) seek(s *step, off int) bool {
	for {
		if off < s.at {
			return false
		}
		if s.end == 0 { // once for each value, or places would take time in the square of the body
			s.end = skip(p.b, s.at)
		}
		if off < s.end {
			return true
		}
		if !p.next(s, s.end) {
			return false
		}
	}
}

// next moves a step to the member or element after i.
func (p *Paths) next(s *step, i int) bool {
	s.end = 0
	if !s.object {
		at, ok := element(p.b, i)
		s.at, s.n = at, s.n+1
		return ok
	}
	text, at, ok := name(p.b, i)
	s.at, s.name = at, text
	return ok
}

// text returns the path of the open steps. add appends the name of a member.
func (p *Paths) text(add func(dst, name []byte) []byte) string {
	var out []byte
	for i := range p.open {
		if s := &p.open[i]; s.object {
			out = add(out, s.name)
		} else {
			out = append(strconv.AppendInt(append(out, '['), int64(s.n), 10), ']')
		}
	}
	return string(out)
}

func appendName(dst, name []byte) []byte {
	if !plainName(name) { // a name with a dot would look like two
		return append(strconv.AppendQuote(append(dst, '['), string(name)), ']')
	}
	return append(appendDot(dst), name...)
}

func appendMember(dst, name []byte) []byte {
	return append(appendDot(dst), Member(string(name))...)
}

func appendDot(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, '.')
	}
	return dst
}

// Member returns the name of a member or a form's field for records: * for one that no language has.
func Member(name string) string {
	switch name {
	case "action", "allowed_tools", "annotation", "annotations", "arguments", "audio", "audio_url", "b64_json", "choices", "citation", "citations",
		"cited_text", "code", "command", "container_file_citation", "content", "content_block", "context", "custom", "data", "delta", "description",
		"document", "document_title", "documents", "env", "error", "file", "file_citation", "file_data", "file_path", "file_url", "filename", "format",
		"function", "function_call", "functions", "image", "image_url", "input", "input_audio", "input_schema", "instructions", "item", "json_schema",
		"language", "logprobs", "logs", "mask", "mcp_servers", "message", "messages", "name", "negative_prompt", "output", "output_config", "outputs",
		"parameters", "part", "partial_image_b64", "partial_json", "prediction", "prompt", "queries", "query", "quote", "rank_fields", "reason",
		"reasoning", "reasoning_content", "refusal", "response", "response_format", "result", "results", "revised_prompt", "schema", "segments",
		"server_description", "server_label", "server_name", "source", "sources", "stderr", "stdout", "stop", "stop_sequences", "suffix", "summary", "system", "text",
		"thinking", "title", "tool_calls", "tool_choice", "tool_output", "tool_plan", "tools", "transcript", "url", "url_citation", "user_location", "variables", "video_url", "word",
		"words":
		return name
	}
	return contentsMember(name)
}

// contentsMember is Member for the names of Gemini's language.
func contentsMember(name string) string {
	switch name {
	case "args", "candidates", "codeExecutionResult", "code_execution_result", "contents", "displayName", "display_name", "executableCode", "executable_code",
		"fileData", "fileUri", "file_uri", "functionCall", "functionDeclarations", "functionResponse", "function_declarations", "function_response",
		"generateContentRequest", "generate_content_request", "generationConfig", "generation_config", "inlineData", "inline_data", "logprobsResult", "logprobs_result",
		"parametersJsonSchema", "parameters_json_schema", "parts", "responseJsonSchema", "responseSchema", "response_json_schema", "response_schema", "stopSequences",
		"systemInstruction", "system_instruction", "toolCall", "toolResponse", "tool_call", "tool_response":
		return name
	}
	return converseMember(name)
}

// converseMember is Member for the names of Bedrock's language.
func converseMember(name string) string {
	switch name {
	case "additionalModelRequestFields", "additionalModelResponseFields", "bytes", "citationsContent", "converse", "domain", "guardContent", "inferenceConfig",
		"inputSchema", "json", "jsonSchema", "location", "outputConfig", "promptVariables", "reasoningContent", "reasoningText", "s3Location", "searchResult",
		"sourceContent", "start", "structure", "systemTool", "textFormat", "toolConfig", "toolResult", "toolSpec", "toolUse", "video", "web":
		return name
	}
	return "*"
}

// plainName reports whether a name can stand in a path as it is.
func plainName(name []byte) bool {
	for _, c := range name {
		if c|0x20 < 'a' || c|0x20 > 'z' {
			if c != '_' && c != '-' && c-'0' > 9 {
				return false
			}
		}
	}
	return len(name) > 0
}
