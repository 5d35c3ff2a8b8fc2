package responses

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/money"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// betweenSummaries joins the parts of a reasoning summary, which are paragraphs.
const betweenSummaries = "\n\n"

// Statuses of responses and of items.
const (
	statusCompleted  = "completed"
	statusInProgress = "in_progress"
	statusIncomplete = "incomplete"
	statusFailed     = "failed"
)

// response is a response object, without what it repeats of the request.
type response struct {
	ID          string         `json:"id"`
	Object      string         `json:"object"`
	CreatedAt   int64          `json:"created_at"`
	Status      string         `json:"status"`
	Error       *responseError `json:"error"`
	Incomplete  *incomplete    `json:"incomplete_details"`
	Model       string         `json:"model"`
	Output      []*outItem     `json:"output"`
	ServiceTier string         `json:"service_tier,omitzero"`
	Usage       *outUsage      `json:"usage"`
}

type responseError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type incomplete struct {
	Reason string `json:"reason"`
}

// outItem is an item of output, of any type; each type uses some of the members.
type outItem struct {
	ID        string     `json:"id"`
	Type      string     `json:"type"`
	Status    string     `json:"status,omitzero"`
	Role      string     `json:"role,omitzero"`
	Content   []*outPart `json:"content,omitzero"`
	CallID    string     `json:"call_id,omitzero"`
	Name      string     `json:"name,omitzero"`
	Namespace string     `json:"namespace,omitzero"`
	Arguments *string    `json:"arguments,omitzero"`
	Input     *string    `json:"input,omitzero"`
	Summary   []textItem `json:"summary,omitzero"`
	Encrypted string     `json:"encrypted_content,omitzero"`
}

// outPart is a text or a refusal.
type outPart struct {
	Type        string       `json:"type"`
	Text        *string      `json:"text,omitzero"`
	Refusal     *string      `json:"refusal,omitzero"`
	Annotations []annotation `json:"annotations,omitzero"`
	Logprobs    []logprob    `json:"logprobs,omitzero"`
}

