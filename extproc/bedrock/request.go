package bedrock

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/dialect"
)

// request is the body of Converse and ConverseStream.
type request struct {
	Messages    []message      `json:"messages"`
	System      []block        `json:"system,omitzero"`
	Inference   inference      `json:"inferenceConfig,omitzero"`
	Tools       *toolConfig    `json:"toolConfig,omitzero"`
	Guardrail   jsontext.Value `json:"guardrailConfig,omitzero"`
	Fields      jsontext.Value `json:"additionalModelRequestFields,omitzero"` // of the model's own API
	Metadata    jsontext.Value `json:"requestMetadata,omitzero"`
	Performance jsontext.Value `json:"performanceConfig,omitzero"`
	Tier        *serviceTier   `json:"serviceTier,omitzero"`
	Output      *outputConfig  `json:"outputConfig,omitzero"`
}

type inference struct {
	MaxTokens   *dialect.Whole `json:"maxTokens,omitzero"`
	Temperature *float64       `json:"temperature,omitzero"`
	TopP        *float64       `json:"topP,omitzero"`
	Stop        []string       `json:"stopSequences,omitzero"`
}

type serviceTier struct {
	Type string `json:"type"`
}

type outputConfig struct {
	Text   *textFormat `json:"textFormat,omitzero"`
	Effort string      `json:"effort,omitzero"`
}

type textFormat struct {
	Type      string `json:"type"`
	Structure struct {
		Schema jsonSchema `json:"jsonSchema"`
	} `json:"structure"`
}

// jsonSchema has a schema as a text.
type jsonSchema struct {
	Schema      string `json:"schema"`
	Name        string `json:"name,omitzero"`
	Description string `json:"description,omitzero"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a block of a message, of system or of a tool's result: it has one of the members.
type block struct {
	Text       *string     `json:"text,omitzero"`
	Image      *medium     `json:"image,omitzero"`
	Document   *document   `json:"document,omitzero"`
	Video      *medium     `json:"video,omitzero"`
	Audio      *medium     `json:"audio,omitzero"`
	ToolUse    *toolUse    `json:"toolUse,omitzero"`
	ToolResult *toolResult `json:"toolResult,omitzero"`
	Reasoning  *reasoning  `json:"reasoningContent,omitzero"`
	CachePoint *cachePoint `json:"cachePoint,omitzero"`
}

// medium is a picture, a video or sound.
type medium struct {
	Format string `json:"format"`
	Source source `json:"source"`
}

type source struct {
	Bytes string `json:"bytes"` // base64
}

type document struct {
	Format    string     `json:"format"`
	Name      string     `json:"name"`
	Source    source     `json:"source"`
	Context   string     `json:"context,omitzero"`
	Citations *citations `json:"citations,omitzero"`
}

type citations struct {
	Enabled bool `json:"enabled"`
}

type toolUse struct {
	ID    string         `json:"toolUseId"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`
}

type toolResult struct {
	ID      string  `json:"toolUseId"`
	Content []block `json:"content"`
	Status  string  `json:"status,omitzero"`
}

type reasoning struct {
	Text     *reasoningText `json:"reasoningText,omitzero"`
	Redacted string         `json:"redactedContent,omitzero"` // base64
}

type reasoningText struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitzero"`
}

type cachePoint struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitzero"`
}

type toolConfig struct {
	Tools  []tool      `json:"tools"`
	Choice *toolChoice `json:"toolChoice,omitzero"`
}

// tool is a function, a tool of Bedrock's own, or a cache point.
type tool struct {
	Spec       *toolSpec   `json:"toolSpec,omitzero"`
	System     *systemTool `json:"systemTool,omitzero"`
	CachePoint *cachePoint `json:"cachePoint,omitzero"`
}

type toolSpec struct {
	Name        string      `json:"name"`
	Description string      `json:"description,omitzero"`
	Schema      inputSchema `json:"inputSchema"`
	Strict      *bool       `json:"strict,omitzero"`
}

type inputSchema struct {
	JSON jsontext.Value `json:"json"`
}

type systemTool struct {
	Name string `json:"name"`
}

// toolChoice has one of the members.
type toolChoice struct {
	Auto *struct{}   `json:"auto,omitzero"`
	Any  *struct{}   `json:"any,omitzero"`
	Tool *systemTool `json:"tool,omitzero"`
}
