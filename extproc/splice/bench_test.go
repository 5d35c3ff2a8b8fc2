package splice_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// chat makes a chat body of about size bytes.
func chat(size int, text string) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"gpt-4o-mini","stream":true,"temperature":0.7,"max_tokens":512,"messages":[{"role":"system","content":"You are helpful."}`)
	for b.Len() < size-60 {
		b.WriteString(`,{"role":"user","content":"`)
		for n := 0; n < 800 && b.Len() < size-60; n += len(text) {
			b.WriteString(text)
		}
		b.WriteString(`"}`)
	}
	b.WriteString(`],"user":"u-1","prompt_id":"p"}`)
	return []byte(b.String())
}

const (
	english = `The quick brown fox jumps over the lazy dog.\nIt said \"no\" and went on, as foxes do when they are asked for it. `
	chinese = "\u7f51\u5173\u4f4d\u4e8e\u5e94\u7528\u7a0b\u5e8f\u548c\u6a21\u578b\u63d0\u4f9b\u5546\u4e4b\u95f4\uff0c\u8d1f\u8d23\u8def\u7531\u3001\u8ba1\u8d39\u548c\u5b89\u5168\u3002\\n"
)

func benchmarkScan(b *testing.B, body []byte) {
	b.Helper()
	b.Run("splice", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		var r splice.Request
		for b.Loop() {
			if err := splice.Scan(body, &r); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("jsontext", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if !jsontext.Value(body).IsValid() {
				b.Fatal("invalid")
			}
		}
	})
}

func BenchmarkScan1K(b *testing.B)          { benchmarkScan(b, chat(1<<10, english)) }
func BenchmarkScan256K(b *testing.B)        { benchmarkScan(b, chat(256<<10, english)) }
func BenchmarkScan256KChinese(b *testing.B) { benchmarkScan(b, chat(256<<10, chinese)) }

func BenchmarkEdit1K(b *testing.B) {
	body := chat(1<<10, english)
	var r splice.Request
	if err := splice.Scan(body, &r); err != nil {
		b.Fatal(err)
	}
	plan := splice.Plan{Model: "gpt-4o-mini-2024-07-18", Usage: true, Remove: splice.Extensions}
	var edits []splice.Edit
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		edits = r.Edits(edits[:0], &plan)
		dst = splice.Apply(dst, body, edits)
	}
}

const delta = `{"id":"chatcmpl-AbCdEfGh0123456789","object":"chat.completion.chunk","created":1732156800,"model":"gpt-4o-mini-2024-07-18","system_fingerprint":"fp_0123456789","choices":[{"index":0,"delta":{"content":" fox"},"logprobs":null,"finish_reason":null}],"usage":null}`

func BenchmarkChunk(b *testing.B) {
	for _, c := range []struct {
		name    string
		data    string
		collect bool
	}{
		{"200B", delta[:len(`{"id":"chatcmpl-AbCdEfGh0123456789",`)] + delta[strings.Index(delta, `"model"`):], false},
		{"260B", delta, false},
		{"260B-collect", delta, true},
		{"usage", `{"id":"chatcmpl-AbCdEfGh0123456789","object":"chat.completion.chunk","created":1732156800,"model":"gpt-4o-mini","choices":[],"usage":{"prompt_tokens":1117,"completion_tokens":46,"total_tokens":1163,"prompt_tokens_details":{"cached_tokens":1024,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}`, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := []byte(c.data)
			f := splice.ChunkFacts{}
			f.Collect = c.collect
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				f.Text = f.Text[:0]
				if err := splice.Chunk(data, &f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReply(b *testing.B) {
	body := []byte(`{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4o-mini","choices":[{"index":0,"message":{"role":"assistant","content":"` + strings.Repeat(english, 10) + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	var f splice.ReplyFacts
	for b.Loop() {
		if err := splice.Reply(body, &f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSplitter(b *testing.B) {
	one := "data: " + delta + "\n\n"
	for _, c := range []struct {
		name  string
		chunk []byte
		size  int
	}{
		{"aligned", []byte(one), len(one)},
		{"10-events", []byte(strings.Repeat(one, 10)), 10 * len(one)},
		{"cut", []byte(strings.Repeat(one, 10)), 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.chunk)))
			b.ReportAllocs()
			var s splice.Splitter
			var e splice.Event
			for b.Loop() {
				for from := 0; from < len(c.chunk); from += c.size {
					s.Push(c.chunk[from:min(from+c.size, len(c.chunk))])
					for s.Next(&e) {
						if !e.HasData {
							b.Fatal("no data")
						}
					}
				}
			}
		})
	}
}

func BenchmarkScanForm25M(b *testing.B) {
	body := []byte(file("file", strings.Repeat("\r\n--\x00\xff abcdefgh", 25<<20/14)) + text("model", "m") + last)
	r := splice.Request{Boundary: boundary}
	scan := splice.ScanForm("file")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if err := scan(body, &r); err != nil {
			b.Fatal(err)
		}
	}
}
