package compose

import (
	"github.com/modelgateway/modelgateway/cluster/prompts"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Messages writes messages as OpenAI's chats have them.
func Messages(turns []prompts.Turn) []byte {
	size := 0
	for i := range turns {
		size += len(turns[i].Content) + len(turns[i].Whole) + len(`{"role":"developer","content":},`)
	}
	out := make([]byte, 0, size)
	for i := range turns {
		if i > 0 {
			out = append(out, ',')
		}
		t := &turns[i]
		if t.Whole != nil {
			out = append(out, t.Whole...)
			continue
		}
		out = splice.Quote(append(out, `{"role":`...), t.Role)
		out = append(append(out, `,"content":`...), t.Content...)
		out = append(out, '}')
	}
	return out
}
