package converse

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// The roles of messages.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleSystem    = "system"
)

type callerMessage struct {
	Role    string        `json:"role"`
	Content []callerBlock `json:"content"`
}

// callerBlock is a block of any kind. It is kept raw as well, for kinds that only Bedrock has.
type callerBlock struct {
	callerBlockBody

	raw jsontext.Value
}

type callerBlockBody struct {
	Text       *string          `json:"text"`
	Image      *callerMedium    `json:"image"`
	Document   *callerDocument  `json:"document"`
	Video      *callerMedium    `json:"video"`
	Audio      *callerMedium    `json:"audio"`
	ToolUse    *callerUse       `json:"toolUse"`
	ToolResult *callerResult    `json:"toolResult"`
	Reasoning  *callerReasoning `json:"reasoningContent"`
	CachePoint *callerPoint     `json:"cachePoint"`
	Guard      *callerGuard     `json:"guardContent"`
	Cited      *callerCited     `json:"citationsContent"`
	Search     *callerSearch    `json:"searchResult"`
	JSON       jsontext.Value   `json:"json"` // of a result alone
	Other      jsontext.Value   `json:",embed"`
}

type callerUse struct {
	ID    string         `json:"toolUseId"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`
	Type  string         `json:"type"`
}

type callerResult struct {
	ID      string        `json:"toolUseId"`
	Content []callerBlock `json:"content"`
	Status  string        `json:"status"`
	Type    string        `json:"type"`
}

type callerReasoning struct {
	Text *struct {
		Text      string `json:"text"`
		Signature string `json:"signature"`
	} `json:"reasoningText"`
	Redacted string `json:"redactedContent"`
}

type callerPoint struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

// callerGuard is what a guardrail of Bedrock's examines. The model reads it as well.
type callerGuard struct {
	Text *struct {
		Text string `json:"text"`
	} `json:"text"`
	Image *callerMedium `json:"image"`
}

type callerCited struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
}

