package estimate_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/tokens"
)

// conversation is what is asked in each of the languages. The strings are the insides of JSON strings.
type conversation struct {
	system string
	turns  []turn
	tools  []tool
}

type turn struct {
	role   string   // user, assistant, or call for a tool's call and its result
	parts  []string // of a call: its result
	name   string   // of the tool
	object string   // arguments
}

type tool struct{ name, description, schema string }

// drawConversation draws a conversation of words that are cheap, dear, escaped, and not English.
func drawConversation(t *rapid.T) conversation {
	words := rapid.SampledFrom([]string{
		"the ", "fox", " jumps\\n", "über ", "\u65e5\u672c\u8a9e", "x = y[1];\\n", "    ", "12345 ", "AAAA", "…", "x ", "\\u00e9", "don't ", "🙂", "\\\"quoted\\\" ", "Zq",
	})
	text := func(most int, label string) string {
		return strings.Join(rapid.SliceOfN(words, 0, most).Draw(t, label), "")
	}
	names := rapid.SampledFrom([]string{"f", "get_weather", "mcp__files__read_many", "run-2"})
	object := func(label string) string {
		return fmt.Sprintf(`{"type":"object","properties":{"city":{"type":"string","description":"%s"}},"required":["city"]}`, text(10, label))
	}
	c := conversation{system: text(20, "system")}
	for range rapid.IntRange(1, 12).Draw(t, "turns") {
		one := turn{role: rapid.SampledFrom([]string{"user", "assistant", "call"}).Draw(t, "role"), parts: []string{text(40, "text")}}
		if one.role == "call" {
			one.name, one.object = names.Draw(t, "called"), fmt.Sprintf(`{"city":"%s"}`, text(6, "city"))
		}
		for len(one.parts) < 4 && rapid.IntRange(0, 3).Draw(t, "more") == 0 {
			one.parts = append(one.parts, text(5, "part"))
		}
		c.turns = append(c.turns, one)
	}
	for range rapid.IntRange(0, 4).Draw(t, "tools") {
		c.tools = append(c.tools, tool{names.Draw(t, "tool"), text(15, "description"), object("schema")})
	}
	return c
}

// count returns the tokens of the conversation: those of each text, and the frames around them that
// OpenAI publishes, with those of tools as the gateway counts them.
func (c *conversation) count(model string) int64 {
	n := counter.CountMessages(model, nil)
	add := func(frame int64, list ...string) {
		n += frame
		for _, raw := range list {
			n += counter.Count(model, string(splice.Plain([]byte(raw))))
		}
	}
	const message, definition = 4, 8
	add(message, c.system)
	for _, x := range c.turns {
		add(message, x.parts...)
		if x.role == "call" {
			add(message, x.name, x.object)
		}
	}
	for _, x := range c.tools {
		add(definition, x.name, x.description, x.schema)
	}
	return n
}

// body writes a body: each item with a comma between them.
type body struct {
	strings.Builder

	comma bool
}

func (b *body) open(text string) { b.WriteString(text); b.comma = false }

func (b *body) item(format string, args ...any) {
	if b.comma {
		b.WriteByte(',')
	}
	b.comma = true
	fmt.Fprintf(&b.Builder, format, args...)
}

// partsOf returns content: a string, or parts if there are several.
func partsOf(list []string, kind string) string {
	if len(list) == 1 {
		return `"` + list[0] + `"`
	}
	var b body
	b.open("[")
	for _, x := range list {
		b.item(`{"type":%q,"text":"%s"}`, kind, x)
	}
	return b.String() + "]"
}

func (c *conversation) chat() string {
	var b body
	b.open(`{"model":"m","messages":[`)
	b.item(`{"role":"system","content":"%s"}`, c.system)
	for i, x := range c.turns {
		if x.role == "call" {
			b.item(`{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"%s","arguments":%s}}]}`, i, x.name, quoted(x.object))
			b.item(`{"role":"tool","tool_call_id":"call_%d","content":%s}`, i, partsOf(x.parts, "text"))
			continue
		}
		b.item(`{"role":"%s","content":%s}`, x.role, partsOf(x.parts, "text"))
	}
	b.open(`],"tools":[`)
	for _, x := range c.tools {
		b.item(`{"type":"function","function":{"name":"%s","description":"%s","parameters":%s}}`, x.name, x.description, x.schema)
	}
	return b.String() + `]}`
}

func (c *conversation) messages() string {
	var b body
	b.open(`{"model":"m","max_tokens":9,"system":"` + c.system + `","messages":[`)
	for i, x := range c.turns {
		if x.role == "call" {
			b.item(`{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"%s","input":%s}]}`, i, x.name, x.object)
			b.item(`{"content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%s}],"role":"user"}`, i, partsOf(x.parts, "text"))
			continue
		}
		b.item(`{"content":%s,"role":"%s"}`, partsOf(x.parts, "text"), x.role)
	}
	b.open(`],"tools":[`)
	for _, x := range c.tools {
		b.item(`{"name":"%s","description":"%s","input_schema":%s}`, x.name, x.description, x.schema)
	}
	return b.String() + `]}`
}

func (c *conversation) responses() string {
	var b body
	b.open(`{"model":"m","instructions":"` + c.system + `","input":[`)
	for i, x := range c.turns {
		if x.role == "call" {
			b.item(`{"type":"function_call","call_id":"call_%d","name":"%s","arguments":%s}`, i, x.name, quoted(x.object))
			b.item(`{"type":"function_call_output","call_id":"call_%d","output":%s}`, i, partsOf(x.parts, "input_text"))
			continue
		}
		b.item(`{"role":"%s","content":%s}`, x.role, partsOf(x.parts, "input_text"))
	}
	b.open(`],"tools":[`)
	for _, x := range c.tools {
		b.item(`{"type":"function","name":"%s","description":"%s","parameters":%s}`, x.name, x.description, x.schema)
	}
	return b.String() + `]}`
}

// quoted returns JSON as a JSON string.
func quoted(json string) string { return string(splice.Quote(nil, json)) }

// TestEstimateCoversConversations: in each language the estimate is not below what is counted, and not
// above an estimate that takes the whole body for text.
func TestEstimateCoversConversations(t *testing.T) {
	t.Parallel()
	for language, c := range map[string]struct {
		reader texts.Reader
		write  func(*conversation) string
		scan   func([]byte, *splice.Request) error
	}{
		"chat":      {texts.Chat(), (*conversation).chat, splice.Scan},
		"messages":  {texts.Messages(), (*conversation).messages, splice.Scan},
		"responses": {texts.Responses(), (*conversation).responses, splice.ScanModel},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				talk := drawConversation(t)
				raw := []byte(c.write(&talk))
				var facts splice.Request
				if err := c.scan(raw, &facts); err != nil {
					t.Fatalf("%v: %s", err, raw)
				}
				for _, model := range []string{"gpt-4o", "gpt-4"} {
					bound, count := estimate.Bound(&facts, c.reader, model), talk.count(model)
					whole := tokens.NewBound(model)
					whole.Add(raw)
					if most := whole.Tokens() + whole.Tokens()/20; bound < count || bound > most {
						t.Fatalf("%s: estimated as %d, counted as %d, the whole body as %d: %s", model, bound, count, whole.Tokens(), raw)
					}
				}
			})
		})
	}
}
