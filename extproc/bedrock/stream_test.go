package bedrock_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Texts are the same in whatever spelling their events come: most have AWS's own, which is read in a way of its own.
func TestTextsOfEvents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := bedrock.Codec{}.Stream()
		var want strings.Builder
		var got []wire.Chunk
		for i := range rapid.IntRange(1, 5).Draw(t, "events") {
			text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"Hi", "é", `"`, `\`, "\n", "}}"})).Draw(t, "text")
			quoted, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			index := min(i, rapid.IntRange(0, 12).Draw(t, "index"))
			data := rapid.SampledFrom([]string{
				`{"contentBlockIndex":#,"delta":{"text":@},"p":"abc"}`, `{"contentBlockIndex":#,"delta":{"text":@}}`, `{"contentBlockIndex":#,"delta":{"text":@},"p":"a\u0062c"}`,
				`{ "contentBlockIndex" : # , "delta" : {"text":@} }`, `{"delta":{"text":@},"contentBlockIndex":#}`, `{"contentBlockIndex":#,"delta":{"text":@,"more":1},"p":"abc"}`,
			}).Draw(t, "spelling")
			data = strings.NewReplacer("#", strconv.Itoa(index), "@", string(quoted)).Replace(data)
			if got, err = s.Event(got, "contentBlockDelta", []byte(data)); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
			want.WriteString(text)
		}
		var said strings.Builder
		for _, c := range got {
			said.WriteString(c.Text)
		}
		if said.String() != want.String() {
			t.Fatalf("said %q, want %q", said.String(), want.String())
		}
	})
}

// Almost the spelling of AWS is no text where JSON says that it is none.
func TestDamagedTexts(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{"contentBlockIndex":0,"delta":{"text":"a"}`, `{"contentBlockIndex":0,"delta":{"text":"a"},"p":"b"`, `{"contentBlockIndex":0,"delta":{"text":"a"},"p":"b"}}`,
		`{"contentBlockIndex":01,"delta":{"text":"a"}}`, `{"contentBlockIndex":,"delta":{"text":"a"}}`, "{\"contentBlockIndex\":0,\"delta\":{\"text\":\"a\x01\"}}", `{"contentBlockIndex":0,"delta":{"text":"a`,
	} {
		s := bedrock.Codec{}.Stream()
		if _, err := s.Event(nil, "contentBlockDelta", []byte(`{"contentBlockIndex":0,"delta":{"text":"a"}}`)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Event(nil, "contentBlockDelta", []byte(data)); err == nil {
			t.Errorf("%q is read as %+v", data, got)
		}
	}
}

// Reasoning that is encrypted may come in parts, each in base64 of its own.
func TestEncryptedReasoningInParts(t *testing.T) {
	t.Parallel()
	s := bedrock.Codec{}.Stream()
	var got []wire.Chunk
	for _, e := range [][2]string{
		{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"redactedContent":"YQ=="}}}`},
		{"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"redactedContent":"YmM="}}}`},
		{"contentBlockStop", `{"contentBlockIndex":0}`},
	} {
		var err error
		if got, err = s.Event(got, e[0], []byte(e[1])); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 1 || got[0].Block == nil || got[0].Block.Redacted != wire.Mark(wire.Converse, "YWJj") {
		t.Errorf("read as %+v", got)
	}
}
