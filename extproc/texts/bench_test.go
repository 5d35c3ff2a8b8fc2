package texts_test

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/texts"
)

// BenchmarkTexts reads requests and events that are as long as usual ones.
func BenchmarkTexts(b *testing.B) {
	chat := `{"model":"gpt-4o","messages":[{"role":"system","content":"You are helpful."},{"role":"user","content":"` +
		strings.Repeat(`The quick brown fox jumps over the lazy dog.\n`, 20) + `"}],"user":"u-1"}`
	for _, c := range []struct {
		name string
		body string
		read func(body []byte, n *int)
	}{
		{"request", chat, func(body []byte, n *int) {
			for t := range texts.Chat().Request(body) {
				*n += t.End - t.Off
			}
		}},
		{
			"chunk", `{"id":"chatcmpl-AbCdEfGh0123456789","object":"chat.completion.chunk","created":1732156800,"model":"gpt-4o-mini-2024-07-18",` +
				`"system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" fox"},"logprobs":null,"finish_reason":null}],"usage":null}`,
			func(body []byte, n *int) {
				for t := range texts.Chat().Event(body) {
					*n += t.End - t.Off
				}
			},
		},
		{"messages-event", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" fox"}}`, func(body []byte, n *int) {
			for t := range texts.Messages().Event(body) {
				*n += t.End - t.Off
			}
		}},
		{
			"responses-event", `{"type":"response.output_text.delta","item_id":"msg_0123456789abcdef","output_index":0,"content_index":0,"delta":" fox","sequence_number":17,"logprobs":[]}`,
			func(body []byte, n *int) {
				for t := range texts.Responses().Event(body) {
					*n += t.End - t.Off
				}
			},
		},
	} {
		b.Run(c.name, func(b *testing.B) {
			body, n := []byte(c.body), 0
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				c.read(body, &n)
			}
			if n == 0 {
				b.Fatal("no texts")
			}
		})
	}
}
