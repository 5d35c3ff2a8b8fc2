package mistral

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/dialect"
)

// request is the body of a chat.
type request struct {
	Model             string          `json:"model"`
	Messages          []message       `json:"messages"`
	Tools             []tool          `json:"tools,omitzero"`
	ToolChoice        jsontext.Value  `json:"tool_choice,omitzero"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls,omitzero"`
	ResponseFormat    *responseFormat `json:"response_format,omitzero"`
	ReasoningEffort   string          `json:"reasoning_effort,omitzero"`
	Temperature       *float64        `json:"temperature,omitzero"`
	TopP              *float64        `json:"top_p,omitzero"`
	PresencePenalty   *float64        `json:"presence_penalty,omitzero"`
	FrequencyPenalty  *float64        `json:"frequency_penalty,omitzero"`
	N                 *dialect.Whole  `json:"n,omitzero"`
	RandomSeed        *int64          `json:"random_seed,omitzero"`
	MaxTokens         *dialect.Whole  `json:"max_tokens,omitzero"`
	Stop              []string        `json:"stop,omitzero"`
	Metadata          jsontext.Value  `json:"metadata,omitzero"`
	Stream            bool            `json:"stream,omitzero"`
	Extra             jsontext.Value  `json:",embed"`
}

type responseFormat struct {
	Type       string      `json:"type"`
	JSONSchema *jsonSchema `json:"json_schema,omitzero"`
}

type jsonSchema struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Schema      jsontext.Value `json:"schema"`
	Strict      *bool          `json:"strict,omitzero"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters"`
	Strict      *bool          `json:"strict,omitzero"`
}

type toolChoice struct {
	Type     string       `json:"type"`
	Function functionName `json:"function"`
}

type functionName struct {
	Name string `json:"name"`
}

// message is a turn. Its content is a text, a list of chunks, or null.
type message struct {
	Role       string     `json:"role"`
	Content    content    `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitzero"`
	ToolCallID string     `json:"tool_call_id,omitzero"`
	Name       string     `json:"name,omitzero"`
	Prefix     bool       `json:"prefix,omitzero"`
}

type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function functionCall `json:"function"`
}

type functionCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// chunk is a piece of content.
type chunk struct {
	Type         string    `json:"type"`
	Text         *string   `json:"text,omitzero"`
	ImageURL     *imageURL `json:"image_url,omitzero"`
	DocumentURL  string    `json:"document_url,omitzero"`
	DocumentName string    `json:"document_name,omitzero"`
	InputAudio   string    `json:"input_audio,omitzero"`
	Thinking     []chunk   `json:"thinking,omitzero"`
	Signature    string    `json:"signature,omitzero"`
}

type imageURL struct {
	URL    string `json:"url"`
	Detail string `json:"detail,omitzero"`
}
