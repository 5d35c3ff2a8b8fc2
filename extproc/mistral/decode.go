package mistral

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type looseResponse struct {
	ID      string         `json:"id"`
	Object  string         `json:"object"`
	Model   string         `json:"model"`
	Created driver.Count   `json:"created"`
	Choices []looseChoice  `json:"choices"`
	Usage   jsontext.Value `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

// looseChoice is a choice. A whole response has a message, and a piece of a stream a delta.
type looseChoice struct {
	Index   int          `json:"index"`
	Message looseMessage `json:"message"`
	Delta   looseMessage `json:"delta"`
	Finish  string       `json:"finish_reason"`
}

type looseMessage struct {
	Content   looseContent `json:"content"`
	ToolCalls []looseCall  `json:"tool_calls"`
}

type looseCall struct {
	ID       string       `json:"id"`
	Index    driver.Count `json:"index"`
	Function struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

// noID is what Mistral sends in place of an id.
const noID = "null"

// id returns the id of a call, empty if it has none.
func (c *looseCall) id() string {
	if c.ID == noID {
		return ""
	}
	return c.ID
}

// arguments returns the arguments as a text: they may be the object itself.
func (c *looseCall) arguments() string {
	raw := c.Function.Arguments
	if len(raw) > 0 && raw.Kind() == '{' {
		return string(raw)
	}
	return driver.Text(raw)
}

// Decode reads a chat.completion object.
func (Driver) Decode(body []byte) (*wire.Response, error) {
	var in looseResponse
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, f
	}
	if f := in.failure(body); f != nil {
		return nil, f
	}
	if len(in.Choices) == 0 {
		return nil, driver.InvalidResponse("has no choices")
	}
	out := &wire.Response{ID: in.ID, Model: in.Model, Created: in.Created.N, Usage: readUsage(in.Usage)}
	for i := range in.Choices {
		c := &in.Choices[i]
		if c.Finish == finishError {
			return nil, brokenOff()
		}
		choice := wire.Choice{Index: c.Index, Text: c.Message.Content.text, Thinking: c.Message.Content.blocks()}
		choice.Finish, choice.Ending.Window = readFinish(c.Finish)
		for j := range c.Message.ToolCalls {
			call := &c.Message.ToolCalls[j]
			choice.ToolCalls = append(choice.ToolCalls, wire.ToolCall{ID: call.id(), Name: call.Function.Name, Arguments: call.arguments()})
		}
		out.Choices = append(out.Choices, choice)
	}
	return out, nil
}

// failure returns the failure that a body is, nil if it is none.
func (in *looseResponse) failure(body []byte) *wire.Failure {
	if driver.Given(in.Error) || in.Object == finishError {
		return named(driver.FailureIn(body))
	}
	return nil
}

// finishError is the reason for an end that is a failure of Mistral's.
const finishError = "error"

// brokenOff is the failure of a response that its provider could not complete.
func brokenOff() *wire.Failure {
	return &wire.Failure{
		Status: 200, Kind: fault.Upstream, Code: "upstream_error", Retryable: true, CoolDown: true,
		Message: "The provider failed while it wrote its answer.",
	}
}

// readFinish reads finish_reason; window reports that the model's context is full.
func readFinish(word string) (f wire.Finish, window bool) {
	switch word {
	case "":
		return "", false
	case "length":
		return wire.FinishLength, false
	case "model_length":
		return wire.FinishLength, true
	case "tool_calls":
		return wire.FinishToolCalls, false
	}
	return wire.FinishStop, false
}

type looseUsage struct {
	Prompt     driver.Count `json:"prompt_tokens"`
	Completion driver.Count `json:"completion_tokens"`
	Seconds    driver.Count `json:"prompt_audio_seconds"`
	Cached     driver.Count `json:"num_cached_tokens"`
	Details    looseDetails `json:"prompt_tokens_details"`
	Detail     looseDetails `json:"prompt_token_details"`
}

type looseDetails struct {
	Cached driver.Count `json:"cached_tokens"`
}

// readUsage reads a report. Its totals are required.
func readUsage(raw jsontext.Value) wire.Usage {
	if !driver.Given(raw) {
		return wire.Usage{}
	}
	var u looseUsage
	if driver.DecodeLoose(raw, &u) != nil {
		return wire.Usage{Bad: true}
	}
	if (driver.Counts{u.Prompt, u.Completion, u.Seconds, u.Cached, u.Details.Cached, u.Detail.Cached}).Bad() {
		return wire.Usage{Bad: true}
	}
	if !u.Prompt.Given || !u.Completion.Given {
		return wire.Usage{}
	}
	return driver.Reported(usage.Tokens{
		Input: u.Prompt.N, CacheRead: max(u.Cached.N, u.Details.Cached.N, u.Detail.Cached.N), Output: u.Completion.N,
		InputMillis: min(u.Seconds.N*1000, usage.Limit),
	})
}
