package splice_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name, usage string
		want        usage.Tokens
		has, bad    bool
	}{
		{"absent", ``, usage.Tokens{}, false, false},
		{"null", `null`, usage.Tokens{}, false, false},
		{"empty", `{}`, usage.Tokens{}, false, false},
		{"nulls", `{"prompt_tokens":null,"completion_tokens":null}`, usage.Tokens{}, false, false},
		{"zero", `{"prompt_tokens":0,"completion_tokens":0}`, usage.Tokens{}, true, false},
		{"plain", `{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}`, usage.Tokens{Input: 3, Output: 4}, true, false},
		{"embeddings", `{"prompt_tokens":3,"total_tokens":3}`, usage.Tokens{Input: 3}, true, false},
		{"details", `{"prompt_tokens":30,"completion_tokens":40,"prompt_tokens_details":{"cached_tokens":5,"cache_write_tokens":6,"audio_tokens":7,"image_tokens":8},"completion_tokens_details":{"reasoning_tokens":9,"audio_tokens":10,"accepted_prediction_tokens":1}}`, usage.Tokens{Input: 30, CacheRead: 5, CacheWrite: 6, InputAudio: 7, InputImage: 8, Output: 40, Reasoning: 9, OutputAudio: 10}, true, false},
		{"details null", `{"prompt_tokens":3,"completion_tokens":4,"prompt_tokens_details":null,"completion_tokens_details":{"reasoning_tokens":null}}`, usage.Tokens{Input: 3, Output: 4}, true, false},
		{"cache outside", `{"prompt_tokens":30,"completion_tokens":4,"cache_read_input_tokens":5,"cache_creation_input_tokens":6}`, usage.Tokens{Input: 30, CacheRead: 5, CacheWrite: 6, Output: 4}, true, false},
		{"cache for an hour", `{"prompt_tokens":30,"completion_tokens":4,"cache_creation_input_tokens":6,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":4}}`, usage.Tokens{Input: 30, CacheWrite: 2, CacheWrite1h: 4, Output: 4}, true, false},
		{"cache hit", `{"prompt_tokens":30,"completion_tokens":4,"prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":25}`, usage.Tokens{Input: 30, CacheRead: 5, Output: 4}, true, false},
		{"details win", `{"cache_read_input_tokens":5,"prompt_tokens":30,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}`, usage.Tokens{Input: 30, CacheRead: 2, Output: 4}, true, false},
		{"reasoning left out of completion", `{"prompt_tokens":10,"completion_tokens":4,"total_tokens":34,"completion_tokens_details":{"reasoning_tokens":20}}`, usage.Tokens{Input: 10, Output: 24, Reasoning: 20}, true, false},
		{"whole in another spelling", `{"prompt_tokens":10.0,"completion_tokens":4e0}`, usage.Tokens{Input: 10, Output: 4}, true, false},
		{"most", `{"prompt_tokens":2147483648,"completion_tokens":0}`, usage.Tokens{Input: usage.Limit}, true, false},
		{"negative", `{"prompt_tokens":-1,"completion_tokens":4}`, usage.Tokens{}, false, true},
		{"fraction", `{"prompt_tokens":1.5,"completion_tokens":4}`, usage.Tokens{}, false, true},
		{"string", `{"prompt_tokens":"1","completion_tokens":4}`, usage.Tokens{}, false, true},
		{"huge", `{"prompt_tokens":1000000000000000000,"completion_tokens":4}`, usage.Tokens{}, false, true},
		{"over", `{"prompt_tokens":2147483649,"completion_tokens":4}`, usage.Tokens{}, false, true},
		{"more cached than read", `{"prompt_tokens":3,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":5}}`, usage.Tokens{}, false, true},
		{"bad detail", `{"prompt_tokens":3,"completion_tokens":4,"completion_tokens_details":{"reasoning_tokens":-5}}`, usage.Tokens{}, false, true},
		{"not an object", `[1]`, usage.Tokens{}, false, true},
		{"number", `7`, usage.Tokens{}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := `{"choices":[]}`
			if c.usage != "" {
				body = `{"choices":[], "usage" : ` + c.usage + ` ,"id":"x"}`
			}
			var f splice.ReplyFacts
			if err := splice.Reply([]byte(body), &f); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, f.Tokens); d != "" || f.HasUsage != c.has || f.BadUsage != c.bad {
				t.Errorf("%s has %v bad %v", d, f.HasUsage, f.BadUsage)
			}
			want := c.usage
			if want == "null" {
				want = ""
			}
			if got := string(f.Usage.Of([]byte(body))); got != want {
				t.Errorf("usage is at %q", got)
			}
		})
	}
}

