package anthropic_test

import (
	"testing"

	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Reasoning that Claude has written at Bedrock's Converse goes to another Claude with its own signature, and no reasoning of another
// maker goes there: a request with it would be rejected.
func TestUnmarked(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"mgw1:converse:c2ln"},{"type":"redacted_thinking","data":"mgw1:converse:b3Bh"},{"type":"text","text":"b"}]}]}`: `{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"a","signature":"c2ln"},{"type":"redacted_thinking","data":"b3Bh"},{"type":"text","text":"b"}]}]}`,
		`{"messages":[{"content":[{"type":"thinking","thinking":"a","signature":"mgw1:gemini:c:d"},{"type":"text","text":"b"}]}]}`:                                                                                `{"messages":[{"content":[{"type":"text","text":"b"}]}]}`,
		`{"messages":[{"content":[{"type":"text","text":"b"},{"type":"redacted_thinking","data":"mgw1:responses:i:e"}]}]}`:                                                                                        `{"messages":[{"content":[{"type":"text","text":"b"}]}]}`,
		`{"messages":[{"content":[{"type":"thinking","thinking":"a","signature":"mgw1:mistral:x"}]}]}`:                                                                                                            `{"messages":[{"content":[{"type":"text","text":"."}]}]}`,
		`{"messages":[{"content":"mgw1:gemini:a"},{"content":[{"type":"text","text":"mgw1:converse:a"},{"type":"thinking","thinking":"mgw1:","signature":"own"}]}]}`:                                              `{"messages":[{"content":"mgw1:gemini:a"},{"content":[{"type":"text","text":"mgw1:converse:a"},{"type":"thinking","thinking":"mgw1:","signature":"own"}]}]}`,
	} {
		if got := string(splice.Apply(nil, []byte(body), anthropic.Unmarked(nil, []byte(body), ""))); got != want {
			t.Errorf("%s became %s", body, got)
		}
	}
}
