package extproc

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/usage"
)

// What is possible where neither the request nor the price list says.
const (
	largestWindow = 2_000_000 // tokens of input, of requests that have a provider read more than their bytes
	largestAnswer = 131_072   // tokens of output in one choice, seen or hidden
	unseenInput   = 16_384    // tokens that providers add: templates, descriptions of tools, results of their own tools
	unseenOutput  = 64        // tokens that providers add to max_tokens
	maxQueries    = 256       // web searches for one choice: deep research makes some dozens of them
)

// most is the most that the attempt which answered can have used. A token has a byte at
// least, so the input is bounded by the request, unless the request names what the
// provider fetches itself. The output is bounded by what the caller allows, or the model,
// and by the answer's bytes with room for reasoning that nobody sees.
func (x *Exchange) most(answer int64) usage.Most {
	d := x.last().Deployment
	m := usage.Most{Input: int64(len(x.Body)) + unseenInput}
	each := int64(largestAnswer)
	switch {
	case x.Facts.MaxTokens > 0:
		each = x.Facts.MaxTokens
	case d.MaxOutputTokens > 0:
		each = d.MaxOutputTokens
	}
	n := max(x.Facts.N, 1)
	m.SearchQueries = n * maxQueries
	m.Output = min(n*(each+unseenOutput), answer+n*largestAnswer)
	return m
}

// plausible is most for a report that is beyond it at first sight: it looks into the
// request for what makes more possible.
func (x *Exchange) plausible(t usage.Tokens, answer int64) usage.Most {
	m := x.most(answer)
	if _, beyond := t.Within(m); !beyond {
		return m
	}
	if t.Input > m.Input && x.fetches() {
		m.Input = max(m.Input, largestWindow)
		if d := x.last().Deployment; d.MaxInputTokens > 0 {
			m.Input = max(int64(len(x.Body))+unseenInput, d.MaxInputTokens)
		}
	}
	if bytes.Contains(x.Body, []byte(`"prediction"`)) { // what of it was wrong is paid for as output
		m.Output += int64(len(x.Body))
	}
	return m
}

// fetches reports whether the request may have the provider read what is not in it, or
// what has more tokens than bytes.
func (x *Exchange) fetches() bool {
	for _, name := range [...]string{"image_url", "video_url", `"file"`, "file_id", "input_audio", "web_search", "search", `"mcp"`, "http"} {
		if bytes.Contains(x.Body, []byte(name)) {
			return true
		}
	}
	return false
}
