package anthropic

import "github.com/go-json-experiment/json/jsontext"

type messageStart struct {
	Type    string  `json:"type"`
	Message *answer `json:"message"`
}

type blockStart struct {
	Type  string       `json:"type"`
	Index int          `json:"index"`
	Block *answerBlock `json:"content_block"`
}

type blockStop struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type messageDelta struct {
	Type  string      `json:"type"`
	Delta stopDelta   `json:"delta"`
	Usage answerUsage `json:"usage"`
}

type stopDelta struct {
	Reason   string         `json:"stop_reason"`
	Sequence *string        `json:"stop_sequence"`
	Details  jsontext.Value `json:"stop_details,omitzero"`
}

type messageStop struct {
	Type string `json:"type"`
}

// event appends one event. Its name repeats the type in the data.
func event(dst []byte, name string, data any) []byte {
	dst = append(append(append(dst, "event: "...), name...), "\ndata: "...)
	return append(appendJSON(dst, data), "\n\n"...)
}
