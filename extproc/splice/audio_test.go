package splice_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

func TestTranscript(t *testing.T) {
	for _, c := range []struct {
		name, body, text string
		want             usage.Tokens
		has, bad         bool
	}{
		{"tokens", `{"text":"a \"b\"","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":4,"audio_tokens":10},"output_tokens":3,"total_tokens":17}}`, `a "b"`, usage.Tokens{Input: 14, InputAudio: 10, Output: 3}, true, false},
		{"seconds", `{"text":"a","usage":{"type":"duration","seconds":61.2345}}`, "a", usage.Tokens{InputMillis: 61235}, true, false},
		{"verbose", `{"task":"transcribe","duration":8.47,"text":"a","segments":[{"text":"b"}],"usage":{"type":"duration","seconds":9}}`, "a", usage.Tokens{InputMillis: 9000}, true, false},
		{"length alone", `{"duration":8.47,"text":"a"}`, "a", usage.Tokens{InputMillis: 8470}, true, false},
		{"no usage", `{"text":"a","usage":null,"duration":null}`, "a", usage.Tokens{}, false, false},
		{"negative", `{"text":"a","usage":{"type":"duration","seconds":-1}}`, "a", usage.Tokens{}, false, true},
		{"a year", `{"text":"a","duration":31536000}`, "a", usage.Tokens{}, false, true},
		{"text in a length", `{"text":"a","duration":"8"}`, "a", usage.Tokens{}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := splice.ReplyFacts{Collect: true}
			if err := splice.Transcript([]byte(c.body), &f); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, f.Tokens); d != "" || f.HasUsage != c.has || f.BadUsage != c.bad || string(f.Text) != c.text {
				t.Errorf("%s has %v bad %v text %q", d, f.HasUsage, f.BadUsage, f.Text)
			}
		})
	}
	var f splice.ReplyFacts
	if err := splice.Transcript([]byte("1\n00:00:00,000 --> 00:00:01,000\na"), &f); err == nil {
		t.Error("subtitles are read as JSON")
	}
	if err := splice.Transcript([]byte(`{"error":{"message":"m"}}`), &f); err != nil || !f.HasError() {
		t.Error("an error is no error", err)
	}
}

func TestAudioEvents(t *testing.T) {
	type facts struct {
		Text                       string
		Content, Done, Usage, Fail bool
		Tokens                     usage.Tokens
	}
	for _, c := range []struct {
		data string
		want facts
	}{
		{`{"type":"transcript.text.delta","delta":" fox"}`, facts{Text: " fox", Content: true}},
		{`{"type":"transcript.text.segment","id":"s","text":"a fox","start":0.5,"end":1,"speaker":"A"}`, facts{}},
		{`{"type":"transcript.text.done","text":"a fox","usage":{"type":"tokens","input_tokens":4,"output_tokens":2,"total_tokens":6}}`, facts{Done: true, Usage: true, Tokens: usage.Tokens{Input: 4, Output: 2}}},
		{`{"type":"speech.audio.delta","audio":"AAAA"}`, facts{Content: true}},
		{`{"type":"speech.audio.done","usage":{"input_tokens":4,"output_tokens":200,"total_tokens":204}}`, facts{Done: true, Usage: true, Tokens: usage.Tokens{Input: 4, Output: 200}}},
		{`{"type":"speech.audio.done"}`, facts{Done: true}},
		{`{"error":{"message":"m"}}`, facts{Fail: true}},
		{`[DONE]`, facts{Done: true}},
	} {
		f := splice.ChunkFacts{ReplyFacts: splice.ReplyFacts{Collect: true}}
		if err := splice.AudioEvent([]byte(c.data), &f); err != nil {
			t.Errorf("%s: %v", c.data, err)
		}
		got := facts{string(f.Text), f.HasContent, f.Done, f.HasUsage, f.HasError(), f.Tokens}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.data, d)
		}
	}
	var f splice.ChunkFacts
	if err := splice.AudioEvent([]byte(`{"type":`), &f); err == nil {
		t.Error("half an event is accepted")
	}
}
