package anthropic

import (
	"bytes"

	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/unmark"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Unmarked appends to edits, which are in order, those for the marked proofs in a request that is passed on to Claude. Claude at Bedrock
// gives proofs that are valid everywhere, so those of Converse lose their mark. Reasoning of other makers is removed.
func Unmarked(edits []splice.Edit, body []byte, _ string) []splice.Edit {
	of := unmark.Language{
		Empty:  `{"type":"text","text":"."}`,
		Marked: func(body []byte) bool { return bytes.Contains(body, []byte(`"`+wire.MarkPrefix)) },
		Proof:  proofIn,
	}
	return of.Append(edits, body, splice.Span{End: len(body)})
}

// proofIn returns where a block of reasoning has a marked proof, and the proof if it is one of Converse's.
func proofIn(body []byte, block splice.Span) (at splice.Span, with string, ok bool) {
	member := ""
	switch string(splice.Lookup(block.Of(body), "type")) {
	case `"thinking"`:
		member = "signature"
	case `"redacted_thinking"`:
		member = "data"
	default:
		return at, "", false
	}
	for name, value := range splice.Members(body, block) {
		raw := value.Of(body)
		if string(name) != member || raw[0] != '"' {
			continue
		}
		marked := string(splice.Plain(raw[1 : len(raw)-1]))
		if ok = wire.Marked(marked); !ok {
			continue
		}
		at = value
		if own, is := wire.Unmark(wire.Converse, marked); is {
			with = string(splice.Quote(nil, own))
		}
	}
	return at, with, ok
}
