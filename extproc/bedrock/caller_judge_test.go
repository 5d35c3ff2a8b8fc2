package bedrock_test

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/bedrock"
	"github.com/modelgateway/modelgateway/extproc/converse"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/eventstream"
	"github.com/modelgateway/modelgateway/extproc/judgetest"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// TestTheSDKUnderstandsTheGateway has AWS's SDK judge what callers of Converse send in the golden files, and what they get: responses and
// streams of providers of each language, and many random ones.
func TestTheSDKUnderstandsTheGateway(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../provider/testdata/converse/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	var cases []judged
	for _, file := range files {
		cases = append(cases, callerCases(t, file)...)
	}
	for seed := range 200 {
		cases = append(cases, answerCases(seed)...)
	}
	kinds := map[string]int{}
	for i, problems := range judgetest.Problems(t, cases) {
		kinds[cases[i].Kind]++
		if len(problems) > 0 {
			t.Errorf("%s: %v: %s", cases[i].Name, problems, cases[i].Value)
		}
	}
	for kind, least := range map[string]int{"Converse request": 100, "Converse response": 240, "ConverseStream stream": 240} {
		if kinds[kind] < least {
			t.Errorf("the judge saw %d cases of %s, want %d", kinds[kind], kind, least)
		}
	}
}

// callerCases returns the cases of a golden file of a caller of Converse.
func callerCases(t *testing.T, file string) []judged {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []judged
	for _, f := range archive.Files {
		head, body, _ := strings.Cut(string(f.Data), "\n\n")
		name := filepath.Base(file)
		switch {
		case f.Name == "ask.json" && !strings.HasPrefix(name, "invalid_") && name != "unsupported_member.txtar":
			out = append(out, judged{file + " request", "Converse request", string(f.Data)})
		case f.Name != "answer.http" || !strings.HasPrefix(head, "200\n"):
		case strings.Contains(head, "text/event-stream"):
			out = append(out, judged{file + " stream", "ConverseStream stream", binary([]byte(body))})
		default:
			out = append(out, judged{file + " response", "Converse response", body})
		}
	}
	return out
}

// binary returns the base64 of the frames in which a caller gets events.
func binary(events []byte) string {
	f := eventstream.Frames{Events: true}
	return base64.StdEncoding.EncodeToString(f.End(events))
}

// answerCases returns a random response, whole and streamed.
func answerCases(seed int) []judged {
	return rapid.Custom(func(t *rapid.T) []judged {
		c, chunks := drawChoice(t)
		u := wire.Usage{Source: usage.Provider, Tokens: usage.Tokens{Input: 300, CacheRead: int64(rapid.IntRange(0, 100).Draw(t, "read")), CacheWrite: 7, CacheWrite1h: int64(rapid.IntRange(0, 1).Draw(t, "long")), Output: 9}}
		r := &wire.Response{Choices: []wire.Choice{c}, Usage: u, ServiceTier: rapid.SampledFrom([]string{"", "default", "scale"}).Draw(t, "tier")}
		enc := converse.Dialect{}.Stream(dialect.Meta{})
		var stream []byte
		for i := range chunks {
			stream = enc.Chunk(stream, &chunks[i])
		}
		stream = enc.End(stream, &u)
		return []judged{
			{fmt.Sprint("random response ", seed), "Converse response", string(converse.Dialect{}.EncodeResponse(nil, r, dialect.Meta{}))},
			{fmt.Sprint("random stream ", seed), "ConverseStream stream", binary(stream)},
		}
	}).Example(seed)
}

// drawChoice draws what a model says, whole and in steps. The steps of calls may be mixed.
func drawChoice(t *rapid.T) (c wire.Choice, chunks []wire.Chunk) {
	text := rapid.StringN(0, 9, -1)
	c.Finish = rapid.SampledFrom([]wire.Finish{wire.FinishStop, wire.FinishLength, wire.FinishToolCalls, wire.FinishFilter}).Draw(t, "finish")
	for range rapid.IntRange(0, 2).Draw(t, "thoughts") {
		one := rapid.SampledFrom([]wire.Thinking{{Text: "a"}, {Text: "b", Signature: "c2ln"}, {Redacted: "opaque"}, {Redacted: wire.Mark(wire.Converse, "b3Bh")}, {Redacted: wire.Mark(wire.Gemini, "c:d")}}).Draw(t, "thought")
		c.Thinking = append(c.Thinking, one)
		if one.Text != "" && rapid.Bool().Draw(t, "shown") {
			chunks = append(chunks, wire.Chunk{Thinking: one.Text})
		}
		chunks = append(chunks, wire.Chunk{Block: &one})
	}
	c.Text = text.Draw(t, "text")
	chunks = append(chunks, wire.Chunk{Text: c.Text})
	if n := len([]rune(c.Text)); n > 0 && rapid.Bool().Draw(t, "cited") {
		c.Annotations = []wire.Annotation{{URL: "https://x.test", Title: "x", Start: rapid.IntRange(0, n).Draw(t, "start"), End: n}, {Title: "not on the web", End: n}}
		chunks = append(chunks, wire.Chunk{Annotations: c.Annotations})
	}
	calls := rapid.IntRange(0, 3).Draw(t, "calls")
	for i := range calls {
		one := wire.ToolCall{ID: rapid.SampledFrom([]string{"call_1", "functions.f:0", "", strings.Repeat("x", 80), "ü"}).Draw(t, "id"), Name: "f", Arguments: rapid.SampledFrom([]string{"", "{}", `{"a":1}`, "not JSON"}).Draw(t, "arguments")}
		c.ToolCalls = append(c.ToolCalls, one)
		chunks = append(chunks, wire.Chunk{Tool: &wire.ToolDelta{Index: i, ID: one.ID, Name: one.Name}})
	}
	for i := range calls {
		chunks = append(chunks, wire.Chunk{Tool: &wire.ToolDelta{Index: i, Arguments: c.ToolCalls[i].Arguments}})
	}
	return c, append(chunks, wire.Chunk{Finish: c.Finish})
}

// What Bedrock is sent for callers of other languages, which AWS's SDK finds valid, is understood from a caller, and means the same: it
// becomes the same request again.
func TestRequestsOfBedrockAreUnderstood(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		to := target(rapid.SampledFrom(models()).Draw(t, "model"))
		to.Features = bedrock.Features(to.Model)
		in := drawRequest(t)
		in.Format = wire.Format{} // which may add the reserved tool
		sent, err := bedrock.Codec{}.Encode(in, to)
		if err != nil {
			return
		}
		read, err := converse.Dialect{}.DecodeRequest(sent)
		if err != nil {
			if strings.Contains(err.Error(), "toolUseId must be the id of a toolUse before it") {
				return // the drawn history has results without calls
			}
			t.Fatalf("%v: %s", err, sent)
		}
		to.DropParams = true
		again, err := bedrock.Codec{}.Encode(read, to)
		if err != nil {
			t.Fatalf("%v: %s", err, sent)
		}
		if a, b := messagesOf(t, sent), messagesOf(t, again); a != b {
			t.Fatalf("%s\nbecame\n%s", a, b)
		}
	})
}

// messagesOf returns the messages of a request.
func messagesOf(t *rapid.T, body []byte) string {
	v := jsontext.Value(body).Clone()
	if err := v.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(v), `"messages":`)
	messages, _, _ := strings.Cut(after, `],"system"`)
	messages, _, _ = strings.Cut(messages, `],"toolConfig"`)
	return messages
}
