package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// looseResponse is a whole response, or an event of a stream.
type looseResponse struct {
	ID         string           `json:"responseId"`
	Model      string           `json:"modelVersion"`
	Candidates []looseCandidate `json:"candidates"`
	Feedback   looseFeedback    `json:"promptFeedback"`
	Usage      jsontext.Value   `json:"usageMetadata"`
	Error      jsontext.Value   `json:"error"`
}

type looseFeedback struct {
	BlockReason string `json:"blockReason"`
}

type looseCandidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []loosePart `json:"parts"`
	} `json:"content"`
	Finish    string         `json:"finishReason"`
	Grounding looseGrounding `json:"groundingMetadata"`
	Logprobs  looseLogprobs  `json:"logprobsResult"`
}

// loosePart is a part of any kind.
type loosePart struct {
	Text      string         `json:"text"`
	Thought   bool           `json:"thought"`
	Signature string         `json:"thoughtSignature"`
	Call      *looseCall     `json:"functionCall"`
	OwnCall   jsontext.Value `json:"toolCall"` // of a tool that runs at the provider
	OwnResult jsontext.Value `json:"toolResponse"`
	Inline    *looseMedium   `json:"inlineData"`
}

type looseCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

// Decode reads a GenerateContentResponse. It is a stream of one event.
func (Codec) Decode(body []byte) (*wire.Response, error) {
	var in looseResponse
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, f
	}
	if driver.Given(in.Error) {
		return nil, failureIn(body)
	}
	for i := range in.Candidates {
		if c := &in.Candidates[i]; len(c.Content.Parts) == 0 && c.Finish == "" {
			return nil, driver.InvalidResponse("has a candidate without content")
		}
	}
	var s stream
	chunks, err := s.read(nil, &in)
	if err != nil {
		return nil, err
	}
	if len(s.candidates) == 0 {
		return nil, driver.InvalidResponse("has no candidates")
	}
	out := &wire.Response{ID: in.ID, Model: in.Model, Usage: s.usage.report(), ServiceTier: s.usage.tier()}
	for i := range s.candidates {
		out.Choices = append(out.Choices, gather(chunks, s.candidates[i].index))
	}
	return out, nil
}

// gather returns the choice that a stream of the chunks would have given.
func gather(chunks []wire.Chunk, index int) wire.Choice {
	out := wire.Choice{Index: index}
	var heard sound
	open := "" // reasoning whose block may still get its signature
	flush := func() {
		if open != "" {
			out.Thinking, open = append(out.Thinking, wire.Thinking{Text: open}), ""
		}
	}
	for i := range chunks {
		c := &chunks[i]
		if c.Index != index {
			continue
		}
		open += c.Thinking
		if c.Block != nil {
			if c.Block.Text != "" {
				open = "" // it is the block's
			}
			flush()
			out.Thinking = append(out.Thinking, *c.Block)
		}
		out.Text += c.Text
		out.Annotations = append(out.Annotations, c.Annotations...)
		if c.Tool != nil {
			out.ToolCalls = append(out.ToolCalls, wire.ToolCall{ID: c.Tool.ID, Name: c.Tool.Name, Arguments: c.Tool.Arguments})
		}
		if c.Text != "" || c.Tool != nil {
			flush()
		}
		if c.Audio != nil {
			heard.add(c.Audio)
		}
		if c.Logprobs != nil {
			out.Logprobs = c.Logprobs
		}
		if c.Finish != "" {
			out.Finish = c.Finish
		}
	}
	flush()
	out.Audio = heard.whole()
	return out
}

// argumentsOf converts a call's arguments to the canonical form: a text, and never an empty one,
// because callers parse it.
func argumentsOf(args jsontext.Value) string {
	if !driver.Given(args) {
		return "{}"
	}
	_ = args.Compact() // an invalid value stays as it is
	return string(args)
}

// callID returns the id of the n-th call of a candidate: the model's own, or one that is made of the
// response's id and the call.
func callID(response string, candidate, n int, c *looseCall, arguments string) string {
	if c.ID != "" {
		return c.ID
	}
	return "call_" + digest(fmt.Sprintf("%q %d %d %q %s", response, candidate, n, c.Name, arguments))
}

// readFinish reads finishReason. A word that is not known ends the response too.
func readFinish(word string) wire.Finish {
	switch word {
	case "", "FINISH_REASON_UNSPECIFIED":
		return ""
	case "MAX_TOKENS":
		return wire.FinishLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "OTHER", "MODEL_ARMOR", "NO_IMAGE",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER":
		return wire.FinishFilter
	}
	// STOP, and what the model has done wrong: MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL,
	// TOO_MANY_TOOL_CALLS, MALFORMED_RESPONSE.
	return wire.FinishStop
}

// digest returns the beginning of a text's hash.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
