package responses

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// echo is the members of a response that repeat its request. SDKs read them, and OpenAI's
// schema requires most.
type echo struct {
	Background        bool           `json:"background"`
	Instructions      *string        `json:"instructions"`
	MaxOutputTokens   *dialect.Whole `json:"max_output_tokens"`
	MaxToolCalls      *dialect.Whole `json:"max_tool_calls"`
	Metadata          jsontext.Value `json:"metadata"`
	ParallelToolCalls bool           `json:"parallel_tool_calls"`
	Previous          *string        `json:"previous_response_id"`
	PromptCacheKey    jsontext.Value `json:"prompt_cache_key,omitzero"`
	Reasoning         echoReasoning  `json:"reasoning"`
	SafetyIdentifier  jsontext.Value `json:"safety_identifier,omitzero"`
	Temperature       *float64       `json:"temperature"`
	Text              textConfig     `json:"text"`
	ToolChoice        jsontext.Value `json:"tool_choice"`
	Tools             []echoTool     `json:"tools"`
	TopLogprobs       dialect.Whole  `json:"top_logprobs"`
	TopP              *float64       `json:"top_p"`
	Truncation        string         `json:"truncation"`
	User              *string        `json:"user"`
}

type echoReasoning struct {
	Effort  *string `json:"effort"`
	Summary *string `json:"summary"`
}

// echoTool writes parameters and strict of a function even if the request had none, as the
// schema requires, and other tools as they were sent.
type echoTool struct{ *tool }

// MarshalJSONTo writes a tool.
func (t echoTool) MarshalJSONTo(enc *jsontext.Encoder) error {
	if t.Type != toolFunction {
		return enc.WriteValue(t.raw)
	}
	return json.MarshalEncode(enc, &struct {
		Type        string         `json:"type"`
		Name        string         `json:"name"`
		Description string         `json:"description,omitzero"`
		Parameters  jsontext.Value `json:"parameters"`
		Strict      *bool          `json:"strict"`
	}{t.Type, t.Name, t.Description, t.Parameters, t.Strict})
}

// echo keeps what the response repeats.
func (r *request) echo(a *wire.Request) error {
	out := echo{
		MaxOutputTokens: r.MaxOutputTokens, MaxToolCalls: r.MaxToolCalls, Metadata: jsontext.Value("{}"), ParallelToolCalls: true,
		PromptCacheKey: dialect.Present(a.ExtraNamed("prompt_cache_key")), SafetyIdentifier: dialect.Present(a.ExtraNamed("safety_identifier")),
		Temperature: r.Temperature, Text: textConfig{Format: &textFormat{Type: "text"}}, ToolChoice: jsontext.Value(`"auto"`),
		Tools: []echoTool{}, TopP: r.TopP, Truncation: "disabled",
	}
	given := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	out.Instructions, out.User = given(r.Instructions), given(r.User)
	if g := r.Reasoning; g != nil {
		out.Reasoning = echoReasoning{Effort: given(g.Effort), Summary: given(g.summary())}
	}
	if v := dialect.Present(r.Metadata); v != nil {
		out.Metadata = v
	}
	if r.ParallelToolCalls != nil {
		out.ParallelToolCalls = *r.ParallelToolCalls
	}
	if t := r.Text; t != nil {
		out.Text.Verbosity = t.Verbosity
		if t.Format != nil {
			out.Text.Format = t.Format
		}
	}
	if v := dialect.Present(r.ToolChoice); v != nil {
		out.ToolChoice = v
	}
	for i := range r.Tools {
		out.Tools = append(out.Tools, echoTool{&r.Tools[i]})
	}
	if r.TopLogprobs != nil {
		out.TopLogprobs = *r.TopLogprobs
	}
	if r.Truncation != "" {
		out.Truncation = r.Truncation
	}
	raw, err := json.Marshal(&out)
	a.Echo = raw
	return err
}

// unasked is the echo of a request that specifies nothing, for responses whose request is not known.
const unasked = `{"background":false,"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"metadata":{},"parallel_tool_calls":true,` +
	`"previous_response_id":null,"reasoning":{"effort":null,"summary":null},"temperature":null,"text":{"format":{"type":"text"}},` +
	`"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":null,"truncation":"disabled","user":null}`
