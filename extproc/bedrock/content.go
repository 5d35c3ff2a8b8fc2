package bedrock

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// The roles.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

// Texts that the API requires where the caller has none.
const (
	firstTurn    = "Please continue."
	aboutFiles   = "See the documents." // the API takes no document without a text next to it
	emptyResult  = "(no output)"        // nor a result without one
	withoutCalls = "Do not call a tool. Answer in text."
)

// messages writes system and messages. All system messages go to system, tool results become the user's, and adjacent
// messages of one role are merged: the API requires that the roles alternate, starting with the user.
func (b *builder) messages() error {
	for i := range b.in.Messages {
		m := &b.in.Messages[i]
		blocks, err := b.blocks(m, i)
		if err != nil {
			return err
		}
		switch m.Role {
		case wire.System, wire.Developer:
			err = b.instruct(blocks, m, i)
		case wire.User, wire.ToolRole:
			b.say(roleUser, blocks)
		case wire.Assistant:
			b.say(roleAssistant, blocks)
		}
		if err != nil {
			return err
		}
	}
	if b.part {
		if b.out.Messages == nil {
			b.out.Messages = []message{}
		}
		return nil
	}
	if len(b.out.Messages) == 0 || b.out.Messages[0].Role != roleUser {
		b.out.Messages = slices.Insert(b.out.Messages, 0, message{Role: roleUser, Content: []block{textBlock(firstTurn)}})
	}
	for i := range b.out.Messages {
		b.out.Messages[i].complete()
	}
	b.trimPrefill()
	return nil
}

// instruct adds to the instructions of the system. A model without them gets them at the beginning of
// the user's turn.
func (b *builder) instruct(blocks []block, m *wire.Message, i int) error {
	for j := range blocks {
		if blocks[j].Text == nil && blocks[j].CachePoint == nil {
			return driver.Unsendable(placeOf(&m.Parts[0], i), "a system message with more than text", vendor)
		}
	}
	if b.family.noSystem {
		b.say(roleUser, blocks)
		return nil
	}
	b.out.System = append(b.out.System, blocks...)
	return nil
}

// say adds a turn, or adds to the last one. Results stand first, as Claude requires.
func (b *builder) say(role string, blocks []block) {
	if len(blocks) == 0 {
		return
	}
	n := len(b.out.Messages)
	if n == 0 || b.out.Messages[n-1].Role != role {
		b.out.Messages = append(b.out.Messages, message{Role: role, Content: blocks})
		return
	}
	last := &b.out.Messages[n-1]
	last.Content = append(last.Content, blocks...)
	if role == roleUser {
		last.resultsFirst()
	}
}

// resultsFirst moves results to the front, each with the cache point after it.
func (m *message) resultsFirst() {
	var results, others []block
	for i, c := range m.Content {
		if c.ToolResult != nil || c.CachePoint != nil && i > 0 && m.Content[i-1].ToolResult != nil {
			results = append(results, c)
		} else {
			others = append(others, c)
		}
	}
	m.Content = append(results, others...)
}

// complete adds a text to a turn with documents and without one.
func (m *message) complete() {
	has := func(f func(*block) bool) bool {
		return slices.ContainsFunc(m.Content, func(c block) bool { return f(&c) })
	}
	if has(func(c *block) bool { return c.Document != nil }) && !has(func(c *block) bool { return c.Text != nil }) {
		m.Content = append(m.Content, textBlock(aboutFiles))
	}
}

// trimPrefill removes white space from the end of a last turn of the assistant, which the model continues: the
// API rejects it.
func (b *builder) trimPrefill() {
	last := &b.out.Messages[len(b.out.Messages)-1]
	if end := &last.Content[len(last.Content)-1]; last.Role == roleAssistant && end.Text != nil {
		text := strings.TrimRight(*end.Text, " \t\r\n") // not blank: blank texts are left out
		end.Text = &text
	}
}

func textBlock(text string) block { return block{Text: &text} }

// blocks writes the parts of the i-th message, each with its cache point.
func (b *builder) blocks(m *wire.Message, i int) ([]block, error) {
	var out []block
	for j := range m.Parts {
		p := &m.Parts[j]
		own, err := b.block(p, i)
		if err != nil {
			return nil, err
		}
		if own == nil {
			continue
		}
		point, err := b.cachePoint(markOf(p), placeOf(p, i))
		if err != nil {
			return nil, err
		}
		out = append(out, *own)
		if point != nil {
			out = append(out, block{CachePoint: point})
		}
	}
	return out, nil
}