type annotation struct {
	Type  string `json:"type"`
	Start int    `json:"start_index"`
	End   int    `json:"end_index"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

type outUsage struct {
	Input   int64         `json:"input_tokens"`
	In      inputDetails  `json:"input_tokens_details"`
	Output  int64         `json:"output_tokens"`
	Out     outputDetails `json:"output_tokens_details"`
	Total   int64         `json:"total_tokens"`
	CostUSD *money.Pico   `json:"cost,omitzero"`
}

type inputDetails struct {
	Cached  int64 `json:"cached_tokens"`
	Written int64 `json:"cache_write_tokens"`
}

type outputDetails struct {
	Reasoning int64 `json:"reasoning_tokens"`
}

// wholeOf converts a response to this language.
func wholeOf(r *wire.Response, m dialect.Meta) *response {
	if m.ID == "" {
		m.ID = r.ID
	}
	out := newResponse(m)
	out.ServiceTier = tierOf(r.ServiceTier)
	out.Usage = usageOf(&r.Usage)
	if len(r.Choices) == 0 {
		out.Status = statusCompleted
		return out
	}
	c := &r.Choices[0]
	base := baseOf(m.ID)
	add := func(one *outItem, prefix string) {
		one.ID = itemID(prefix, base, len(out.Output))
		out.Output = append(out.Output, one)
	}
	for i := range c.Thinking {
		one := reasoningItem(&c.Thinking[i])
		add(one, prefixReasoning)
		one.Encrypted = seal(&c.Thinking[i], one.ID)
	}
	if c.Text != "" || c.Refusal != "" || len(c.ToolCalls) == 0 && len(c.Thinking) == 0 {
		add(messageItem(c), prefixMessage)
	}
	for i := range c.ToolCalls {
		t := c.ToolCalls[i]
		if t.ID == "" {
			t.ID = callID(base, i)
		}
		add(callItem(&t, m.Echo), prefixOf(&t))
	}
	out.finish(c.Finish)
	return out
}

// newResponse begins a response.
func newResponse(m dialect.Meta) *response {
	return &response{
		ID: prefixResponse + baseOf(m.ID), Object: "response", CreatedAt: m.Created,
		Status: statusInProgress, Model: m.Model, Output: []*outItem{},
	}
}

// finish sets the status by the reason for the end. The last item is what was cut.
func (r *response) finish(f wire.Finish) {
	r.Status = statusCompleted
	switch f {
	case wire.FinishLength:
		r.Status, r.Incomplete = statusIncomplete, &incomplete{"max_output_tokens"}
	case wire.FinishFilter:
		r.Status, r.Incomplete = statusIncomplete, &incomplete{"content_filter"}
	case wire.FinishStop, wire.FinishToolCalls:
	}
	if n := len(r.Output); n > 0 && r.Incomplete != nil && r.Output[n-1].Status != "" {
		r.Output[n-1].Status = statusIncomplete
	}
}

// reasoningItem converts a block of reasoning.
func reasoningItem(t *wire.Thinking) *outItem {
	out := &outItem{Type: typeReasoning, Summary: []textItem{}}
	if t.Text != "" {
		out.Summary = append(out.Summary, textItem{"summary_text", t.Text})
	}
	return out
}

// messageItem converts the text and the refusal of a choice.
func messageItem(c *wire.Choice) *outItem {
	out := &outItem{Type: typeMessage, Status: statusCompleted, Role: "assistant", Content: []*outPart{}}
	if c.Text != "" || c.Refusal == "" {
		p := textPart(c.Text)
		p.Annotations = append(p.Annotations, annotationsOf(c.Annotations, 0)...)
		p.Logprobs = append(p.Logprobs, logprobsOf(c.Logprobs)...)
		out.Content = append(out.Content, p)
	}
	if c.Refusal != "" {
		out.Content = append(out.Content, &outPart{Type: "refusal", Refusal: &c.Refusal})
	}
	return out
}

// textPart is a part with text.
func textPart(text string) *outPart {
	return &outPart{Type: "output_text", Text: &text, Annotations: []annotation{}, Logprobs: []logprob{}}
}

// callItem converts a tool call. echo has the tools of the request.
func callItem(t *wire.ToolCall, echo jsontext.Value) *outItem {
	out := &outItem{Type: typeCall, Status: statusCompleted, CallID: t.ID}
	out.Namespace, out.Name = outOfNamespace(echo, t.Name)
	if t.Custom {
		out.Type, out.Status, out.Input = typeCustomCall, "", &t.Arguments
	} else {
		out.Arguments = &t.Arguments
	}
	return out
}

// annotationsOf converts sources on the web. start is how many characters of the choice's
// text are before the part that they belong to.
func annotationsOf(in []wire.Annotation, start int) []annotation {
	out := make([]annotation, 0, len(in))
	for _, a := range in {
		if a.URL == "" {
			continue // a source of another kind than on the web
		}
		out = append(out, annotation{Type: "url_citation", Start: max(0, a.Start-start), End: max(0, a.End-start), Title: a.Title, URL: a.URL})
	}
	return out
}

// usageOf converts usage. It is never nil: SDKs require it of a response that has ended.
func usageOf(u *wire.Usage) *outUsage {
	if u == nil {
		return &outUsage{}
	}
	t := u.Tokens
	return &outUsage{
		Input: t.Input, In: inputDetails{Cached: t.CacheRead, Written: t.CacheWrite + t.CacheWrite1h},
		Output: t.Output, Out: outputDetails{Reasoning: t.Reasoning}, Total: t.Input + t.Output, CostUSD: u.Cost,
	}
}

// tierOf returns a service tier that OpenAI's schema knows; empty for another provider's own.
func tierOf(tier string) string {
	if slices.Contains([]string{"auto", "default", "flex", "scale", "priority", "fast"}, tier) {
		return tier
	}
	return ""
}

// Prefixes of ids. OpenAI checks those of items that it gets back.
const (
	prefixResponse  = "resp_"
	prefixMessage   = "msg_"
	prefixReasoning = "rs_"
	prefixCall      = "fc_"
	prefixCustom    = "ctc_"
)

// prefixOf returns the prefix of the id of a call.
func prefixOf(t *wire.ToolCall) string {
	if t.Custom {
		return prefixCustom
	}
	return prefixCall
}

// longestBase leaves room for a prefix and a number within the 64 characters of an id.
const longestBase = 48

// baseOf returns what the ids of a response and of its items have in common: its id
// without the prefix that the id of a language has.
func baseOf(id string) string {
	for _, prefix := range []string{prefixResponse, "chatcmpl-", "msg_", "req_"} {
		if rest, ok := strings.CutPrefix(id, prefix); ok {
			id = rest
			break
		}
	}
	ordinary := !strings.ContainsFunc(id, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if ordinary && id != "" && len(id) <= longestBase {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:longestBase/4])
}

// itemID is the id of the n-th item.
func itemID(prefix, base string, n int) string { return prefix + base + "_" + strconv.Itoa(n) }

// callID names a call whose provider gave it no id: callers refer to calls by id.
func callID(base string, n int) string { return itemID("call_", base, n) }

// appendResponse appends a response object and what it repeats of the request.
func appendResponse(dst []byte, r *response, echo jsontext.Value) []byte {
	if len(echo) < 2 {
		echo = jsontext.Value(unasked)
	}
	out, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true))
	if err != nil { // only invalid raw JSON, against the guarantee of package wire, can cause this
		return append(dst, fault.From(err).OpenAI()...)
	}
	dst = append(dst, out[:len(out)-1]...)
	return append(append(dst, ','), echo[1:]...)
}
