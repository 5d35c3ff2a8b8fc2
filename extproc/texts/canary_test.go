package texts_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// unread returns the members of the golden requests whose strings no model reads, with all below them.
func unread() map[string][]string {
	return map[string][]string{
		"chat": {
			"model", "user", "metadata", "prompt_cache_key", "prompt_id", "messages.tool_calls.id", "messages.tool_call_id", "messages.audio.id", "messages.annotations",
			"messages.content.cache_control", "messages.content.image_url.detail", "messages.content.input_audio.format", "messages.content.file.file_id",
		},
		"messages": {
			"model", "metadata", "system.cache_control", "thinking", "output_config.effort", "tools.cache_control", "mcp_servers.url", "mcp_servers.authorization_token",
			"messages.content.citations", "messages.content.source.media_type", "messages.content.source.file_id", "messages.content.signature",
			"messages.content.data", "messages.content.id", "messages.content.tool_use_id", "messages.content.content.url", "messages.content.content.encrypted_content",
			"messages.content.content.page_age", "messages.content.content.source.media_type",
		},
		"responses": {
			"model", "previous_response_id", "reasoning", "include", "truncation", "prompt.id", "prompt.version", "text.verbosity",
			"tools.server_url", "tools.headers", "tools.authorization", "tools.vector_store_ids", "input.id", "input.call_id", "input.status", "input.encrypted_content",
			"input.container_id", "input.approval_request_id", "input.content.detail", "input.content.file_id", "input.content.input_audio.format",
			"input.content.annotations", "input.action.sources", "input.results.file_id",
		},
		"contents": {
			"systemInstruction.role", "contents.role", "contents.parts.inlineData.mimeType", "contents.parts.file_data.mime_type", "contents.parts.mediaResolution",
			"contents.parts.functionCall.id", "contents.parts.thoughtSignature", "contents.parts.executableCode.language", "contents.parts.codeExecutionResult.outcome",
			"contents.parts.function_response.id", "contents.parts.function_response.parts.inlineData.mimeType", "tools.functionDeclarations.behavior", "tools.googleSearch",
			"toolConfig", "safetySettings", "generationConfig.responseMimeType", "labels", "serviceTier",
		},
		"turns": {
			"model", "messages.citations", "messages.content.image_url.detail", "messages.content.document.id", "messages.tool_call_id", "messages.tool_calls.id",
			"documents.id", "safety_mode", "citation_options", "tool_choice", "thinking", "priority",
		},
		"converse": {
			"system.cachePoint", "system.guardContent.text.qualifiers", "messages.content.image.format", "messages.content.video.format", "messages.content.audio.format",
			"messages.content.document.format", "messages.content.guardContent.image.format", "messages.content.cachePoint",
			"messages.content.reasoningContent.reasoningText.signature", "messages.content.reasoningContent.redactedContent", "messages.content.citationsContent.citations",
			"messages.content.toolUse.toolUseId", "messages.content.toolResult.toolUseId", "messages.content.toolResult.status", "messages.content.toolResult.content.image.format",
			"messages.content.toolResult.content.document.format", "toolConfig.tools.cachePoint", "toolConfig.toolChoice", "outputConfig.effort", "outputConfig.textFormat.type",
			"requestMetadata", "guardrailConfig", "performanceConfig", "serviceTier", "additionalModelResponseFieldPaths",
		},
		"completions": {"model", "user"}, "inputs": {"model", "encoding_format"}, "images": {"model", "size", "quality", "response_format"},
		"ranks": {"model"}, "sound": {"model", "voice", "response_format", "language", "timestamp_granularities"},
	}
}

// bodies returns the requests of the golden files of a language.
func bodies(tb testing.TB, language string) [][]byte {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", language, "*.txtar"))
	if err != nil {
		tb.Fatal(err)
	}
	var out [][]byte
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		if a.Files[0].Name == "request.json" {
			out = append(out, a.Files[0].Data)
		}
	}
	return out
}

// tree is JSON with the members of objects in some order.
type tree struct {
	members []member // of an object
	list    []tree   // of an array
	object  bool
	array   bool
	text    *string
	scalar  string
}

type member struct {
	name  string
	value tree
}

