package bedrock

import (
	"fmt"
	"net/http"
	"strings"
)

// Answer is what Converse says.
type Answer struct {
	ID        string // of its calls, each with its number after it
	Thinking  []string
	Signature string // of the thinking
	Pieces    []string
	Calls     []Use
	Stop      string // in the words of StopReason
	Usage     any    // nil to leave it out
}

// StopReason is a reason of OpenAI's in Bedrock's words. After a sequence of the caller's it has one of its own.
func StopReason(finish string, sequence bool) string {
	switch {
	case sequence && finish == "stop":
		return "stop_sequence"
	case finish == "tool_calls":
		return "tool_use"
	case finish == "length":
		return "max_tokens"
	case finish == "content_filter":
		return "guardrail_intervened"
	}
	return "end_turn"
}

// Document is a whole answer.
type Document struct {
	Output struct {
		Message struct {
			Role    string  `json:"role"`
			Content []Block `json:"content"`
		} `json:"message"`
	} `json:"output"`
	StopReason string         `json:"stopReason"`
	Usage      any            `json:"usage,omitempty"`
	Metrics    map[string]int `json:"metrics"`
}

// latency is how long an answer has taken, as it says.
func latency() map[string]int { return map[string]int{"latencyMs": 12} }

// Document writes the answer whole.
func (a *Answer) Document() Document {
	var doc Document
	doc.Output.Message.Role, doc.StopReason, doc.Usage, doc.Metrics = "assistant", a.Stop, a.Usage, latency()
	content := []Block{}
	if len(a.Thinking) > 0 {
		r := &Reasoning{}
		r.Text.Text, r.Text.Signature = strings.Join(a.Thinking, ""), a.Signature
		content = append(content, Block{Reasoning: r})
	}
	if len(a.Pieces) > 0 {
		content = append(content, Block{Text: strings.Join(a.Pieces, "")})
	}
	for i, k := range a.Calls {
		content = append(content, Block{ToolUse: &Use{ID: fmt.Sprintf("%s_%d", a.ID, i), Name: k.Name, Input: k.Input}})
	}
	doc.Output.Message.Content = content
	return doc
}

// Event is an event of a streamed answer.
type Event struct {
	Name string
	Data any
}

// Events writes the answer as a stream; cut divides the arguments of a call. The p's are padding against those who
// measure lengths.
func (a *Answer) Events(cut func(string) []string) []Event {
	out := []Event{{"messageStart", map[string]string{"role": "assistant", "p": "abcdefgh"}}}
	index := 0
	delta := func(d any) {
		out = append(out, Event{"contentBlockDelta", map[string]any{"contentBlockIndex": index, "delta": d, "p": "abc"}})
	}
	end := func() {
		out = append(out, Event{"contentBlockStop", map[string]int{"contentBlockIndex": index}})
		index++
	}
	if len(a.Thinking) > 0 {
		for _, piece := range a.Thinking {
			delta(map[string]any{"reasoningContent": map[string]string{"text": piece}})
		}
		delta(map[string]any{"reasoningContent": map[string]string{"signature": a.Signature}})
		end()
	}
	if len(a.Pieces) > 0 {
		for _, piece := range a.Pieces {
			delta(map[string]string{"text": piece})
		}
		end()
	}
	for i, k := range a.Calls {
		use := map[string]any{"toolUse": Use{ID: fmt.Sprintf("%s_%d", a.ID, i), Name: k.Name}}
		out = append(out, Event{"contentBlockStart", map[string]any{"contentBlockIndex": index, "start": use}})
		for _, piece := range cut(string(k.Input)) {
			delta(map[string]any{"toolUse": map[string]string{"input": piece}})
		}
		end()
	}
	last := struct {
		Usage   any            `json:"usage,omitempty"`
		Metrics map[string]int `json:"metrics"`
	}{a.Usage, latency()}
	return append(out, Event{"messageStop", map[string]string{"stopReason": a.Stop}}, Event{"metadata", last})
}

// Usage is a report of tokens.
func Usage(in, cached, out int) map[string]int {
	return map[string]int{"inputTokens": in - cached, "outputTokens": out, "totalTokens": in + out, "cacheReadInputTokens": cached}
}

// SpoiltUsage is a report in which every count is bad.
func SpoiltUsage(bad any) map[string]any {
	return map[string]any{"inputTokens": bad, "outputTokens": bad, "totalTokens": bad}
}

// Exception is the name of an error with a status.
func Exception(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "AccessDeniedException"
	case http.StatusNotFound:
		return "ResourceNotFoundException"
	case http.StatusRequestTimeout:
		return "ModelTimeoutException"
	case http.StatusFailedDependency:
		return "ModelErrorException"
	case http.StatusTooManyRequests:
		return "ThrottlingException"
	case http.StatusServiceUnavailable:
		return "ServiceUnavailableException"
	}
	if status >= http.StatusInternalServerError {
		return "InternalServerException"
	}
	return "ValidationException"
}
