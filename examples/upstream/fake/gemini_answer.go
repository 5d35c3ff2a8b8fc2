package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// contentAnswer writes an answer as Google's generateContent.
type contentAnswer struct {
	answer
	plan  plan
	model string
	id    string

	searches bool // before it calls a function
}

type contentDocument struct {
	Candidates []geminiCandidate `json:"candidates,omitempty"`
	Usage      any               `json:"usageMetadata,omitempty"`
	Model      string            `json:"modelVersion"`
	ID         string            `json:"responseId"`
}

type geminiCandidate struct {
	Content geminiContent `json:"content"`
	Finish  string        `json:"finishReason,omitempty"`
	Index   int           `json:"index"`
}

type geminiUsage struct {
	Prompt     int `json:"promptTokenCount"`
	Cached     int `json:"cachedContentTokenCount,omitempty"`
	Candidates int `json:"candidatesTokenCount,omitempty"`
	Thoughts   int `json:"thoughtsTokenCount,omitempty"`
	Total      int `json:"totalTokenCount"`
}

// usage says that output tokens were made so far; it is nil where it is to be left out.
func (m *contentAnswer) usage(output int) any {
	if bad := spoilt(m.plan.usage); bad != nil {
		return map[string]any{"promptTokenCount": bad, "candidatesTokenCount": bad, "totalTokenCount": bad}
	}
	switch m.plan.usage {
	case "none":
		return nil
	case "null":
		return null()
	}
	thoughts := min(m.reasoning, output)
	return geminiUsage{m.prompt, m.cached, output - thoughts, thoughts, m.prompt + output}
}

// finish is the reason in Google's words: calls are no reason of their own.
func (c *choice) geminiFinish() string {
	switch c.finish {
	case "length":
		return "MAX_TOKENS"
	case "content_filter":
		return "SAFETY"
	}
	return "STOP"
}

// step is a document with more of a candidate.
func (m *contentAnswer) step(i, output int, finish string, parts ...geminiPart) contentDocument {
	return contentDocument{
		Candidates: []geminiCandidate{{Content: geminiContent{"model", parts}, Finish: finish, Index: i}},
		Usage:      m.usage(output), Model: m.model, ID: m.id,
	}
}

// calls are the parts of a choice's calls. Models that sign calls sign the first of them, and number them.
func (m *contentAnswer) calls(i int) []geminiPart {
	var out []geminiPart
	if m.searches && len(m.choices[i].calls) > 0 {
		out = append(out,
			geminiPart{OwnCall: &geminiOwnTool{ID: m.id, Type: "GOOGLE_SEARCH_WEB", Args: map[string]any{"queries": []string{"oslo"}}}, Signature: "c2VhcmNo"},
			geminiPart{OwnResult: &geminiOwnTool{ID: m.id, Type: "GOOGLE_SEARCH_WEB", Response: map[string]any{"search_suggestions": "<div>"}}, Signature: "Zm91bmQ="})
	}
	for k, c := range m.choices[i].calls {
		one := geminiPart{Call: &geminiCall{Name: c.name}}
		_ = json.Unmarshal([]byte(c.arguments), &one.Call.Args) // what is no object is left out
		if signs(m.model) {
			one.Call.ID = fmt.Sprintf("%s-%d-%d", m.id, i, k)
			if k == 0 {
				one.Signature = signatureOf(c.name, one.Call.Args)
			}
		}
		out = append(out, one)
	}
	return out
}

func (m *contentAnswer) document() contentDocument {
	out := contentDocument{Usage: m.usage(m.completion), Model: m.model, ID: m.id}
	for i := range m.choices {
		c := &m.choices[i]
		var parts []geminiPart
		if len(m.thinking) > 0 {
			parts = append(parts, geminiPart{Text: strings.Join(m.thinking, ""), Thought: true})
		}
		if len(c.pieces) > 0 {
			parts = append(parts, geminiPart{Text: strings.Join(c.pieces, "")})
		}
		one := m.step(i, 0, c.geminiFinish(), append(parts, m.calls(i)...)...)
		out.Candidates = append(out.Candidates, one.Candidates...)
	}
	return out
}

func (m *contentAnswer) events() []event {
	var out []event
	output := 0
	add := func(d contentDocument) { out = append(out, jsonEvent("", d)) }
	for i := range m.choices {
		for _, piece := range m.thinking {
			output++
			add(m.step(i, output, "", geminiPart{Text: piece, Thought: true}))
		}
		c := &m.choices[i]
		for _, piece := range c.pieces {
			output++
			add(m.step(i, output, "", geminiPart{Text: piece}))
		}
		for _, call := range m.calls(i) {
			add(m.step(i, output, "", call))
		}
		if i == len(m.choices)-1 {
			output = m.completion
		}
		add(m.step(i, output, c.geminiFinish()))
	}
	return out
}

type geminiErrorBody struct {
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Status  string `json:"status"`
		Details []any  `json:"details,omitempty"`
	} `json:"error"`
}

func geminiError(f failure, retryAfter string) geminiErrorBody {
	var e geminiErrorBody
	e.Error.Code, e.Error.Message = f.status, f.message
	switch f.code {
	case "context_length_exceeded":
		e.Error.Message = "The input token count (9000) exceeds the maximum number of tokens allowed (8192)."
	case "content_filter":
		e.Error.Message = "The prompt could not be submitted, as it may violate the Responsible AI practices."
	}
	switch f.status {
	case http.StatusUnauthorized:
		e.Error.Code, e.Error.Status = http.StatusBadRequest, "INVALID_ARGUMENT"
		e.Error.Message = "API key not valid. Please pass a valid API key."
		e.Error.Details = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}}
	case http.StatusForbidden:
		e.Error.Status = "PERMISSION_DENIED"
	case http.StatusNotFound:
		e.Error.Status = "NOT_FOUND"
	case http.StatusTooManyRequests:
		e.Error.Status = "RESOURCE_EXHAUSTED"
		if retryAfter != "" {
			e.Error.Details = []any{map[string]any{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": retryAfter + "s"}}
		}
	case http.StatusServiceUnavailable:
		e.Error.Status = "UNAVAILABLE"
	case http.StatusGatewayTimeout:
		e.Error.Status = "DEADLINE_EXCEEDED"
	default:
		e.Error.Status = "INVALID_ARGUMENT"
		if f.status >= http.StatusInternalServerError {
			e.Error.Status = "INTERNAL"
		}
	}
	return e
}

// failGemini answers with an error. A time to wait stands in its body, and not in a header.
func failGemini(w http.ResponseWriter, f failure) {
	if f.status == 0 {
		f.status = http.StatusInternalServerError
	}
	wait := w.Header().Get("Retry-After")
	w.Header().Del("Retry-After")
	e := geminiError(f, wait)
	writeJSON(w, e.Error.Code, e)
}

func failEventGemini(f failure) event {
	f.status = http.StatusServiceUnavailable
	return jsonEvent("", geminiError(f, ""))
}