// markOf returns the cache marker of a part. A marker within a result counts for the whole result,
// because the API takes no cache point inside of it.
func markOf(p *wire.Part) jsontext.Value {
	if p.Cache != nil || p.Result == nil {
		return p.Cache
	}
	for i := range p.Result.Parts {
		if c := p.Result.Parts[i].Cache; c != nil {
			return c
		}
	}
	return nil
}

// block writes one part; nil if there is nothing to send: the API rejects blank texts, and reasoning
// without a signature that it knows.
func (b *builder) block(p *wire.Part, i int) (*block, error) {
	switch p.Kind {
	case wire.TextPart, wire.RefusalPart:
		if strings.TrimSpace(p.Text) == "" {
			return nil, nil
		}
		out := textBlock(p.Text)
		return &out, nil
	case wire.ThinkingPart:
		if proof, ok := b.proof(p.Signature); ok {
			return &block{Reasoning: &reasoning{Text: &reasoningText{p.Text, proof}}}, nil
		}
		return nil, nil
	case wire.RedactedPart:
		if proof, ok := b.proof(p.Signature); ok {
			return &block{Reasoning: &reasoning{Redacted: proof}}, nil
		}
		return nil, nil
	case wire.ToolCallPart:
		return b.call(p, i)
	case wire.ToolResultPart:
		return b.result(p, i)
	case wire.ImagePart, wire.FilePart, wire.AudioPart:
		return b.medium(p, i)
	case wire.NativePart:
		if p.Native.Language != wire.Converse {
			return nil, driver.Unsendable(placeOf(p, i), "a block of type "+fault.Quote(p.Native.Type), vendor)
		}
	}
	return nil, driver.Unsendable(placeOf(p, i), "content of this kind", vendor)
}

// proof returns a signature that the model accepts: its own, or one that Anthropic's API has given to
// the same model.
func (b *builder) proof(signature string) (string, bool) {
	if own, ok := wire.Unmark(wire.Converse, signature); ok {
		return own, own != ""
	}
	return signature, signature != "" && !wire.Marked(signature) && b.family.thinks == thinksClaude
}

// call writes a tool call. Its arguments are a text in the canonical form and an object here.
func (b *builder) call(p *wire.Part, i int) (*block, error) {
	input := jsontext.Value(strings.TrimSpace(p.Call.Arguments))
	if len(input) == 0 {
		input = jsontext.Value("{}")
	}
	if !input.IsValid() || input.Kind() != '{' {
		return nil, fault.Field(placeOf(p, i), "invalid_value", "%s: the arguments of the call of tool %q are not a JSON object.", placeOf(p, i), p.Call.Name)
	}
	name := toolName(p.Call.Name)
	if !slices.Contains(b.calls, name) {
		b.calls = append(b.calls, name)
	}
	return &block{ToolUse: &toolUse{ID: callID(p.Call.ID), Name: name, Input: input}}, nil
}

// result writes a tool's result.
func (b *builder) result(p *wire.Part, i int) (*block, error) {
	out := &toolResult{ID: callID(p.Result.CallID)}
	if p.Result.Error && b.family.status {
		out.Status = "error"
	}
	for j := range p.Result.Parts {
		one, err := b.block(&p.Result.Parts[j], i)
		if err != nil {
			return nil, err
		}
		if one != nil {
			out.Content = append(out.Content, *one)
		}
	}
	if len(out.Content) == 0 {
		out.Content = []block{textBlock(emptyResult)}
	}
	return &block{ToolResult: out}, nil
}

// longest is the most characters of the id of a call, and of the name of a tool.
const longest = 64

// callID makes an id that the API accepts: another one becomes its hash, so that two of them stay
// different.
func callID(id string) string {
	if id != "" && len(id) <= longest && !strings.ContainsFunc(id, func(r rune) bool { return notInNames(r) && r != '.' && r != ':' }) {
		return id
	}
	return "tooluse_" + hash(id)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

func notInNames(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// mostPoints is the most cache points of a request.
const mostPoints = 4

// cachePoint returns the cache point that Anthropic's cache_control means; nil if there is no mark, or if
// the model caches nothing: a mark is a hint.
func (b *builder) cachePoint(mark jsontext.Value, param string) (*cachePoint, error) {
	if !driver.Given(mark) || !b.family.caches {
		return nil, nil
	}
	if b.points++; b.points > mostPoints {
		return nil, fault.Field(param, "invalid_value", "%s is the fifth place that is marked with cache_control; %s takes %d of them in a request.", param, vendor, mostPoints)
	}
	var in struct {
		TTL string `json:"ttl"`
	}
	_ = json.Unmarshal(mark, &in) // without a known time it is the model's own
	out := &cachePoint{Type: "default"}
	if in.TTL == "1h" && b.target.Features.LongCache {
		out.TTL = in.TTL
	}
	return out, nil
}
