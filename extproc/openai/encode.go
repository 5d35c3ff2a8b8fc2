package openai

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Encode writes a chat request. Streams always ask for the usage, whether or
// not the caller did: it is what the caller is billed by.
func (d Driver) Encode(ask *wire.Ask, t driver.Target) ([]byte, error) {
	messages, err := d.messages(ask)
	if err != nil {
		return nil, err
	}
	s := ask.Sampling
	if t.Features.NoSampling {
		s = wire.Sampling{N: s.N, Seed: s.Seed}
	}
	out := &chatAsk{
		Model: t.Model, Messages: messages, Tools: toolsOf(ask), ResponseFormat: formatOf(&ask.Format), ReasoningEffort: effortOf(&ask.Reasoning),
		Temperature: s.Temperature, TopP: s.TopP, FrequencyPenalty: s.FrequencyPenalty, PresencePenalty: s.PresencePenalty,
		N: (*dialect.Whole)(s.N), Seed: s.Seed, Logprobs: s.Logprobs, TopLogprobs: (*dialect.Whole)(s.TopLogprobs), LogitBias: s.LogitBias,
		Stop: ask.Stop, User: ask.User, Metadata: ask.Metadata, Audio: ask.Audio, Modalities: ask.Modalities, Stream: ask.Stream,
	}
	if len(out.Tools) > 0 {
		out.ParallelToolCalls = ask.ParallelTools
	}
	if limit := limitOf(ask, t); d.NewLimit {
		out.MaxCompletionTokens = limit
	} else {
		out.MaxTokens = limit
	}
	if ask.Stream {
		out.StreamOptions = &chatOptions{IncludeUsage: true}
	}
	if w := ask.WebSearch; w != nil {
		out.WebSearchOptions = &chatSearch{ContextSize: w.ContextSize}
		if w.Location != nil {
			out.WebSearchOptions.Location = &chatLocation{Type: jsontext.Value(`"approximate"`), Approximate: w.Location}
		}
	}
	if out.ToolChoice, err = choiceOf(&ask.ToolChoice); err != nil {
		return nil, fault.From(err)
	}
	if out.Extra, err = driver.Object(ask.Extra); err != nil {
		return nil, fault.From(err)
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, fault.From(err)
	}
	return body, nil
}

// limitOf is the most output to ask for. Asking for more than the model can
// write is the same wish as asking for all that it can.
func limitOf(ask *wire.Ask, t driver.Target) *dialect.Whole {
	if ask.MaxTokens == nil {
		return nil
	}
	limit := *ask.MaxTokens
	if t.MaxOutputTokens > 0 {
		limit = min(limit, t.MaxOutputTokens)
	}
	return (*dialect.Whole)(&limit)
}

// toolsOf lists the tools. Choosing among some is choosing from a shorter list,
// which every copy of the API understands.
func toolsOf(ask *wire.Ask) []chatTool {
	var out []chatTool
	for i := range ask.Tools {
		t := &ask.Tools[i]
		switch {
		case t.Type != "":
			out = append(out, chatTool{raw: t.Raw})
		case ask.ToolChoice.Allows(t.Name):
			out = append(out, chatTool{chatToolBody: chatToolBody{Type: "function", Function: chatFunction{
				Name: t.Name, Description: t.Description, Parameters: t.Schema, Strict: t.Strict,
			}}})
		}
	}
	return out
}

// choiceOf writes tool_choice; nil if there is nothing to say.
func choiceOf(c *wire.ToolChoice) (jsontext.Value, error) {
	switch c.Mode {
	case wire.ChoiceAuto:
		return jsontext.Value(`"auto"`), nil
	case wire.ChoiceNone:
		return jsontext.Value(`"none"`), nil
	case wire.ChoiceRequired:
		return jsontext.Value(`"required"`), nil
	case wire.ChoiceNamed:
		if c.Custom {
			return json.Marshal(&chatChoice{Type: "custom", Custom: chatName{c.Name}})
		}
		return json.Marshal(&chatChoice{Type: "function", Function: chatName{c.Name}})
	case wire.ChoiceUnset:
	}
	return nil, nil
}

// formatOf writes response_format.
func formatOf(f *wire.Format) *chatFormat {
	switch f.Kind {
	case wire.FormatObject:
		return &chatFormat{Type: "json_object"}
	case wire.FormatSchema:
		name := f.Name
		if name == "" {
			name = "answer" // OpenAI demands one
		}
		return &chatFormat{Type: "json_schema", JSONSchema: &chatSchema{Name: name, Description: f.Description, Schema: f.Schema, Strict: f.Strict}}
	case wire.FormatText:
	}
	return nil
}

// effortOf says in OpenAI's words how much to think. Budgets become efforts by
// the table that turns efforts into budgets.
func effortOf(r *wire.Reasoning) string {
	switch {
	case r.Effort != "" || r.Mode != "enabled":
		return r.Effort
	case r.Budget <= wire.BudgetOf("low"):
		return "low"
	case r.Budget <= wire.BudgetOf("medium"):
		return "medium"
	}
	return "high"
}
