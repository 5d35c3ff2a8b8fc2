package estimate

import (
	"bytes"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Bounds of plausible usage where neither the request nor the price list sets one.
const (
	largestWindow = 2_000_000 // tokens of input, if the provider reads more than the request's bytes
	largestAnswer = 131_072   // tokens of output in one choice, seen or hidden
	unseenInput   = 16_384    // tokens that providers add: templates, descriptions of tools, results of their own tools
	unseenOutput  = 64        // tokens that providers add to max_tokens
	maxQueries    = 256       // web searches for one choice: deep research makes dozens of them
)

// Request is what bounds the usage of an attempt.
type Request struct {
	Body       []byte
	Facts      *splice.Request // of Body
	Deployment *catalog.Deployment
}

// Most returns the largest usage that is possible for the attempt that answered. A token has
// at least one byte, so the request bounds the input, unless the provider fetches more itself.
// The caller's limit or the model bounds the output, and so do the response's bytes with room
// for hidden reasoning.
func (r Request) Most(answer int64) usage.Most {
	d := r.Deployment
	m := usage.Most{Input: int64(len(r.Body)) + unseenInput}
	each := int64(largestAnswer)
	switch {
	case r.Facts.MaxTokens > 0:
		each = r.Facts.MaxTokens
	case d.MaxOutputTokens > 0:
		each = d.MaxOutputTokens
	}
	n := max(r.Facts.N, 1)
	m.SearchQueries = n * maxQueries
	m.Output = min(n*(each+unseenOutput), answer+n*largestAnswer)
	return m
}

// Plausible is Most for a given report. If the report exceeds Most, Plausible searches the
// request for reasons that allow more.
func (r Request) Plausible(t usage.Tokens, answer int64) usage.Most {
	m := r.Most(answer)
	if _, beyond := t.Within(m); !beyond {
		return m
	}
	if t.Input > m.Input && r.fetches() {
		m.Input = max(m.Input, largestWindow)
		if d := r.Deployment; d.MaxInputTokens > 0 {
			m.Input = max(int64(len(r.Body))+unseenInput, d.MaxInputTokens)
		}
	}
	if bytes.Contains(r.Body, []byte(`"prediction"`)) { // rejected tokens of a prediction are paid for as output
		m.Output += int64(len(r.Body))
	}
	return m
}

// fetches reports whether the provider may read content that is not in the request, or that
// has more tokens than bytes.
func (r Request) fetches() bool {
	if len(r.Facts.Form()) > 0 { // pictures, whose tokens follow from their size in pixels
		return true
	}
	if r.Facts.Given(splice.PreviousResponse) || r.Facts.Given(splice.Conversation) { // earlier items, which the provider has stored
		return true
	}
	for _, name := range [...]string{"item_reference", "image_url", "video_url", `"file"`, "file_id", "input_audio", "web_search", "search", `"mcp"`, "http"} {
		if bytes.Contains(r.Body, []byte(name)) {
			return true
		}
	}
	return false
}
