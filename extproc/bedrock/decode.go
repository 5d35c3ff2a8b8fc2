package bedrock

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// looseResponse is a response of Converse.
type looseResponse struct {
	Output struct {
		Message *struct {
			Content []looseBlock `json:"content"`
		} `json:"message"`
	} `json:"output"`
	Stop  string         `json:"stopReason"`
	Usage jsontext.Value `json:"usage"`
	Tier  serviceTier    `json:"serviceTier"`

	looseProblem
}

// looseProblem is an error, which a proxy may send with status 200.
type looseProblem struct {
	Type    jsontext.Value `json:"__type"`
	Message jsontext.Value `json:"message"`
	Capital jsontext.Value `json:"Message"`
}

// looseBlock is a block of a response.
type looseBlock struct {
	Text      string          `json:"text"`
	ToolUse   *looseUse       `json:"toolUse"`
	Reasoning *looseReasoning `json:"reasoningContent"`
	Cited     *looseCited     `json:"citationsContent"`
}

type looseUse struct {
	ID    string         `json:"toolUseId"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`
	Type  string         `json:"type"` // server_tool_use if Bedrock itself has run the tool
}

type looseReasoning struct {
	Text     *reasoningText `json:"reasoningText"`
	Redacted string         `json:"redactedContent"`
}

type looseCited struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	Citations []looseCitation `json:"citations"`
}

// looseCitation is a source. Only those on the web have an address.
type looseCitation struct {
	Title    string `json:"title"`
	Location struct {
		Web struct {
			URL    string `json:"url"`
			Domain string `json:"domain"`
		} `json:"web"`
	} `json:"location"`
}

// annotation returns the source of a part of the text; not ok if it is not on the web.
func (c *looseCitation) annotation(start, end int) (wire.Annotation, bool) {
	title := c.Title
	if title == "" {
		title = c.Location.Web.Domain
	}
	return wire.Annotation{URL: c.Location.Web.URL, Title: title, Start: start, End: end}, c.Location.Web.URL != ""
}

// Decode reads a response of Converse.
func (Codec) Decode(body []byte) (*wire.Response, error) {
	var in looseResponse
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, f
	}
	if in.Output.Message == nil {
		if driver.Given(in.Message) || driver.Given(in.Type) || driver.Given(in.Capital) {
			return nil, failureIn(driver.Text(in.Type), body)
		}
		return nil, driver.InvalidResponse("has no message")
	}
	c := wire.Choice{}
	runes, answered := 0, false
	say := func(text string) {
		c.Text += text
		runes += utf8.RuneCountInString(text)
	}
	for i := range in.Output.Message.Content {
		b := &in.Output.Message.Content[i]
		switch {
		case b.ToolUse != nil && b.ToolUse.Type != "": // it has run
		case b.ToolUse != nil && b.ToolUse.Name == responseTool:
			if !answered { // a second answer would not be JSON next to the first one
				say(argumentsOf(b.ToolUse.Input))
			}
			answered = true
		case b.ToolUse != nil:
			c.ToolCalls = append(c.ToolCalls, wire.ToolCall{ID: b.ToolUse.ID, Name: b.ToolUse.Name, Arguments: argumentsOf(b.ToolUse.Input)})
		case b.Reasoning != nil:
			c.Thinking = append(c.Thinking, b.Reasoning.canonical())
		case b.Cited != nil:
			start := runes
			for _, piece := range b.Cited.Content {
				say(piece.Text)
			}
			for j := range b.Cited.Citations {
				if a, ok := b.Cited.Citations[j].annotation(start, runes); ok {
					c.Annotations = append(c.Annotations, a)
				}
			}
		default:
			say(b.Text)
		}
	}
	c.Finish, c.Ending = readFinish(in.Stop), endingOf(in.Stop)
	if answered && len(c.ToolCalls) == 0 && c.Finish == wire.FinishToolCalls {
		c.Finish = wire.FinishStop
	}
	var u looseUsage
	u.add(in.Usage)
	return &wire.Response{Choices: []wire.Choice{c}, Usage: u.report(), ServiceTier: in.Tier.Type}, nil
}

// canonical returns a block of reasoning, with its proof marked.
func (r *looseReasoning) canonical() wire.Thinking {
	if r.Text == nil {
		return wire.Thinking{Redacted: wire.Mark(wire.Converse, r.Redacted)}
	}
	return wire.Thinking{Text: r.Text.Text, Signature: proofOf(r.Text.Signature)}
}

// proofOf marks a signature, if there is one.
func proofOf(signature string) string {
	if signature == "" {
		return ""
	}
	return wire.Mark(wire.Converse, signature)
}

// argumentsOf converts a tool call's input to the canonical form: a text, and never an empty one.
func argumentsOf(input jsontext.Value) string {
	if !driver.Given(input) {
		return "{}"
	}
	_ = input.Compact() // an invalid value stays as it is
	return string(input)
}

// readFinish reads stopReason. A word that is not known ends the response too.
func readFinish(word string) wire.Finish {
	switch word {
	case "":
		return ""
	case "max_tokens", "model_context_window_exceeded":
		return wire.FinishLength
	case "tool_use":
		return wire.FinishToolCalls
	case "guardrail_intervened", "content_filtered":
		return wire.FinishFilter
	}
	return wire.FinishStop // end_turn, stop_sequence, malformed_model_output, malformed_tool_use
}

// endingOf returns what stopReason says beyond the canonical reasons.
func endingOf(word string) wire.Ending {
	return wire.Ending{Window: word == "model_context_window_exceeded"}
}

// looseUsage is a report.
type looseUsage struct {
	counts
	broken bool
}

type counts struct {
	Input   driver.Count `json:"inputTokens"`
	Output  driver.Count `json:"outputTokens"`
	Read    driver.Count `json:"cacheReadInputTokens"`
	Written driver.Count `json:"cacheWriteInputTokens"`
	Details []struct {
		TTL    string       `json:"ttl"`
		Tokens driver.Count `json:"inputTokens"`
	} `json:"cacheDetails"`
}

// add reads a report in place of an earlier one.
func (u *looseUsage) add(raw jsontext.Value) {
	if !driver.Given(raw) {
		return
	}
	u.counts = counts{}
	u.broken = driver.DecodeLoose(raw, &u.counts) != nil
}

// report returns the usage in the canonical form. Bedrock's input excludes the tokens that were read from or written to
// the cache; the canonical form includes them.
func (u *looseUsage) report() wire.Usage {
	all := driver.Counts{u.Input, u.Output, u.Read, u.Written}
	var long int64
	for _, d := range u.Details {
		all = append(all, d.Tokens)
		if d.TTL == "1h" {
			long += d.Tokens.N
		}
	}
	switch {
	case u.broken || all.Bad() || long > u.Written.N:
		return wire.Usage{Bad: true}
	case !u.Input.Given || !u.Output.Given:
		return wire.Usage{}
	}
	return driver.Reported(usage.Tokens{
		Input: u.Input.N + u.Read.N + u.Written.N, CacheRead: u.Read.N,
		CacheWrite: u.Written.N - long, CacheWrite1h: long, Output: u.Output.N,
	})
}