func TestAnswerFacts(t *testing.T) {
	type facts struct {
		Model, Reason, Error, Text string
		Choices                    int
		Content                    bool
	}
	for _, c := range []struct {
		name, body string
		want       facts
	}{
		{"least", `{}`, facts{}},
		{"reply", `{"model":"m\u0031","choices":[{"index":0,"message":{"role":"assistant","content":"a\n\ud83d\ude00\"b","refusal":null},"finish_reason":"stop"}]}`, facts{`"m\u0031"`, "stop", "", "a\n😀\"b", 1, true}},
		{"two choices", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"},{"finish_reason":"length","message":{"content":"b"}}]}`, facts{"", "length", "", "ab", 2, true}},
		{"delta", `{"model":"m","choices":[{"delta":{"content":"a"},"finish_reason":null}]}`, facts{`"m"`, "", "", "a", 1, true}},
		{"role only", `{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}`, facts{"", "", "", "", 1, false}},
		{"null content", `{"choices":[{"delta":{"content":null,"tool_calls":null,"function_call":null}}]}`, facts{"", "", "", "", 1, false}},
		{"empty delta", `{"choices":[{"delta":{},"finish_reason":"my_\u006fwn"}]}`, facts{"", "my_own", "", "", 1, false}},
		{"reasoning", `{"choices":[{"delta":{"reasoning_content":"r"}}]}`, facts{"", "", "", "r", 1, true}},
		{"reasoning twice", `{"choices":[{"delta":{"reasoning":"r","reasoning_content":"r"}}]}`, facts{"", "", "", "r", 1, true}},
		{"refusal", `{"choices":[{"delta":{"refusal":"no"}}]}`, facts{"", "", "", "no", 1, true}},
		{"tool call", `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},7]}}]}`, facts{"", "", "", `f{"a":1}`, 1, true}},
		{"custom tool call", `{"choices":[{"message":{"tool_calls":[{"custom":{"name":"f","input":"x"}}]}}]}`, facts{"", "", "", `fx`, 1, true}},
		{"function call", `{"choices":[{"message":{"function_call":{"name":"f","arguments":"{}"}}}]}`, facts{"", "", "", `f{}`, 1, true}},
		{"completions", `{"choices":[{"text":"abc","index":0,"finish_reason":"length"}]}`, facts{"", "length", "", "abc", 1, true}},
		{"parts", `{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"x"},1]}}]}`, facts{"", "", "", "tx", 1, true}},
		{"error object", `{"error":{"message":"m","code":429}}`, facts{"", "", `{"message":"m","code":429}`, "", 0, false}},
		{"error string", `{"error":"m"}`, facts{"", "", `"m"`, "", 0, false}},
		{"error null", `{"error":null,"choices":[]}`, facts{}},
		{"odd types", `{"model":7,"choices":{"a":1},"error":null}`, facts{}},
		{"odd types within", `{"choices":[1,{"message":[],"delta":7,"finish_reason":7,"text":{}}]}`, facts{"", "", "", "", 2, false}},
		{"escaped names", `{"\u006dodel":"m","choices":[{"d\u0065lta":{"cont\u0065nt":"a"}}]}`, facts{`"m"`, "", "", "a", 1, true}},
		{"last wins", `{"model":"a","model":"b","choices":[{}],"choices":[]}`, facts{`"b"`, "", "", "", 0, false}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := splice.ChunkFacts{}
			f.Collect = true
			f.Text = []byte("before ")
			body := []byte(c.body)
			if err := splice.Chunk(body, &f); err != nil {
				t.Fatal(err)
			}
			got := facts{string(f.Model.Of(body)), f.FinishReason, string(f.Error.Of(body)), strings.TrimPrefix(string(f.Text), "before "), f.Choices, f.HasContent}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if f.HasError() != (c.want.Error != "") {
				t.Error("HasError")
			}
			f = splice.ChunkFacts{}
			if err := splice.Chunk(body, &f); err != nil || f.Text != nil || f.HasContent != c.want.Content {
				t.Error("without collecting:", err, f.Text, f.HasContent)
			}
		})
	}
}

