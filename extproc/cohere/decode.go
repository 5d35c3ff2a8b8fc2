package cohere

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type looseResponse struct {
	ID      string         `json:"id"`
	Finish  string         `json:"finish_reason"`
	Message *looseMessage  `json:"message"`
	Usage   jsontext.Value `json:"usage"`
}

type looseMessage struct {
	Content   []looseContent `json:"content"`
	ToolPlan  string         `json:"tool_plan"`
	ToolCalls []looseCall    `json:"tool_calls"`
	Citations []citation     `json:"citations"`
}

// looseContent is a part of a response, or of a piece of one.
type looseContent struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
}

type looseCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Decode reads a whole response.
func (Driver) Decode(body []byte) (*wire.Response, error) {
	var errored struct {
		Message jsontext.Value `json:"message"`
	}
	if f := driver.ReadResponse(body, &errored); f != nil {
		return nil, f
	}
	if len(errored.Message) > 0 && errored.Message.Kind() == '"' { // an error's message is a text
		return nil, driver.FailureIn(body)
	}
	var in looseResponse
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, f
	}
	if in.Message == nil {
		return nil, driver.InvalidResponse("has no message")
	}
	choice := wire.Choice{Text: in.Message.ToolPlan}
	starts := map[int64]int{}
	for i, c := range in.Message.Content {
		starts[int64(i)] = runes(choice.Text)
		choice.Text += c.Text
		if c.Thinking != "" {
			choice.Thinking = append(choice.Thinking, wire.Thinking{Text: c.Thinking})
		}
	}
	for i := range in.Message.Citations {
		choice.Annotations = append(choice.Annotations, in.Message.Citations[i].annotations(starts)...)
	}
	for _, call := range in.Message.ToolCalls {
		arguments := call.Function.Arguments
		if arguments == "" {
			arguments = "{}"
		}
		choice.ToolCalls = append(choice.ToolCalls, wire.ToolCall{ID: call.ID, Name: call.Function.Name, Arguments: arguments})
	}
	var f *wire.Failure
	if choice.Finish, f = ReadFinish(in.Finish); f != nil {
		return nil, f
	}
	return &wire.Response{ID: in.ID, Choices: []wire.Choice{choice}, Usage: ReadUsage(in.Usage)}, nil
}

// ReadFinish reads finish_reason. Two of its words are failures of Cohere's.
func ReadFinish(word string) (wire.Finish, *wire.Failure) {
	switch word {
	case "":
		return "", nil
	case "MAX_TOKENS":
		return wire.FinishLength, nil
	case "TOOL_CALL":
		return wire.FinishToolCalls, nil
	case "ERROR_TOXIC":
		return wire.FinishFilter, nil
	case "ERROR":
		return "", &wire.Failure{
			Status: 200, Kind: fault.Upstream, Code: "upstream_error", Retryable: true, CoolDown: true,
			Message: "The provider failed while it wrote its answer.",
		}
	case "TIMEOUT":
		return "", &wire.Failure{
			Status: 200, Kind: fault.Timeout, Code: "upstream_timeout", Retryable: true, CoolDown: true,
			Message: "The provider took too long to write its answer.",
		}
	}
	return wire.FinishStop, nil
}
