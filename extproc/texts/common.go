package texts

// What tools and the form of the response are described with. The languages differ in their nesting, and
// not in the names.
const (
	toolNode = commonNodes + iota
	formatNode
	mediaNode
	citationNode
)

func common(n node, name []byte) rule {
	switch n { //nolint:exhaustive // the others are of other languages
	case toolNode:
		return tool(name)
	case formatNode:
		return format(name)
	case mediaNode:
		return media(name)
	case citationNode:
		return citation(name)
	}
	return rule{kind: Other}
}

// tool is the rule for a member of a tool, or of a server with tools.
func tool(name []byte) rule {
	switch string(name) {
	case "type", "strict", "cache_control", "defer_loading", "eager_input_streaming",
		"server_url", "url", "headers", "authorization", "authorization_token", "connector_id", "container", "vector_store_ids", "file_ids":
		return rule{}
	case "name", "server_label":
		return rule{kind: ToolName}
	case "description", "server_description":
		return rule{kind: Description}
	case "parameters", "input_schema", "format":
		return rule{kind: Schema}
	case "function", "custom", "tools":
		return rule{kind: Other, in: toolNode}
	}
	return rule{kind: Other}
}

// format is the rule for a member of what says which form the response must have.
func format(name []byte) rule {
	switch string(name) {
	case "type", "strict", "verbosity", "effort":
		return rule{}
	case "json_schema", "format":
		return rule{kind: Format, in: formatNode}
	case "name":
		return rule{kind: Name}
	case "description":
		return rule{kind: Description}
	case "schema":
		return rule{kind: Format}
	}
	return rule{kind: Other}
}

// media is the rule for a member of what describes a picture, sound or a file.
func media(name []byte) rule {
	switch string(name) {
	case "url", "data", "file_data", "file_url":
		return rule{kind: Media}
	case "filename":
		return rule{kind: Name}
	case "transcript":
		return rule{kind: Transcript}
	case "type", "id", "file_id", "format", "detail", "media_type", "mime_type", "expires_at":
		return rule{}
	}
	return rule{kind: Other}
}

// cited is the rule for the sources that an answer names. The caller reads them. No model does: those of requests are
// skipped.
func (w *walker) cited() rule {
	if w.answer {
		return rule{kind: Citation, in: citationNode}
	}
	return rule{}
}

// citation is the rule for a member of what describes a source.
func citation(name []byte) rule {
	switch string(name) {
	case "type", "id", "file_id", "container_id", "encrypted_index", "url":
		return rule{}
	}
	return rule{kind: Citation, in: citationNode}
}
