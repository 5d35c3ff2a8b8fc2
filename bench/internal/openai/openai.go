// Package openai builds the OpenAI documents that the benchmark exchanges.
package openai

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

var words = strings.Fields(`the quick model reads a long prompt and then answers with some plain
 text about rivers cities numbers music code weather history tables bread glass engines letters
 and small facts that nobody asked for but everyone seems to enjoy once they are written down`)

// Text returns n bytes of words, always the same for the same n, so that tokenizers and
// compressors process something like prose and not one repeated letter.
func Text(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.Grow(n + 16)
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()[:n]
}

// ChatRequest returns a chat completion request of exactly size bytes, or of the smallest
// possible size if that is larger.
func ChatRequest(model string, size int, stream bool) []byte {
	return sized(size, func(text string) map[string]any {
		m := chat(model, text)
		if stream {
			m["stream"] = true
			m["stream_options"] = map[string]bool{"include_usage": true}
		}
		return m
	})
}

// PromptRequest returns a chat completion request of size bytes (or the smallest possible) that
// names a stored prompt and gives its five variables v1 to v5.
func PromptRequest(model, prompt string, size int) []byte {
	return sized(size, func(text string) map[string]any {
		m := chat(model, text)
		m["prompt_id"] = prompt
		m["prompt_variables"] = map[string]string{"v1": "Ada", "v2": "Lovelace", "v3": "London", "v4": "engines", "v5": "numbers"}
		return m
	})
}

func chat(model, text string) map[string]any {
	return map[string]any{
		"model":      model,
		"max_tokens": 256,
		"messages": []map[string]string{
			{"role": "system", "content": "You are a helpful assistant."},
			{"role": "user", "content": text},
		},
	}
}

// EmbeddingsRequest returns a request of size bytes (or the smallest possible) to embed one text.
func EmbeddingsRequest(model string, size int) []byte {
	return sized(size, func(text string) map[string]any {
		return map[string]any{"model": model, "input": text, "encoding_format": "float"}
	})
}

// SpeechRequest returns a request of size bytes (or the smallest possible) to speak one text.
func SpeechRequest(model string, size int) []byte {
	return sized(size, func(text string) map[string]any {
		return map[string]any{"model": model, "input": text, "voice": "alloy", "response_format": "mp3"}
	})
}

// sized returns a document of size bytes, which the length of its text makes up.
func sized(size int, of func(text string) map[string]any) []byte {
	build := func(n int) []byte {
		b, err := json.Marshal(of(Text(n)))
		if err != nil {
			panic(err) // strings and maps always marshal
		}
		return b
	}
	return build(max(0, size-len(build(0))))
}

const usage = `"usage":{"prompt_tokens":200,"completion_tokens":50,"total_tokens":250}`

// ChatResponse returns a chat completion of size bytes (or the smallest possible).
func ChatResponse(model string, size int) []byte {
	build := func(text string) string {
		return fmt.Sprintf(`{"id":"chatcmpl-mock","object":"chat.completion","created":1700000000,"model":%q,`+
			`"choices":[{"index":0,"message":{"role":"assistant","content":%q},"logprobs":null,"finish_reason":"stop"}],%s}`,
			model, text, usage)
	}
	return []byte(build(Text(max(0, size-len(build(""))))))
}

// Transcription returns a transcript of size bytes (or the smallest possible). It reports no
// usage, so a gateway has to measure the sound.
func Transcription(size int) []byte {
	return sized(size, func(text string) map[string]any { return map[string]any{"text": text} })
}

// Embeddings returns an embeddings response with n vectors of dim numbers.
func Embeddings(model string, n, dim int) []byte {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	b.WriteString(`{"object":"list","data":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"object":"embedding","index":%d,"embedding":[`, i)
		for k := range dim {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%.6f", r.Float64()*2-1)
		}
		b.WriteString("]}")
	}
	fmt.Fprintf(&b, `],"model":%q,"usage":{"prompt_tokens":8,"total_tokens":8}}`, model)
	return []byte(b.String())
}

// StreamEvent returns one content event of a streamed completion, with its blank line.
func StreamEvent(model string, k, size int) []byte {
	return []byte(streamEvent(model, k, StreamText(model, k, size)))
}

// StreamText returns the text of StreamEvent, for events in other languages that say the same.
func StreamText(model string, k, size int) string {
	return Text(max(4, size-len(streamEvent(model, k, ""))))
}

func streamEvent(model string, k int, text string) string {
	role := ""
	if k == 0 {
		role = `"role":"assistant",`
	}
	return fmt.Sprintf(`data: {"id":"chatcmpl-mock","object":"chat.completion.chunk","created":1700000000,"model":%q,`+
		`"choices":[{"index":0,"delta":{%s"content":%q},"logprobs":null,"finish_reason":null}]}`+"\n\n", model, role, text)
}

// StreamEnd returns the end of a stream: the finish reason, the usage, [DONE].
func StreamEnd(model string, withUsage bool) []byte {
	head := fmt.Sprintf(`data: {"id":"chatcmpl-mock","object":"chat.completion.chunk","created":1700000000,"model":%q,`, model)
	s := head + `"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}` + "\n\n"
	if withUsage {
		s += head + `"choices":[],` + usage + "}\n\n"
	}
	return []byte(s + "data: [DONE]\n\n")
}
