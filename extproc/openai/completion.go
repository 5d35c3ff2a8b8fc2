package openai

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Completions is the language of OpenAI's POST /v1/completions, as far as a chat can serve it: one
// prompt, which becomes the message of a user.
type Completions struct{}

// Name returns wire.Completions.
func (Completions) Name() wire.Dialect { return wire.Completions }

// completionRequest is a request for completions. Its other members have the names and the
// meanings of a chat's.
type completionRequest struct {
	Prompt   jsontext.Value `json:"prompt"`
	Logprobs *dialect.Whole `json:"logprobs"`
	Echo     bool           `json:"echo"`
	Suffix   string         `json:"suffix"`
	BestOf   *dialect.Whole `json:"best_of"`

	chatRequest
}

// prompt is where the text of the request is.
const prompt = "prompt"

// DecodeRequest reads a request for completions. What no chat can do is rejected by name.
func (Completions) DecodeRequest(body []byte) (*wire.Request, error) {
	var in completionRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, dialect.Reject(err, "")
	}
	text, err := in.text()
	if err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	in.Messages = chatMessages{{Role: string(wire.User), Content: chatContent{text: &text}}}
	if in.Logprobs != nil {
		yes := true
		in.chatRequest.Logprobs, in.TopLogprobs = &yes, in.Logprobs
	}
	out, err := in.canonical()
	if err != nil {
		return nil, fault.From(err)
	}
	for i := range out.Messages[0].Parts {
		out.Messages[0].Parts[i].At = wire.Place{Member: prompt}
	}
	return out, nil
}

// text returns the only prompt.
func (c *completionRequest) text() (string, error) {
	v := dialect.Present(c.Prompt)
	var list []jsontext.Value
	switch {
	case v == nil:
		return "", fault.Field(prompt, dialect.CodeMissing, "prompt is missing; send a text.")
	case v.Kind() == '[' && json.Unmarshal(v, &list) == nil && len(list) == 1 && list[0].Kind() == '"':
		v = list[0]
	case len(list) > 1 && list[0].Kind() == '"':
		return "", notOfChats("prompt must be one text", "Send a request for each prompt", prompt)
	case len(list) > 0 && (list[0].Kind() == '0' || list[0].Kind() == '['):
		return "", notOfChats("prompt must be a text", "Send the text that the tokens stand for", prompt)
	}
	var text string
	if v.Kind() != '"' || json.Unmarshal(v, &text) != nil {
		return "", fault.Field(prompt, dialect.CodeType, "prompt must be a text.")
	}
	return text, nil
}

// check rejects what no chat can do, and what completions do not have.
func (c *completionRequest) check() error {
	if err := dialect.In(c.Logprobs, 0, 20, "logprobs"); err != nil {
		return err
	}
	choices := dialect.Whole(1)
	if c.N != nil {
		choices = *c.N
	}
	switch {
	case c.Echo:
		return notOfChats("echo is not supported", "Leave it out", "echo")
	case c.Suffix != "":
		return notOfChats("suffix is not supported", "Leave it out", "suffix")
	case c.BestOf != nil && *c.BestOf > choices:
		return notOfChats("best_of must not be above n", "Leave it out", "best_of")
	}
	for _, foreign := range []struct {
		name  string
		given bool
	}{
		{"messages", c.Messages != nil},
		{"tools", c.Tools != nil},
		{"tool_choice", driver.Given(c.ToolChoice)},
		{"functions", c.Functions != nil},
		{"function_call", driver.Given(c.FunctionCall)},
		{"top_logprobs", c.TopLogprobs != nil},
		{"audio", driver.Given(c.Audio)},
		{"modalities", c.Modalities != nil},
		{"web_search_options", c.WebSearchOptions != nil},
	} {
		if foreign.given {
			return fault.Field(foreign.name, driver.CodeUnsupported, "%s is a parameter of chats, not of completions; send the request to /v1/chat/completions.", foreign.name)
		}
	}
	return nil
}

// notOfChats rejects what only models with an endpoint for completions can do.
func notOfChats(what, remedy, param string) error {
	return fault.Field(param, driver.CodeUnsupported,
		"%s, because the deployments of this model serve chats only. %s, or name a model that serves completions.", what, remedy)
}

// EncodeResponse appends a text_completion object.
func (Completions) EncodeResponse(dst []byte, r *wire.Response, m dialect.Meta) []byte {
	out := &completion{ID: m.ID, Object: completionObject, Created: m.Created, Model: m.Model, Choices: make([]completionChoice, 0, len(r.Choices)), Fingerprint: r.Fingerprint}
	if out.ID == "" {
		out.ID = r.ID
	}
	for i := range r.Choices {
		c := &r.Choices[i]
		reason := completionFinish(c.Finish)
		out.Choices = append(out.Choices, completionChoice{Text: c.Text + c.Refusal, Index: c.Index, Logprobs: completionProbs(c.Logprobs, 0), Finish: &reason})
	}
	if u := usageOf(&r.Usage); u != nil {
		out.Usage = appendJSON(nil, u)
	}
	return appendJSON(dst, out)
}

// Stream returns an encoder of text_completion events.
func (Completions) Stream(m dialect.Meta) dialect.Encoder {
	return &completionEncoder{meta: m, ends: map[int]int{}}
}

// EncodeError returns OpenAI's error body.
func (Completions) EncodeError(e *fault.Error, _ string) []byte { return e.OpenAI() }

// completionFinish names the reason for the end in the words of completions, which have no tools.
func completionFinish(f wire.Finish) string {
	if f == wire.FinishLength || f == wire.FinishFilter {
		return string(f)
	}
	return string(wire.FinishStop)
}
