package anthropic

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type looseResponse struct {
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Content []looseBlock   `json:"content"`
	Usage   jsontext.Value `json:"usage"`
	Error   jsontext.Value `json:"error"`

	looseStop
}

// looseStop is why a response ended.
type looseStop struct {
	StopReason   string         `json:"stop_reason"`
	StopSequence string         `json:"stop_sequence"`
	StopDetails  jsontext.Value `json:"stop_details"`
}

// looseBlock is a content block of a response.
type looseBlock struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Thinking  string         `json:"thinking"`
	Signature string         `json:"signature"`
	Data      string         `json:"data"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
	Citations []citation     `json:"citations"`
}

// citation is a source of any type. It is kept raw as well: only sources on the web are understood.
type citation struct {
	URL   string `json:"url"`
	Title string `json:"title"`

	raw jsontext.Value
}

// UnmarshalJSONFrom reads a citation; one that cannot be read has only its raw form.
func (c *citation) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil || raw.Kind() != '{' {
		return err
	}
	type plain citation
	_ = driver.DecodeLoose(raw, (*plain)(c))
	c.raw = raw.Clone()
	return c.raw.Compact() // an event is one line
}

// Decode reads a message object.
func (Driver) Decode(body []byte) (*wire.Response, error) {
	var in looseResponse
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, f
	}
	switch {
	case driver.Given(in.Error):
		return nil, driver.FailureIn(body)
	case in.Content == nil:
		return nil, driver.InvalidResponse("has no content")
	}
	c := wire.Choice{}
	runes, answered := 0, false
	for i := range in.Content {
		b := &in.Content[i]
		switch b.Type {
		case "text":
			start := runes
			runes += utf8.RuneCountInString(b.Text)
			c.Text += b.Text
			c.Annotations = append(c.Annotations, sources(b.Citations, start, runes)...)
		case "thinking":
			c.Thinking = append(c.Thinking, wire.Thinking{Text: b.Thinking, Signature: b.Signature})
		case "redacted_thinking":
			c.Thinking = append(c.Thinking, wire.Thinking{Redacted: b.Data})
		case "tool_use":
			arguments := argumentsOf(b.Input)
			if b.Name == responseTool {
				c.Text, answered = c.Text+arguments, true
				runes += utf8.RuneCountInString(arguments)
				continue
			}
			c.ToolCalls = append(c.ToolCalls, wire.ToolCall{ID: b.ID, Name: b.Name, Arguments: arguments})
		}
	}
	c.Finish, c.Ending = readFinish(in.StopReason), in.ending()
	if answered && len(c.ToolCalls) == 0 && c.Finish == wire.FinishToolCalls {
		c.Finish = wire.FinishStop
	}
	var u looseUsage
	u.add(in.Usage)
	return &wire.Response{ID: in.ID, Model: in.Model, Choices: []wire.Choice{c}, Usage: u.report()}, nil
}

// argumentsOf converts a tool call's input to the canonical form: a text, and
// never an empty one, because callers parse it.
func argumentsOf(input jsontext.Value) string {
	if !driver.Given(input) {
		return "{}"
	}
	_ = input.Compact() // an invalid value stays as it is
	return string(input)
}

// sources converts the citations of a block of text to annotations of the whole text.
func sources(in []citation, start, end int) []wire.Annotation {
	var out []wire.Annotation
	for _, c := range in {
		if c.raw != nil {
			out = append(out, wire.Annotation{URL: c.URL, Title: c.Title, Start: start, End: end, Citation: c.raw})
		}
	}
	return out
}

// ending returns what Anthropic's stop reasons say beyond those of the canonical form.
func (s *looseStop) ending() wire.Ending {
	out := wire.Ending{Paused: s.StopReason == "pause_turn", Window: s.StopReason == "model_context_window_exceeded"}
	if s.StopReason == "stop_sequence" {
		out.Sequence = s.StopSequence
	}
	if s.StopDetails.Kind() == '{' {
		out.Details = s.StopDetails
	}
	return out
}

// readFinish reads stop_reason.
func readFinish(word string) wire.Finish {
	switch word {
	case "":
		return ""
	case "max_tokens", "compaction", "model_context_window_exceeded":
		return wire.FinishLength
	case "tool_use":
		return wire.FinishToolCalls
	case "refusal":
		return wire.FinishFilter
	}
	return wire.FinishStop // end_turn, stop_sequence, pause_turn
}

// looseUsage is a report. A stream sends two, and the later one replaces the
// earlier one member by member.
type looseUsage struct {
	Input    driver.Count       `json:"input_tokens"`
	Output   driver.Count       `json:"output_tokens"`
	Creation driver.Count       `json:"cache_creation_input_tokens"`
	Read     driver.Count       `json:"cache_read_input_tokens"`
	Created  looseCacheCreation `json:"cache_creation"`
	Details  looseOutputDetails `json:"output_tokens_details"`
	Server   looseServerTools   `json:"server_tool_use"`
	broken   bool
	final    bool // the output is final
}

type looseCacheCreation struct {
	FiveMinutes driver.Count `json:"ephemeral_5m_input_tokens"`
	OneHour     driver.Count `json:"ephemeral_1h_input_tokens"`
}

type looseOutputDetails struct {
	Thinking driver.Count `json:"thinking_tokens"`
}

type looseServerTools struct {
	Searches driver.Count `json:"web_search_requests"`
}

// add reads a report over earlier ones.
func (u *looseUsage) add(raw jsontext.Value) {
	if !driver.Given(raw) {
		return
	}
	u.final = true
	// Absent members keep the value of an earlier report.
	if driver.DecodeLoose(raw, u) != nil {
		u.broken = true
	}
}

// report returns the usage in the canonical form. Anthropic's input excludes the
// tokens that were read from or written to the cache; the canonical form includes them.
func (u *looseUsage) report() wire.Usage {
	if u.broken || (driver.Counts{u.Input, u.Output, u.Creation, u.Read, u.Created.FiveMinutes, u.Created.OneHour, u.Details.Thinking, u.Server.Searches}).Bad() {
		return wire.Usage{Bad: true}
	}
	if !u.Input.Given || !u.Output.Given {
		return wire.Usage{}
	}
	written := max(u.Creation.N, u.Created.FiveMinutes.N+u.Created.OneHour.N)
	t := usage.Tokens{
		Input: u.Input.N + u.Read.N + written, CacheRead: u.Read.N,
		CacheWrite: written - u.Created.OneHour.N, CacheWrite1h: u.Created.OneHour.N,
		Output: u.Output.N, Reasoning: u.Details.Thinking.N, SearchQueries: u.Server.Searches.N,
	}
	if u.final {
		return driver.Reported(t)
	}
	t.Output, t.Reasoning = 0, 0
	out := driver.Reported(t)
	out.Source, out.Partial = usage.None, !out.Bad
	return out
}
