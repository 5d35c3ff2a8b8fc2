package wire

import (
	"github.com/go-json-experiment/json/jsontext"
)

// Dialect names a language of chat requests and responses, as configuration and metrics show it.
type Dialect string

// The dialects that callers or providers speak.
const (
	OpenAI      Dialect = "openai"      // POST /v1/chat/completions
	Anthropic   Dialect = "anthropic"   // POST /v1/messages
	Responses   Dialect = "responses"   // POST /v1/responses
	Completions Dialect = "completions" // POST /v1/completions
	Mistral     Dialect = "mistral"     // POST /v1/chat/completions of Mistral; of providers only
	Cohere      Dialect = "cohere"      // POST /v2/chat
	Gemini      Dialect = "gemini"      // generateContent
	Imported    Dialect = "imported"    // OpenAI's chats as bodies of Bedrock's InvokeModel; of providers only
	Vertex      Dialect = "vertex"      // countTokens of Vertex AI, whose requests differ from Gemini's; of providers only
	Voyage      Dialect = "voyage"      // embeddings and rankings of Voyage; of providers only
	Jina        Dialect = "jina"        // embeddings and rankings of Jina; of providers only
	ElevenLabs  Dialect = "elevenlabs"  // speech and transcriptions of ElevenLabs; of providers only
	Deepgram    Dialect = "deepgram"    // speech and transcriptions of Deepgram; of providers only
	Converse    Dialect = "converse"    // Converse of Amazon Bedrock
)

// IsOpenAIs reports whether a language is one of OpenAI's, which the canonical form names members in. Empty means OpenAI.
func (d Dialect) IsOpenAIs() bool {
	switch d { //nolint:exhaustive // a language that is new is not OpenAI's
	case "", OpenAI, Responses, Completions:
		return true
	}
	return false
}

// Request is what a caller wants from a model.
type Request struct {
	Caller   Dialect // the caller's language, whose words Extra is in; empty means OpenAI
	Model    string  // the alias that the caller named; drivers send the target's own model name instead
	Messages []Message

	Tools         []Tool
	ToolChoice    ToolChoice
	ParallelTools *bool // may the model call several tools at once; nil means the provider's default
	Functions     bool  // the tools came as OpenAI's deprecated functions, and calls go back as function_call

	Format    Format
	Reasoning Reasoning
	Sampling  Sampling
	MaxTokens *int64   // most tokens of output, at least 1; nil means the provider's default
	Stop      []string // texts that end the response

	User       string         // the caller's end user
	Metadata   jsontext.Value // object of the caller's own labels; nil if none
	Audio      jsontext.Value // object: the form of spoken responses; nil if none
	Modalities []string       // kinds of output requested; empty means text
	WebSearch  *WebSearch     // nil unless the model may search the web by itself

	Stream       bool
	IncludeUsage bool // the caller wants the usage chunk at the end of a stream

	Extra []Field // top-level members without a field above, in the order of the request

	// Echo has the members that the caller's language repeats in its responses, as a
	// JSON object; nil if it repeats none. Drivers do not use it.
	Echo jsontext.Value
}

// Sampling is how the next token is selected. nil means not specified.
type Sampling struct {
	Temperature      *float64 // 0 to 2
	TopP             *float64 // 0 to 1
	FrequencyPenalty *float64 // -2 to 2
	PresencePenalty  *float64 // -2 to 2
	N                *int64   // number of choices, 1 to 128
	Seed             *int64
	Logprobs         *bool
	TopLogprobs      *int64         // 0 to 20
	LogitBias        jsontext.Value // object from token to bias; nil if none
}

// FormatKind is the form that the response's text must have.
type FormatKind uint8

// The forms.
const (
	FormatText   FormatKind = iota // anything
	FormatObject                   // a JSON object
	FormatSchema                   // JSON that fits Format.Schema
)

// Format is the form that the response's text must have.
type Format struct {
	Kind        FormatKind
	Name        string         // of the schema
	Description string         // of the schema
	Schema      jsontext.Value // JSON schema; nil unless Kind is FormatSchema
	Strict      *bool
}

// Reasoning is how much the model may think before it responds. The zero value
// leaves that to the provider.
type Reasoning struct {
	Effort string // none, minimal, low, medium, high, xhigh or max; empty if not specified
	Mode   string // enabled, adaptive, disabled or between_tools, as Anthropic's thinking.type; empty if not specified
	Budget int64  // most tokens of thinking with Mode enabled; 0 if not specified
	// Summary is how much of the reasoning the caller wants to read: auto, concise or
	// detailed; empty if not specified. It is a hint.
	Summary string
	Display string // the same in Anthropic's words: summarized or omitted; empty if not specified
}

// BudgetOf returns the tokens of thinking that an effort means.
func BudgetOf(effort string) int64 {
	switch effort {
	case "medium":
		return 2048
	case "high":
		return 4096
	case "xhigh":
		return 8192
	case "max":
		return 16384
	}
	return 1024 // minimal and low
}

// EffortOf returns the effort that a budget of thinking means.
func EffortOf(budget int64) string {
	switch {
	case budget <= BudgetOf("low"):
		return "low"
	case budget <= BudgetOf("medium"):
		return "medium"
	}
	return "high"
}

// Word returns how much to think as an effort alone, for languages without a mode and a
// budget; empty if that is left to the provider.
func (r *Reasoning) Word() string {
	if r.Effort != "" || r.Mode != "enabled" {
		return r.Effort
	}
	return EffortOf(r.Budget)
}

// WebSearch lets the model search the web.
type WebSearch struct {
	ContextSize string         // low, medium or high; empty if not specified
	Location    jsontext.Value // object with city, country, region, timezone; nil if none
	MostUses    int64          // most searches of one response; 0 if not specified
	Allowed     []string       // the only domains to search; nil means all
	Blocked     []string       // domains not to search
	Version     string         // type of Anthropic's tool that the caller named, such as web_search_20250305; empty if none
	Cache       jsontext.Value // Anthropic's cache_control object; nil if none
}

// Field is a member of the request that the canonical form has no field for.
type Field struct {
	Name  string
	Value jsontext.Value
}

// ExtraNamed returns the unknown member of that name, nil if there is none.
func (a *Request) ExtraNamed(name string) jsontext.Value {
	for _, f := range a.Extra {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}
