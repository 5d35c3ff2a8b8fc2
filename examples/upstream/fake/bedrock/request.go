package bedrock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Request is a request for Bedrock's Converse.
type Request struct {
	Messages []struct {
		Role    string  `json:"role"`
		Content []Block `json:"content"`
	} `json:"messages"`
	System    []Block `json:"system"`
	Inference struct {
		MaxTokens   *int     `json:"maxTokens"`
		Temperature *float64 `json:"temperature"`
		TopP        *float64 `json:"topP"`
		Stop        []string `json:"stopSequences"`
	} `json:"inferenceConfig"`
	Tools struct {
		Tools []struct {
			Spec *struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				Schema      struct {
					JSON json.RawMessage `json:"json"`
				} `json:"inputSchema"`
				Strict bool `json:"strict"`
			} `json:"toolSpec"`
			System     json.RawMessage `json:"systemTool"`
			CachePoint json.RawMessage `json:"cachePoint"`
		} `json:"tools"`
		Choice struct {
			Auto json.RawMessage `json:"auto"`
			Any  json.RawMessage `json:"any"`
			Tool struct {
				Name string `json:"name"`
			} `json:"tool"`
		} `json:"toolChoice"`
	} `json:"toolConfig"`
	Guardrail   json.RawMessage `json:"guardrailConfig"`
	Fields      json.RawMessage `json:"additionalModelRequestFields"` // of the model's own API
	Metadata    json.RawMessage `json:"requestMetadata"`
	Performance json.RawMessage `json:"performanceConfig"`
	Tier        json.RawMessage `json:"serviceTier"`
	Output      struct {
		Text struct {
			Type      string `json:"type"`
			Structure struct {
				Schema struct {
					Schema      string `json:"schema"`
					Name        string `json:"name"`
					Description string `json:"description"`
				} `json:"jsonSchema"`
			} `json:"structure"`
		} `json:"textFormat"`
		Effort string `json:"effort"`
	} `json:"outputConfig"`
}

// Block is a block of content, of a request or an answer.
type Block struct {
	Text       string          `json:"text,omitempty"`
	JSON       json.RawMessage `json:"json,omitempty"` // of a tool's result
	Image      json.RawMessage `json:"image,omitempty"`
	Document   json.RawMessage `json:"document,omitempty"`
	Audio      json.RawMessage `json:"audio,omitempty"`
	CachePoint json.RawMessage `json:"cachePoint,omitempty"`
	ToolUse    *Use            `json:"toolUse,omitempty"`
	ToolResult *struct {
		ID      string  `json:"toolUseId"`
		Content []Block `json:"content"`
		Status  string  `json:"status"`
	} `json:"toolResult,omitempty"`
	Reasoning *Reasoning `json:"reasoningContent,omitempty"`
}

// Use is a call of a tool.
type Use struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input,omitempty"`
}

// Reasoning is a block of thinking.
type Reasoning struct {
	Text struct {
		Text      string `json:"text"`
		Signature string `json:"signature"`
	} `json:"reasoningText"`
}

// ClaudeVersions are the versions of Anthropic's API in the bodies of InvokeModel.
func ClaudeVersions() []string { return []string{"bedrock-2023-05-31", "2026-10-21"} }

// Read reads a request. A problem is what Bedrock would say of it, empty if it takes it.
func Read(body []byte) (q *Request, problem string) {
	q = &Request{}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(q); err != nil {
		return nil, err.Error()
	}
	return q, q.check()
}

// Thinks reports whether the request enables the thinking of a Claude.
func (q *Request) Thinks() bool {
	var own struct {
		Thinking struct {
			Type string `json:"type"`
		} `json:"thinking"`
	}
	_ = json.Unmarshal(q.Fields, &own) // there may be none
	return own.Thinking.Type == "enabled" || own.Thinking.Type == "adaptive"
}

// check says what Bedrock would refuse, as far as a gateway may get it wrong.
func (q *Request) check() string {
	if len(q.Messages) == 0 {
		return "The messages field is empty. Add a message and try again."
	}
	offered, used := map[string]bool{}, map[string]bool{}
	for _, t := range q.Tools.Tools {
		if t.Spec != nil {
			offered[t.Spec.Name] = true
		}
	}
	for i, m := range q.Messages {
		switch {
		case m.Role != []string{"user", "assistant"}[i%2]:
			return "A conversation must alternate between user and assistant roles, and start with a user message."
		case len(m.Content) == 0:
			return fmt.Sprintf("The content field in the Message object at messages.%d is empty.", i)
		}
		for k, c := range m.Content {
			if problem := c.check(used, offered); problem != "" {
				return fmt.Sprintf("%s (messages.%d.content.%d)", problem, i, k)
			}
		}
	}
	return ""
}

// check says what is wrong with a block.
func (c *Block) check(used, offered map[string]bool) string {
	switch {
	case c.ToolUse != nil && len(offered) == 0:
		return "The toolConfig field must be defined when using toolUse and toolResult content blocks."
	case c.ToolUse != nil:
		used[c.ToolUse.ID] = true
	case c.ToolResult != nil && !used[c.ToolResult.ID]:
		return "The toolResult has the toolUseId of no toolUse before it."
	case c.ToolResult != nil:
		for i := range c.ToolResult.Content {
			if c.ToolResult.Content[i].CachePoint != nil {
				return "A toolResult has no cachePoint."
			}
		}
	case c.Text != "" && strings.TrimSpace(c.Text) == "":
		return "The text field in the ContentBlock object is blank."
	case c.Text == "" && c.Image == nil && c.Document == nil && c.Audio == nil && c.CachePoint == nil && c.Reasoning == nil:
		return "The ContentBlock object has no content."
	}
	return ""
}
