package converse

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// answer is a response of Converse.
type answer struct {
	Output struct {
		Message answerMessage `json:"message"`
	} `json:"output"`
	Stop    string        `json:"stopReason"`
	Usage   answerUsage   `json:"usage"`
	Metrics answerMetrics `json:"metrics"`
	Tier    *callerTier   `json:"serviceTier,omitzero"`
}

type answerMessage struct {
	Role    string        `json:"role"`
	Content []answerBlock `json:"content"`
}

// answerBlock is a block of any kind.
type answerBlock struct {
	Text      *string          `json:"text,omitzero"`
	Cited     *answerCited     `json:"citationsContent,omitzero"`
	ToolUse   *answerUse       `json:"toolUse,omitzero"`
	Reasoning *answerReasoning `json:"reasoningContent,omitzero"`
}

type answerUse struct {
	ID    string         `json:"toolUseId"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`
}

type answerReasoning struct {
	Text     *answerThought `json:"reasoningText,omitzero"`
	Redacted string         `json:"redactedContent,omitzero"`
}

type answerThought struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitzero"`
}

type answerCited struct {
	Content   []answerText     `json:"content"`
	Citations []answerCitation `json:"citations"`
}

type answerText struct {
	Text string `json:"text"`
}

type answerCitation struct {
	Title    string         `json:"title,omitzero"`
	Location answerLocation `json:"location"`
}

type answerLocation struct {
	Web answerWeb `json:"web"`
}

type answerWeb struct {
	URL string `json:"url"`
}

// answerUsage is usage. Its input excludes what was read from the cache or written to it.
type answerUsage struct {
	Input   int64          `json:"inputTokens"`
	Output  int64          `json:"outputTokens"`
	Total   int64          `json:"totalTokens"`
	Read    int64          `json:"cacheReadInputTokens,omitzero"`
	Written int64          `json:"cacheWriteInputTokens,omitzero"`
	Details []answerDetail `json:"cacheDetails,omitzero"`
}

type answerDetail struct {
	TTL    string `json:"ttl"`
	Tokens int64  `json:"inputTokens"`
}

type answerMetrics struct {
	Latency int64 `json:"latencyMs"`
}

// answerOf converts a response. It has one choice.
func answerOf(r *wire.Response, m dialect.Meta) *answer {
	out := &answer{Usage: usageOf(&r.Usage), Metrics: metricsOf(m), Tier: tierOf(r.ServiceTier)}
	out.Output.Message = answerMessage{Role: roleAssistant, Content: []answerBlock{}}
	var c wire.Choice
	if len(r.Choices) > 0 {
		c = r.Choices[0]
	}
	out.Output.Message.Content = append(out.Output.Message.Content, blocksOf(&c)...)
	out.Stop = stopOf(c.Finish, &c.Ending, c.Refusal != "")
	return out
}

// blocksOf returns the blocks of a choice in the order in which models write them: the reasoning, the text, the calls.
func blocksOf(c *wire.Choice) []answerBlock {
	var out []answerBlock
	for i := range c.Thinking {
		if one := reasoningOf(&c.Thinking[i]); one != nil {
			out = append(out, answerBlock{Reasoning: one})
		}
	}
	out = append(out, textsOf(c.Text, c.Annotations)...)
	if c.Refusal != "" {
		out = append(out, answerBlock{Text: &c.Refusal})
	}
	for i := range c.ToolCalls {
		t := &c.ToolCalls[i]
		out = append(out, answerBlock{ToolUse: &answerUse{ID: callID(t.ID), Name: t.Name, Input: inputOf(t.Arguments)}})
	}
	return out
}

// reasoningOf writes a block of reasoning; nil for one with nothing in it.
func reasoningOf(t *wire.Thinking) *answerReasoning {
	switch {
	case t.Redacted != "":
		return &answerReasoning{Redacted: redactedFor(t.Redacted)}
	case t.Text == "" && t.Signature == "":
		return nil
	}
	return &answerReasoning{Text: &answerThought{Text: t.Text, Signature: proofFor(t.Signature)}}
}