func TestBrokenAnswers(t *testing.T) {
	for _, body := range []string{
		``, ` `, `<html>secret</html>`, `[]`, `null`, `"secret"`, `{`, `{"choices":[{"message":{"content":"secret`, `{"usage":{"prompt_tokens":1}`, `{"choices":[{]}`,
		`{} {}`, "{\"secret\":\"\xff\"}", `{"choices":[{"delta":{"tool_calls":[{"function":{"name":01}}]}}]}`, `{"usage":{"prompt_tokens":1,}}`, "\xef\xbb\xbf{}",
		`{"choices":[` + strings.Repeat("[", 600), `{"choices":[{"delta":{"content":[{"thinking":[}]}]}}]}`,
	} {
		var e *fault.Error
		err := splice.Chunk([]byte(body), new(splice.ChunkFacts))
		if !errors.As(err, &e) || e.Kind != fault.Upstream || strings.Contains(e.Error(), "secret") {
			t.Errorf("%.60q: %v", body, err)
		}
	}
	var f splice.ChunkFacts
	if err := splice.Chunk([]byte("[DONE]"), &f); err != nil || !f.Done {
		t.Error(err, f.Done)
	}
	if err := splice.Chunk([]byte("{}"), &f); err != nil || f.Done {
		t.Error(err, f.Done)
	}
	if splice.Reply([]byte("[DONE]"), new(splice.ReplyFacts)) == nil {
		t.Error("a whole answer is not the end marker")
	}
}

func TestReplaceModel(t *testing.T) {
	body := []byte(` {"id":1, "model" : "gpt\u0034" ,"usage":null}`)
	var f splice.ReplyFacts
	if err := splice.Reply(body, &f); err != nil {
		t.Fatal(err)
	}
	got := string(splice.Replace(nil, body, f.Model, splice.Quote(nil, "alias \"1\"")))
	if want := ` {"id":1, "model" : "alias \"1\"" ,"usage":null}`; got != want {
		t.Error(got)
	}
	if got := splice.Replace(nil, body, splice.Span{}, []byte("x")); &got[0] != &body[0] {
		t.Error("an absent value was replaced")
	}
}

func TestQuote(t *testing.T) {
	for _, s := range []string{"", "a", `"\`, "\x00\n\x1f\x7f", "é😀\u2028", "a\xffb"} {
		q := splice.Quote([]byte("x"), s)[1:]
		v, err := jsontext.AppendUnquote(nil, q)
		if err != nil || string(v) != strings.ToValidUTF8(s, "\ufffd") {
			t.Errorf("%q: %s %v", s, q, err)
		}
	}
}

func TestChunkAllocatesNothing(t *testing.T) {
	data := []byte(delta)
	var f splice.ChunkFacts
	f.Collect = true
	f.Text = make([]byte, 0, 100)
	if n := testing.AllocsPerRun(100, func() {
		f.Text = f.Text[:0]
		if err := splice.Chunk(data, &f); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzChunk compares Chunk with jsontext, and the text with what a decoder reads.
func FuzzChunk(f *testing.F) {
	f.Add([]byte(delta))
	f.Add([]byte(`{"model":"\u0061","choices":[{"delta":{"content":"\ud83d\ude00\n"}}],"usage":{"prompt_tokens":1e1,"completion_tokens":2,"total_tokens":-1}}`))
	f.Add([]byte(`{"choices":[{"message":{"tool_calls":[{"function":{"name":"a","arguments":"{}"}}],"content":[{"text":"x"}]}}],"error":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if splice.IsDone(data) {
			return
		}
		var c splice.ChunkFacts
		c.Collect = true
		err := splice.Chunk(data, &c)
		ok, depth := object(data)
		if depth <= 512 && (err == nil) != ok {
			t.Fatalf("%v, but valid is %v: %q", err, ok, data)
		}
		if err != nil {
			return
		}
		if !c.HasUsage && c.Tokens != (usage.Tokens{}) || c.HasUsage && (c.BadUsage || !c.Tokens.Sane()) {
			t.Fatalf("%+v", c)
		}
		model := ""
		for _, m := range decode(t, data) { // the last one counts
			if m.name == "model" && m.value[0] == '"' {
				model = m.value
			} else if m.name == "model" {
				model = ""
			}
		}
		raw := jsontext.Value(bytes.Clone(c.Model.Of(data)))
		if len(raw) > 0 {
			if err := raw.Format(); err != nil {
				t.Fatal(err)
			}
		}
		if string(raw) != model {
			t.Fatalf("model is %q, not %q: %q", raw, model, data)
		}
		if want, ok := contents(data); ok && want != string(c.Text) {
			t.Fatalf("text is %q, not %q: %q", c.Text, want, data)
		}
	})
}

// contents reads the deltas' content with a decoder. It supports neither other places of text
// nor duplicate members.
func contents(data []byte) (string, bool) {
	for _, other := range []string{"message", "reasoning", "refusal", "tool", "function", "text", `\u`} {
		if bytes.Contains(data, []byte(other)) {
			return "", false
		}
	}
	var v struct {
		Choices []struct {
			Delta struct {
				Content string `json:"content"`
			} `json:"delta"`
		} `json:"choices"`
	}
	if json.Unmarshal(data, &v) != nil {
		return "", false
	}
	var b strings.Builder
	for _, c := range v.Choices {
		b.WriteString(c.Delta.Content)
	}
	return b.String(), true
}
