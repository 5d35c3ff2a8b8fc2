package coherecaller

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// answer is a whole response.
type answer struct {
	ID       string          `json:"id"`
	Finish   string          `json:"finish_reason"`
	Message  answerMessage   `json:"message"`
	Usage    *answerUsage    `json:"usage,omitzero"`
	Logprobs []answerLogprob `json:"logprobs,omitzero"`
}

type answerMessage struct {
	Role      string           `json:"role"` // always assistant
	ToolPlan  string           `json:"tool_plan,omitzero"`
	ToolCalls []answerCall     `json:"tool_calls,omitzero"`
	Content   []answerContent  `json:"content,omitzero"`
	Citations []answerCitation `json:"citations,omitzero"`
}

// answerContent is a part of a response. A text may be empty but must be there.
type answerContent struct {
	Type     string  `json:"type,omitzero"` // of a whole part, and of the beginning of one
	Text     *string `json:"text,omitzero"`
	Thinking *string `json:"thinking,omitzero"`
}

type answerCall struct {
	ID       string         `json:"id"`
	Type     string         `json:"type"` // always function
	Function answerFunction `json:"function"`
}

type answerFunction struct {
	Name      string `json:"name,omitzero"`
	Arguments string `json:"arguments"`
}

// answerCitation is a source of a part of a text, whose place is in code points.
type answerCitation struct {
	Start   int            `json:"start"`
	End     int            `json:"end"`
	Text    string         `json:"text"`
	Sources []answerSource `json:"sources"`
	Content int            `json:"content_index"`
	Type    string         `json:"type"`
}

type answerSource struct {
	Type     string     `json:"type"` // always document
	ID       string     `json:"id"`
	Document answerPage `json:"document"`
}

type answerPage struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Title string `json:"title,omitzero"`
}

// What a citation is in.
const (
	inText = "TEXT_CONTENT"
	inPlan = "PLAN"
)

// answerOf converts a response to Cohere's form, which has one choice. What the model says before it calls tools is its plan.
func answerOf(r *wire.Response, m dialect.Meta) *answer {
	out := &answer{ID: m.ID, Message: answerMessage{Role: string(wire.Assistant)}, Usage: usageOf(&r.Usage)}
	if out.ID == "" {
		out.ID = r.ID
	}
	var c wire.Choice
	if len(r.Choices) > 0 {
		c = r.Choices[0]
	}
	msg := &out.Message
	for i := range c.Thinking {
		if text := c.Thinking[i].Text; text != "" {
			msg.Content = append(msg.Content, answerContent{Type: "thinking", Thinking: &text})
		}
	}
	text, place := c.Text+c.Refusal, inText
	switch {
	case len(c.ToolCalls) > 0:
		msg.ToolPlan, place = text, inPlan
	default: // clients read the text even of a response without one
		msg.Content = append(msg.Content, answerContent{Type: "text", Text: &text})
	}
	for i := range c.Annotations {
		if one, ok := citationOf(text, &c.Annotations[i]); ok {
			if one.Type = place; place == inText {
				one.Content = len(msg.Content) - 1
			}
			msg.Citations = append(msg.Citations, one)
		}
	}
	for i := range c.ToolCalls {
		t := &c.ToolCalls[i]
		msg.ToolCalls = append(msg.ToolCalls, answerCall{t.ID, "function", answerFunction{t.Name, argumentsOf(t.Arguments)}})
	}
	out.Logprobs = logprobsOf(c.Logprobs)
	out.Finish = finishOf(&stop{c.Finish, c.Ending, len(c.ToolCalls) > 0})
	return out
}

// argumentsOf returns the arguments of a call: a model that left them out meant none.
func argumentsOf(text string) string {
	if strings.TrimSpace(text) == "" {
		return "{}"
	}
	return text
}

// citationOf writes a source of a text; not ok for one without an address, or of nothing.
func citationOf(text string, s *wire.Annotation) (answerCitation, bool) {
	if s.URL == "" {
		return answerCitation{}, false
	}
	all := utf8.RuneCountInString(text)
	start := max(min(s.Start, all), 0)
	end := max(min(s.End, all), start)
	cited := text[offset(text, start):]
	if cited = cited[:offset(cited, end-start)]; cited == "" {
		return answerCitation{}, false
	}
	return answerCitation{
		Start: start, End: end, Text: cited, Type: inText,
		Sources: []answerSource{{"document", s.URL, answerPage{s.URL, s.URL, s.Title}}},
	}, true
}

// offset returns where in a text its n-th code point begins.
func offset(text string, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// stop is all that the reason for the end depends on.
type stop struct {
	finish wire.Finish
	ending wire.Ending
	tools  bool // the response calls a tool
}

// finishOf names the reason for the end. A complete response with a call ends for the call, whatever its provider says:
// clients run tools only then. Cohere has no word for what a filter has ended.
func finishOf(s *stop) string {
	switch {
	case s.finish == wire.FinishFilter:
		return "ERROR"
	case s.finish == wire.FinishLength:
		return "MAX_TOKENS"
	case s.tools:
		return "TOOL_CALL"
	case s.ending.Sequence != "":
		return "STOP_SEQUENCE"
	}
	return "COMPLETE"
}

// answerUsage is the usage of a response.
type answerUsage struct {
	Billed answerUnits  `json:"billed_units"`
	Tokens answerTokens `json:"tokens"`
	Cached int64        `json:"cached_tokens,omitzero"`
}

type answerUnits struct {
	answerTokens

	Searches int64 `json:"search_units,omitzero"`
}

type answerTokens struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// usageOf converts usage; nil if it is not known.
func usageOf(u *wire.Usage) *answerUsage {
	if u == nil || !u.Known() && !u.Partial {
		return nil
	}
	t := answerTokens{u.Tokens.Input, u.Tokens.Output}
	return &answerUsage{Billed: answerUnits{t, u.Tokens.SearchQueries}, Tokens: t, Cached: u.Tokens.CacheRead}
}

// answerLogprob is a piece of text with the probabilities of its tokens. Other providers do not tell the numbers of the tokens.
type answerLogprob struct {
	Text     string    `json:"text"`
	TokenIDs []int64   `json:"token_ids"`
	Logprobs []float64 `json:"logprobs"`
}

// logprobsOf converts OpenAI's logprobs object; nil if there is none.
func logprobsOf(raw jsontext.Value) []answerLogprob {
	var in struct {
		Content []struct {
			Token   string  `json:"token"`
			Logprob float64 `json:"logprob"`
		} `json:"content"`
	}
	if raw == nil || json.Unmarshal(raw, &in, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	var out []answerLogprob
	for _, one := range in.Content {
		out = append(out, answerLogprob{one.Token, []int64{}, []float64{one.Logprob}})
	}
	return out
}
