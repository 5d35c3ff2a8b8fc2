package responses

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type looseResponse struct {
	ID          string         `json:"id"`
	Model       string         `json:"model"`
	CreatedAt   driver.Count   `json:"created_at"`
	Status      string         `json:"status"`
	Output      []looseItem    `json:"output"`
	Usage       jsontext.Value `json:"usage"`
	Error       jsontext.Value `json:"error"`
	Incomplete  looseReason    `json:"incomplete_details"`
	ServiceTier string         `json:"service_tier"`
}

type looseReason struct {
	Reason string `json:"reason"`
}

// looseItem is an item of output. Items of types that are not read have a type only: their
// members may have any form.
type looseItem struct {
	Type      string      `json:"type"`
	ID        string      `json:"id"`
	Content   []loosePart `json:"content"`
	Summary   []loosePart `json:"summary"`
	Encrypted string      `json:"encrypted_content"`
	CallID    string      `json:"call_id"`
	Name      string      `json:"name"`
	Arguments string      `json:"arguments"`
	Input     string      `json:"input"`
	Action    struct {
		Type string `json:"type"`
	} `json:"action"` // of a search on the web
}

type loosePart struct {
	Type        string            `json:"type"`
	Text        string            `json:"text"`
	Refusal     string            `json:"refusal"`
	Annotations []looseAnnotation `json:"annotations"`
	Logprobs    []logprob         `json:"logprobs"`
}

type looseAnnotation struct {
	URL   string       `json:"url"`
	Title string       `json:"title"`
	Start driver.Count `json:"start_index"`
	End   driver.Count `json:"end_index"`
}

// typeSearch is the type of a search on the web by the provider.
const typeSearch = "web_search_call"

// UnmarshalJSONFrom reads an item.
func (t *looseItem) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	var head struct {
		Type string `json:"type"`
	}
	_ = driver.DecodeLoose(raw, &head) // one that cannot be read has no type that is known
	switch t.Type = head.Type; t.Type {
	case typeMessage, typeReasoning, typeCall, typeCustomCall, typeSearch:
		type plain looseItem
		return driver.DecodeLoose(raw, (*plain)(t))
	}
	return nil
}

// Decode reads a response object.
func (Codec) Decode(body []byte) (*wire.Response, error) {
	var in looseResponse
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, f
	}
	switch {
	case driver.Given(in.Error) || in.Status == statusFailed:
		return nil, driver.FailureIn(body)
	case in.Output == nil:
		return nil, driver.InvalidResponse("has no output")
	case in.Status != "" && in.Status != statusCompleted && in.Status != statusIncomplete:
		return nil, driver.InvalidResponse("is not complete")
	}
	c := wire.Choice{}
	runes := 0
	var probs []logprob
	for i := range in.Output {
		t := &in.Output[i]
		switch t.Type {
		case typeMessage:
			for j := range t.Content {
				p := &t.Content[j]
				c.Annotations = append(c.Annotations, sources(p.Annotations, runes)...)
				c.Text, c.Refusal = c.Text+p.Text, c.Refusal+p.Refusal
				runes += utf8.RuneCountInString(p.Text)
				probs = append(probs, p.Logprobs...)
			}
		case typeReasoning:
			if block, ok := t.thinking(); ok {
				c.Thinking = append(c.Thinking, block)
			}
		case typeCall, typeCustomCall:
			c.ToolCalls = append(c.ToolCalls, t.toolCall())
		}
	}
	c.Logprobs = chatForm(probs)
	c.Finish = in.finish(len(c.ToolCalls) > 0)
	return &wire.Response{
		ID: in.ID, Model: in.Model, Created: in.CreatedAt.N, Choices: []wire.Choice{c}, Usage: in.usage(), ServiceTier: in.ServiceTier,
	}, nil
}

// thoughts returns the texts of a reasoning item, and which member they are: the summary, or
// the reasoning itself of models that show it.
func (t *looseItem) thoughts() ([]loosePart, partKind) {
	if len(t.Summary) > 0 {
		return t.Summary, summaryKind
	}
	return t.Content, thoughtKind
}

// thinking converts a reasoning item; not ok if it is empty.
func (t *looseItem) thinking() (wire.Thinking, bool) {
	parts, _ := t.thoughts()
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	out := wire.Thinking{Text: strings.Join(texts, betweenSummaries)}
	switch {
	case t.Encrypted == "":
	case out.Text == "":
		out.Redacted = ownProof(t.ID, t.Encrypted)
	default:
		out.Signature = ownProof(t.ID, t.Encrypted)
	}
	return out, out != wire.Thinking{}
}

// toolCall converts a call.
func (t *looseItem) toolCall() wire.ToolCall {
	out := wire.ToolCall{ID: t.CallID, Name: t.Name, Arguments: t.Arguments}
	if t.Type == typeCustomCall {
		out.Arguments, out.Custom = t.Input, true
	}
	return out
}

// sources reads sources on the web; other annotations have no canonical form. start is how
// many characters of text are before the part that they belong to.
func sources(in []looseAnnotation, start int) []wire.Annotation {
	var out []wire.Annotation
	for _, a := range in {
		if a.URL != "" {
			out = append(out, wire.Annotation{URL: a.URL, Title: a.Title, Start: start + int(a.Start.N), End: start + int(a.End.N)})
		}
	}
	return out
}

// finish returns why the response ended.
func (r *looseResponse) finish(calls bool) wire.Finish {
	switch {
	case r.Status == statusIncomplete && r.Incomplete.Reason == "content_filter":
		return wire.FinishFilter
	case r.Status == statusIncomplete:
		return wire.FinishLength
	case calls:
		return wire.FinishToolCalls
	}
	return wire.FinishStop
}

type looseUsage struct {
	Input  driver.Count    `json:"input_tokens"`
	Output driver.Count    `json:"output_tokens"`
	In     looseInDetails  `json:"input_tokens_details"`
	Out    looseOutDetails `json:"output_tokens_details"`
}

type looseInDetails struct {
	Cached  driver.Count `json:"cached_tokens"`
	Written driver.Count `json:"cache_write_tokens"`
}

type looseOutDetails struct {
	Reasoning driver.Count `json:"reasoning_tokens"`
}

// usage reads the report. Its totals are required; their parts are optional. Searches are
// items and not part of the report.
func (r *looseResponse) usage() wire.Usage {
	if !driver.Given(r.Usage) {
		return wire.Usage{}
	}
	var u looseUsage
	if driver.DecodeLoose(r.Usage, &u) != nil || (driver.Counts{u.Input, u.Output, u.In.Cached, u.In.Written, u.Out.Reasoning}).Bad() {
		return wire.Usage{Bad: true}
	}
	if !u.Input.Given || !u.Output.Given {
		return wire.Usage{}
	}
	t := usage.Tokens{Input: u.Input.N, CacheRead: u.In.Cached.N, CacheWrite: u.In.Written.N, Output: u.Output.N, Reasoning: u.Out.Reasoning.N}
	for i := range r.Output {
		if o := &r.Output[i]; o.Type == typeSearch && (o.Action.Type == "" || o.Action.Type == "search") {
			t.SearchQueries++
		}
	}
	return driver.Reported(t)
}
