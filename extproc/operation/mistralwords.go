package operation

import (
	"bytes"
	"slices"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Mistral's clients send OpenAI's chats with two words of their own. What is translated is understood by package openai; what is
// passed on gets OpenAI's words here, as no provider of OpenAI's language knows the others.

const (
	randomSeed = `"random_seed"` // Mistral's name of seed
	anyTool    = `"any"`         // Mistral's word for required, as tool_choice
)

// withoutMistral appends to edits, which are in order, those that replace Mistral's words in a chat that is passed on. Most
// requests have none: then the text is searched, and not read.
func withoutMistral(edits []splice.Edit, body []byte, _ string) []splice.Edit {
	seeded := bytes.Contains(body, []byte(randomSeed))
	if !seeded && !bytes.Contains(body, []byte(anyTool)) {
		return edits
	}
	before, other := len(edits), splice.Lookup(body, "seed") != nil
	for name, at := range splice.Members(body, splice.Span{End: len(body)}) {
		switch {
		case string(name) == "random_seed" && !other:
			if from := bytes.LastIndex(body[:at.Off], []byte(randomSeed)); from >= 0 {
				edits = append(edits, splice.Edit{Off: from, End: from + len(randomSeed), With: `"seed"`})
			}
		case string(name) == "tool_choice" && string(at.Of(body)) == anyTool:
			edits = append(edits, splice.Edit{Off: at.Off, End: at.End, With: `"required"`})
		}
	}
	if len(edits) > before {
		slices.SortStableFunc(edits, func(a, b splice.Edit) int { return a.Off - b.Off })
	}
	return edits
}
