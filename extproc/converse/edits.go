package converse

import (
	"bytes"

	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/unmark"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Edits appends to edits, which are in order, those for the proofs of other providers in a request that is passed on. Claude takes
// those that Anthropic has given at Bedrock as well.
func Edits(edits []splice.Edit, body []byte, model string) []splice.Edit {
	return language(model).Append(edits, body, whole(body))
}

// CountEdits is Edits for a count of tokens.
func CountEdits(edits []splice.Edit, body []byte, model string) []splice.Edit {
	input, err := member(body, whole(body), "input", "")
	if err != nil {
		return edits // which the scan has rejected
	}
	chat, err := member(body, input, "converse", "")
	if err != nil {
		return edits
	}
	return language(model).Append(edits, body, chat)
}

// language returns where the messages of a request to a model have reasoning, and which of it the model takes.
func language(model string) *unmark.Language {
	claude := bytes.Contains([]byte(model), []byte("claude"))
	return &unmark.Language{
		Empty: `{"text":"."}`,
		Marked: func(body []byte) bool {
			return bytes.Contains(body, []byte(`"`+markBase64)) || bytes.Contains(body, []byte(`"`+wire.MarkPrefix))
		},
		Proof: func(body []byte, block splice.Span) (at splice.Span, with string, ok bool) {
			theirs := ""
			if at, theirs, ok = proofIn(body, block); !ok {
				return at, "", false
			}
			if theirs != "" && claude {
				with = string(splice.Quote(nil, theirs))
			}
			return at, with, true
		},
	}
}

// proofIn returns where a block of reasoning has a marked proof, and the proof of Anthropic's that it is; empty if it is another
// provider's.
func proofIn(body []byte, block splice.Span) (at splice.Span, theirs string, ok bool) {
	reasoning, err := member(body, block, "reasoningContent", "")
	if err != nil || reasoning.Empty() {
		return at, "", false
	}
	for name, value := range splice.Members(body, reasoning) {
		switch string(name) {
		case "redactedContent":
			if marked, is := markedIn(plain(body, value)); is {
				at, ok, theirs = value, true, ofAnthropic(marked)
			}
		case "reasoningText":
			for inner, signature := range splice.Members(body, value) {
				if marked := plain(body, signature); string(inner) == "signature" && wire.Marked(marked) {
					at, ok, theirs = signature, true, ofAnthropic(marked)
				}
			}
		}
	}
	return at, theirs, ok
}

// ofAnthropic returns a marked proof of Anthropic's; empty for another provider's.
func ofAnthropic(marked string) string {
	if theirs, ok := wire.Unmark(wire.Anthropic, marked); ok {
		return theirs
	}
	return ""
}

// plain returns what a JSON text says; empty for another value.
func plain(body []byte, at splice.Span) string {
	raw := at.Of(body)
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return string(splice.Plain(raw[1 : len(raw)-1]))
}
