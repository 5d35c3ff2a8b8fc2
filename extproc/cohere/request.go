package cohere

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/dialect"
)

// request is the body of a chat.
type request struct {
	Model            string          `json:"model"`
	Messages         []message       `json:"messages"`
	Tools            []tool          `json:"tools,omitzero"`
	StrictTools      bool            `json:"strict_tools,omitzero"`
	ToolChoice       string          `json:"tool_choice,omitzero"`
	ResponseFormat   *responseFormat `json:"response_format,omitzero"`
	Thinking         *thinking       `json:"thinking,omitzero"`
	MaxTokens        *dialect.Whole  `json:"max_tokens,omitzero"`
	StopSequences    []string        `json:"stop_sequences,omitzero"`
	Temperature      *float64        `json:"temperature,omitzero"`
	P                *float64        `json:"p,omitzero"`
	K                jsontext.Value  `json:"k,omitzero"`
	Seed             *int64          `json:"seed,omitzero"`
	FrequencyPenalty *float64        `json:"frequency_penalty,omitzero"`
	PresencePenalty  *float64        `json:"presence_penalty,omitzero"`
	Stream           bool            `json:"stream"`
	Extra            jsontext.Value  `json:",embed"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters"`
}

type responseFormat struct {
	Type   string         `json:"type"`
	Schema jsontext.Value `json:"json_schema,omitzero"`
}

type thinking struct {
	Type   string `json:"type"`
	Budget int64  `json:"token_budget,omitzero"`
}

// message is a turn.
type message struct {
	Role       string     `json:"role"`
	Content    []part     `json:"content,omitzero"`
	ToolPlan   string     `json:"tool_plan,omitzero"`
	ToolCalls  []toolCall `json:"tool_calls,omitzero"`
	ToolCallID string     `json:"tool_call_id,omitzero"`
}

// part is a piece of content.
type part struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitzero"`
	ImageURL *imageURL `json:"image_url,omitzero"`
	Document *document `json:"document,omitzero"`
}

type imageURL struct {
	URL    string `json:"url"`
	Detail string `json:"detail,omitzero"`
}

type document struct {
	Data jsontext.Value `json:"data"`
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
