package estimate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/estimate"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

const prose = `The quick brown fox jumps over the lazy dog.\nIt said \"no\" and went on, as foxes do when they are asked for it. `

// chatOf is a chat with messages of some length, and tools.
func chatOf(messages, length, tools int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-4o-mini","stream":true,"temperature":0.7,"max_tokens":512,"messages":[{"role":"system","content":"You are helpful."}`)
	text := strings.Repeat(prose, length/len(prose)+1)[:length]
	text = strings.TrimSuffix(text, `\`)
	for range messages {
		fmt.Fprintf(&b, `,{"role":"user","content":"%s"}`, text)
	}
	b.WriteString(`],"tools":[`)
	for i := range tools {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"function","function":{"name":"get_weather_%d","description":"Returns the weather of a place.","parameters":{"type":"object","properties":{"place":{"type":"string","description":"The name of the place."},"unit":{"type":"string","enum":["C","F"]}},"required":["place"]}}}`, i)
	}
	b.WriteString(`],"user":"u-1","prompt_id":"p"}`)
	return []byte(b.String())
}

func BenchmarkInput(b *testing.B) {
	for _, c := range []struct{ messages, length, tools int }{{1, 20, 0}, {1, 800, 0}, {10, 100, 0}, {100, 800, 0}, {4, 400, 20}} {
		body := chatOf(c.messages, c.length, c.tools)
		b.Run(fmt.Sprintf("%d_of_%d_tools_%d", c.messages, c.length, c.tools), func(b *testing.B) {
			var facts splice.Request
			if err := splice.Scan(body, &facts); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				estimate.Bound(&facts, texts.Chat(), "gpt-4o")
			}
		})
	}
}