type callerSearch struct {
	Source  string `json:"source"`
	Title   string `json:"title"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// UnmarshalJSONFrom reads a block.
func (b *callerBlock) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if raw.Kind() == '{' {
		if err := json.Unmarshal(raw, &b.callerBlockBody); err != nil {
			return dialect.Reject(err, dialect.Path(dec.StackPointer()))
		}
	}
	if b.native() != "" {
		b.raw = raw.Clone()
	}
	return nil
}

// native returns the kind of a block for which the canonical form has none; empty for others.
func (b *callerBlockBody) native() string {
	switch {
	case b.ToolUse != nil && b.ToolUse.Type != "":
		return "toolUse of type " + b.ToolUse.Type
	case b.ToolResult != nil && b.ToolResult.Type != "" && b.ToolResult.Type != "tool_result":
		return "toolResult of type " + b.ToolResult.Type
	}
	if others, ok := object(b.Other); ok && len(others) > 0 {
		return others[0].Name
	}
	return ""
}

// system reads system, which becomes the first message.
func (c *callerRequest) system(a *wire.Request) error {
	m := wire.Message{Role: wire.System}
	for j := range c.System {
		b := &c.System[j]
		at := wire.Place{Member: c.prefix + "system", Item: j + 1}
		switch {
		case b.Text != nil:
			m.Parts = append(m.Parts, wire.Part{Text: *b.Text, At: at})
		case b.Guard != nil && b.Guard.Text != nil:
			m.Parts = append(m.Parts, wire.Part{Text: b.Guard.Text.Text, At: at})
		case b.CachePoint != nil:
			mark(m.Parts, b.CachePoint)
		default:
			return fault.Field(at.String(), dialect.CodeValue, "%s must have text, guardContent with text, or cachePoint.", at)
		}
	}
	if len(m.Parts) > 0 {
		a.Messages = append(a.Messages, m)
	}
	return nil
}

// mark says that what ends with the last of some parts should be cached, in Anthropic's words. A point that nothing stands
// before marks nothing.
func mark(parts []wire.Part, p *callerPoint) {
	if len(parts) > 0 {
		parts[len(parts)-1].Cache = markOf(p)
	}
}

func markOf(p *callerPoint) jsontext.Value {
	if p.TTL == "1h" {
		return jsontext.Value(`{"type":"ephemeral","ttl":"1h"}`)
	}
	return jsontext.Value(`{"type":"ephemeral"}`)
}

// messages reads messages.
func (c *callerRequest) messages(a *wire.Request) error {
	c.calls = dialect.Calls{}
	for i := range c.Messages {
		m, err := c.message(&c.Messages[i], i)
		if err != nil {
			return err
		}
		a.Messages = append(a.Messages, m)
	}
	return nil
}

// message converts the i-th message. One with nothing but results gets the role of a tool.
func (c *callerRequest) message(in *callerMessage, i int) (wire.Message, error) {
	param := fmt.Sprintf("%smessages[%d]", c.prefix, i)
	out := wire.Message{}
	switch in.Role {
	case roleUser:
		out.Role = wire.User
	case roleAssistant:
		out.Role = wire.Assistant
	case roleSystem:
		out.Role = wire.System
	default:
		return out, fault.Field(param+".role", dialect.CodeValue, "%s.role must be user or assistant; instructions go to system.", param)
	}
	if len(in.Content) == 0 {
		return out, fault.Field(param+".content", dialect.CodeMissing, "%s.content must have at least one block.", param)
	}
	results := 0
	for j := range in.Content {
		b := &in.Content[j]
		if b.CachePoint != nil {
			mark(out.Parts, b.CachePoint)
			continue
		}
		part, err := c.block(b, out.Role, wire.Place{Member: c.prefix + "messages", Item: i + 1, Field: "content", Part: j + 1})
		if err != nil {
			return out, err
		}
		if part.Result != nil {
			results++
		}
		out.Parts = append(out.Parts, part)
	}
	if results > 0 && results == len(out.Parts) {
		out.Role = wire.ToolRole
	}
	return out, nil
}

// block converts a block of a message with that role.
func (c *callerRequest) block(b *callerBlock, role wire.Role, at wire.Place) (wire.Part, error) {
	out := wire.Part{At: at}
	kind := b.native()
	switch {
	case kind != "":
		out.Kind, out.Native = wire.NativePart, &wire.Native{Language: wire.Converse, Type: kind, Raw: b.raw}
	case b.ToolUse != nil:
		return c.use(b.ToolUse, role, at)
	case b.ToolResult != nil:
		return c.result(b.ToolResult, role, at)
	case b.Reasoning != nil && b.Reasoning.Text != nil:
		out.Kind, out.Text, out.Signature = wire.ThinkingPart, b.Reasoning.Text.Text, proofOf(b.Reasoning.Text.Signature)
	case b.Reasoning != nil && b.Reasoning.Redacted != "":
		out.Kind, out.Signature = wire.RedactedPart, redactedOf(b.Reasoning.Redacted)
	case b.Guard != nil && b.Guard.Text != nil:
		out.Text = b.Guard.Text.Text
	default:
		return b.content(at, "text, image, document, video, audio, toolUse, toolResult, reasoningContent or cachePoint")
	}
	return out, nil
}

// content converts a block that a message and a result may have.
func (b *callerBlock) content(at wire.Place, kinds string) (wire.Part, error) {
	out := wire.Part{At: at}
	image := b.Image
	if b.Guard != nil {
		image = b.Guard.Image
	}
	switch {
	case b.Text != nil:
		out.Text = *b.Text
	case image != nil:
		return image.image(at)
	case b.Document != nil:
		return b.Document.part(at)
	case b.Video != nil:
		return b.Video.video(at)
	case b.Audio != nil:
		return b.Audio.audio(at)
	case b.Cited != nil:
		for _, piece := range b.Cited.Content {
			out.Text += piece.Text
		}
	case b.Search != nil:
		out.Text = b.Search.text()
	default:
		return out, fault.Field(at.String(), dialect.CodeValue, "%s must have %s.", at, kinds)
	}
	return out, nil
}

// text returns what was found as a text, since no other provider has a block for it.
func (s *callerSearch) text() string {
	var b strings.Builder
	b.WriteString("Title: " + s.Title + "\nSource: " + s.Source + "\n")
	for _, one := range s.Content {
		b.WriteString("\n" + one.Text)
	}
	return b.String()
}

// use reads a call of a tool. Its input is an object here and a text in the canonical form.
func (c *callerRequest) use(u *callerUse, role wire.Role, at wire.Place) (wire.Part, error) {
	param, input := at.String()+".toolUse", dialect.Present(u.Input)
	switch {
	case role != wire.Assistant:
		return wire.Part{}, fault.Field(param, dialect.CodeValue, "%s can be in a message of the role assistant only.", param)
	case u.ID == "":
		return wire.Part{}, fault.Field(param+".toolUseId", dialect.CodeMissing, "%s.toolUseId is missing.", param)
	case u.Name == "":
		return wire.Part{}, fault.Field(param+".name", dialect.CodeMissing, "%s.name is missing.", param)
	case input == nil:
		input = jsontext.Value("{}")
	case input.Kind() != '{':
		return wire.Part{}, fault.Field(param+".input", dialect.CodeType, "%s.input must be an object.", param)
	}
	if err := input.Compact(); err != nil {
		return wire.Part{}, err
	}
	c.calls[u.ID] = true
	return wire.Part{Kind: wire.ToolCallPart, Call: &wire.ToolCall{ID: u.ID, Name: u.Name, Arguments: string(input)}, At: at}, nil
}

// result reads the result of a call.
func (c *callerRequest) result(r *callerResult, role wire.Role, at wire.Place) (wire.Part, error) {
	param := at.String() + ".toolResult"
	out := &wire.ToolResult{CallID: r.ID, Error: r.Status == "error"}
	switch {
	case role != wire.User:
		return wire.Part{}, fault.Field(param, dialect.CodeValue, "%s can be in a message of the role user only.", param)
	case r.ID == "":
		return wire.Part{}, fault.Field(param+".toolUseId", dialect.CodeMissing, "%s.toolUseId is missing.", param)
	case !slices.Contains([]string{"", "success", "error"}, r.Status):
		return wire.Part{}, fault.Field(param+".status", dialect.CodeValue, "%s.status must be success or error.", param)
	}
	if err := c.calls.CheckResult(r.ID, param+".toolUseId", "a toolUse"); err != nil {
		return wire.Part{}, err
	}
	for i := range r.Content {
		b := &r.Content[i]
		inner := at
		inner.Inner = i + 1
		if raw := dialect.Present(b.JSON); raw != nil {
			if err := raw.Compact(); err != nil {
				return wire.Part{}, err
			}
			out.Parts = append(out.Parts, wire.Part{Text: string(raw), At: inner})
			continue
		}
		part, err := b.content(inner, "text, json, image, document or video")
		if err != nil {
			return wire.Part{}, err
		}
		out.Parts = append(out.Parts, part)
	}
	return wire.Part{Kind: wire.ToolResultPart, Result: out, At: at}, nil
}