// textsOf writes a text. A part of it that has sources is a block of its own, with them.
func textsOf(text string, sources []wire.Annotation) []answerBlock {
	sources = slices.DeleteFunc(slices.Clone(sources), func(a wire.Annotation) bool { return a.URL == "" })
	slices.SortStableFunc(sources, func(a, b wire.Annotation) int { return a.Start - b.Start })
	runes := []rune(nil)
	if len(sources) > 0 {
		runes = []rune(text)
	}
	var out []answerBlock
	say := func(part string) {
		if part != "" {
			out = append(out, answerBlock{Text: &part})
		}
	}
	at := 0
	for len(sources) > 0 {
		start := min(max(sources[0].Start, at), len(runes))
		end := min(max(sources[0].End, start), len(runes))
		n := 1
		for n < len(sources) && sources[n].Start < end || n < len(sources) && sources[n].Start == sources[0].Start {
			end = min(max(end, sources[n].End), len(runes))
			n++
		}
		say(string(runes[at:start]))
		if at = end; start == end { // of no text
			sources = sources[n:]
			continue
		}
		cited := &answerCited{Content: []answerText{{string(runes[start:end])}}}
		for i := range sources[:n] {
			cited.Citations = append(cited.Citations, citationOf(&sources[i]))
		}
		out = append(out, answerBlock{Cited: cited})
		sources = sources[n:]
	}
	if at == 0 {
		say(text)
	} else {
		say(string(runes[at:]))
	}
	return out
}

func citationOf(a *wire.Annotation) answerCitation {
	return answerCitation{Title: a.Title, Location: answerLocation{answerWeb{a.URL}}}
}

// longestID is the most characters of the id of a call.
const longestID = 64

// callID makes an id that AWS's libraries take: another one becomes its hash, so that two of them stay different. The call and its
// result in the next request have the same one then.
func callID(id string) string {
	if id != "" && len(id) <= longestID && !strings.ContainsFunc(id, func(c rune) bool {
		return !strings.ContainsRune("_.:-", c) && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	}) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "tooluse_" + hex.EncodeToString(sum[:12])
}

// jsonSpace is the space around a value of JSON. That of Unicode is none of it.
const jsonSpace = " \t\r\n"

// inputOf writes the arguments of a call. Those that are no object stand in one, so that the caller sees what the model wrote.
func inputOf(arguments string) jsontext.Value {
	input := jsontext.Value(strings.Trim(arguments, jsonSpace))
	switch {
	case len(input) == 0:
		return jsontext.Value("{}")
	case !input.IsValid() || input.Kind() != '{':
		input, _ = json.Marshal(map[string]string{"INVALID_JSON": arguments}, jsontext.AllowInvalidUTF8(true)) // texts alone cannot fail
	}
	return input
}

// stopOf names the reason for the end.
func stopOf(f wire.Finish, e *wire.Ending, refused bool) string {
	switch {
	case f == wire.FinishFilter || refused:
		return "content_filtered"
	case f == wire.FinishLength && e.Window:
		return "model_context_window_exceeded"
	case f == wire.FinishLength:
		return "max_tokens"
	case f == wire.FinishToolCalls:
		return "tool_use"
	case e.Sequence != "":
		return "stop_sequence"
	}
	return "end_turn"
}

// usageOf converts usage.
func usageOf(u *wire.Usage) answerUsage {
	if u == nil {
		return answerUsage{}
	}
	t := &u.Tokens
	written := t.CacheWrite + t.CacheWrite1h
	out := answerUsage{Input: max(t.Input-t.CacheRead-written, 0), Output: t.Output, Total: t.Input + t.Output, Read: t.CacheRead, Written: written}
	if t.CacheWrite1h > 0 {
		out.Details = append(out.Details, answerDetail{"1h", t.CacheWrite1h})
		if t.CacheWrite > 0 {
			out.Details = append(out.Details, answerDetail{"5m", t.CacheWrite})
		}
	}
	return out
}

// metricsOf returns how long the response took.
func metricsOf(m dialect.Meta) answerMetrics {
	if m.Elapsed == nil {
		return answerMetrics{}
	}
	return answerMetrics{max(m.Elapsed().Milliseconds(), 0)}
}

// tierOf names the tier that served a request, if AWS has a name for it.
func tierOf(tier string) *callerTier {
	switch tier {
	case "priority", "default", "flex", "reserved":
		return &callerTier{tier}
	}
	return nil
}