func parse(tb testing.TB, d *jsontext.Decoder) tree {
	tb.Helper()
	token, err := d.ReadToken()
	if err != nil {
		tb.Fatal(err)
	}
	t := tree{object: token.Kind() == '{', array: token.Kind() == '['}
	switch {
	case t.object:
		for d.PeekKind() != '}' {
			name := parse(tb, d)
			t.members = append(t.members, member{*name.text, parse(tb, d)})
		}
	case t.array:
		for d.PeekKind() != ']' {
			t.list = append(t.list, parse(tb, d))
		}
	case token.Kind() == '"':
		return tree{text: new(token.String())}
	default:
		return tree{scalar: token.String()}
	}
	if _, err := d.ReadToken(); err != nil {
		tb.Fatal(err)
	}
	return t
}

func (t *tree) write(b *bytes.Buffer, order func(n int) []int) {
	switch {
	case t.object:
		b.WriteString("{ ")
		for i, k := range order(len(t.members)) {
			if i > 0 {
				b.WriteString(" ,")
			}
			b.Write(splice.Quote(nil, t.members[k].name))
			b.WriteString(": ")
			t.members[k].value.write(b, order)
		}
		b.WriteByte('}')
	case t.array:
		b.WriteByte('[')
		for i := range t.list {
			if i > 0 {
				b.WriteByte(',')
			}
			t.list[i].write(b, order)
		}
		b.WriteByte(']')
	case t.text != nil:
		b.Write(splice.Quote(nil, *t.text))
	default:
		b.WriteString(t.scalar)
	}
}

// mark replaces each string by one that occurs once, and adds to canaries whether a model reads it. path has
// no indexes.
func (t *tree) mark(path string, unread []string, canaries map[string]bool) {
	for i := range t.members {
		t.members[i].value.mark(strings.TrimPrefix(path+"."+t.members[i].name, "."), unread, canaries)
	}
	for i := range t.list {
		t.list[i].mark(path, unread, canaries)
	}
	if t.text == nil || strings.HasSuffix("."+path, ".type") || strings.HasSuffix("."+path, ".role") {
		return // it says what the others are
	}
	canary := fmt.Sprintf("canary %d", len(canaries))
	canaries[canary] = !slices.ContainsFunc(unread, func(name string) bool { return path == name || strings.HasPrefix(path, name+".") })
	t.text = &canary
}

// shuffled writes JSON with the members of all objects in a random order.
func (t *tree) shuffled(rt *rapid.T) []byte {
	var b bytes.Buffer
	t.write(&b, func(n int) []int {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		return rapid.Permutation(order).Draw(rt, "order")
	})
	return b.Bytes()
}

// TestFindsEveryCanary puts another string into every place of a request. Each that a model reads is in
// exactly one span, however the members are ordered, and no other is.
func TestFindsEveryCanary(t *testing.T) {
	t.Parallel()
	for language, reader := range readers() {
		for _, body := range bodies(t, language) {
			rapid.Check(t, func(rt *rapid.T) {
				root := parse(t, jsontext.NewDecoder(bytes.NewReader(body)))
				canaries := make(map[string]bool)
				root.mark("", unread()[language], canaries)
				raw := root.shuffled(rt)
				all := collect(t, raw, reader.Request(raw))
				for canary, read := range canaries {
					n, want := 0, 0
					if read {
						want = 1
					}
					for _, x := range all {
						if within := x.Of(raw); string(within) == canary || x.JSON && bytes.Contains(within, []byte(`"`+canary+`"`)) {
							n++
						}
					}
					if n != want {
						rt.Fatalf("%s: %q is in %d spans, want %d: %s", language, canary, n, want, raw)
					}
				}
			})
		}
	}
}

// TestOrderOfMembersDoesNotMatter: what a text is does not depend on what stands before it.
func TestOrderOfMembersDoesNotMatter(t *testing.T) {
	t.Parallel()
	for language, reader := range readers() {
		for _, body := range bodies(t, language) {
			root := parse(t, jsontext.NewDecoder(bytes.NewReader(body)))
			lines := func(raw []byte) []string {
				var out []string
				for _, x := range collect(t, raw, reader.Request(raw)) {
					text := string(x.Of(raw))
					if x.JSON {
						text = "" // its members have another order
					}
					if x.Kind != texts.Reasoning { // of two with the same text the first is no repeat
						out = append(out, fmt.Sprint(x.Role, x.Kind, x.Item, x.Repeat, text))
					}
				}
				slices.Sort(out)
				return out
			}
			want := lines(body)
			rapid.Check(t, func(rt *rapid.T) {
				raw := root.shuffled(rt)
				if diff := cmp.Diff(want, lines(raw)); diff != "" {
					rt.Fatalf("%s (-want +got):\n%s\n%s", language, diff, raw)
				}
			})
		}
	}
}
