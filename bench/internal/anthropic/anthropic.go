// Package anthropic builds the documents of Anthropic's Messages API that the benchmark exchanges.
package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/modelgateway/modelgateway/bench/internal/openai"
)

// Request returns a request for a message of exactly size bytes, or of the smallest possible
// size if that is larger. It says what openai.ChatRequest says.
func Request(model string, size int) []byte {
	build := func(n int) []byte {
		b, err := json.Marshal(map[string]any{
			"model":      model,
			"max_tokens": 256,
			"system":     "You are a helpful assistant.",
			"messages":   []map[string]string{{"role": "user", "content": openai.Text(n)}},
		})
		if err != nil {
			panic(err) // strings and maps always marshal
		}
		return b
	}
	return build(max(0, size-len(build(0))))
}

// Response returns a message of size bytes (or the smallest possible).
func Response(model string, size int) []byte {
	build := func(text string) string {
		return fmt.Sprintf(`{"id":"msg_mock","type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":%q}],`+
			`"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":200,"output_tokens":50}}`, model, text)
	}
	return []byte(build(openai.Text(max(0, size-len(build(""))))))
}

// StreamStart returns the events before a stream's first text.
func StreamStart(model string) []byte {
	start := event("message_start", fmt.Sprintf(`"message":{"id":"msg_mock","type":"message","role":"assistant","model":%q,"content":[],`+
		`"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":200,"output_tokens":1}}`, model))
	return append(start, event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`)...)
}

// StreamText returns the event of one piece of text.
func StreamText(text string) []byte {
	return event("content_block_delta", fmt.Sprintf(`"index":0,"delta":{"type":"text_delta","text":%q}`, text))
}

// StreamEnd returns the events after a stream's last text: the stop reason and the usage.
func StreamEnd() []byte {
	end := event("content_block_stop", `"index":0`)
	end = append(end, event("message_delta", `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":50}`)...)
	return append(end, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"...)
}

func event(kind, members string) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q,%s}\n\n", kind, kind, members)
}
