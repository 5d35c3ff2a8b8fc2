package gemini_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// asWhole returns an event with one more member, so that it is read as a whole response is.
func asWhole(event string) string { return strings.Replace(event, "{", `{"x":null,`, 1) }

// heard is what a stream has made of some events.
type heard struct {
	Chunks   []wire.Chunk
	Failed   bool
	Usage    wire.Usage
	Complete bool
	Model    string
}

func hear(s driver.Stream, event string) heard {
	chunks, err := s.Event(nil, "", []byte(event))
	return heard{append([]wire.Chunk{}, chunks...), err != nil, s.Usage(), s.Complete(), s.Model()}
}

// An event with a text means the same whether it is read by itself or as a whole response is.
func TestTextsAreReadAsWholeResponsesAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		short, whole := gemini.Codec{}.Stream(), gemini.Codec{}.Stream()
		for i, event := range rapid.SliceOfN(rapid.Custom(drawEvent), 1, 12).Draw(t, "events") {
			got, want := hear(short, event), hear(whole, asWhole(event))
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("event %d, %s: %+v, and as a whole response %+v", i, event, got, want)
			}
			if got.Failed {
				return
			}
		}
	})
}

// drawEvent draws an event: mostly one with a text, in the many forms that such a one may have.
func drawEvent(t *rapid.T) string {
	pick := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	text := pick("text", `"Hi"`, `"\n\"quoted\" \\ é"`, `"\u00e9\ud83d\ude00"`, "\"\u65e5\u672c\"", `""`, `"\ud800"`, "\"\xff\"", "\"a\x01\"", `7`, `null`, strconv.Quote(rapid.StringMatching(`[a-z ]{0,9}`).Draw(t, "word")))
	part := `{"text":` + text + pick("more of the part", "", "", `,"thought":true`, `,"thought":false`, `,"thoughtSignature":"c2ln"`, `,"thought":1`, `,"text":"again"`) + `}`
	parts := pick("parts", "["+part+"]", "["+part+"]", "["+part+","+part+"]", "[]", `[{"functionCall":{"name":"f","args":{}}}]`, `[{"thought":true}]`, `[{}]`)
	content := pick("content", `{"parts":`+parts+`,"role":"model"}`, `{"role":"model","parts":`+parts+`}`, `{"parts":`+parts+`}`, `{"role":"model"}`, `{}`)
	candidate := `{"content":` + content + pick("more of the candidate", "", "", `,"index":0`, `,"index":1`, `,"index":-1`, `,"index":1.0`, `,"finishReason":"STOP"`, `,"finishReason":"STOP","index":1`, `,"safetyRatings":[]`) + `}`
	members := []string{`"candidates":` + pick("candidates", "["+candidate+"]", "["+candidate+"]", "["+candidate+"]", "["+candidate+","+candidate+"]", "[]")}
	if count := rapid.IntRange(-1, 12).Draw(t, "tokens"); count >= 0 {
		usage := []string{
			fmt.Sprintf(`"promptTokenCount":%d`, 10), fmt.Sprintf(`"candidatesTokenCount":%d`, count), fmt.Sprintf(`"totalTokenCount":%d`, 10+count),
			pick("details", `"promptTokensDetails":[{"modality":"TEXT","tokenCount":8},{"modality":"AUDIO","tokenCount":2}]`, `"candidatesTokensDetails":[{"modality":"IMAGE","tokenCount":1}]`,
				`"candidatesTokensDetails":[]`, `"promptTokensDetails":[{"modality":"SMELL","tokenCount":1}]`, `"toolUsePromptTokensDetails":[{"tokenCount":3}]`),
			pick("other counts", `"thoughtsTokenCount":3`, `"cachedContentTokenCount":4`, `"toolUsePromptTokenCount":5`, `"trafficType":"ON_DEMAND"`, `"trafficType":"ON_DEMAND_FLEX"`,
				`"thoughtsTokenCount":-1`, `"thoughtsTokenCount":007`, `"thoughtsTokenCount":99999999999`, `"thoughtsTokenCount":"3"`, `"promptTokenCount":11`, `"future":{}`),
		}
		members = append(members, `"usageMetadata":{`+strings.Join(rapid.Permutation(usage).Draw(t, "order of the usage")[:rapid.IntRange(0, 5).Draw(t, "kept")], ",")+`}`)
	}
	for _, more := range []string{`"modelVersion":"gemini-3-flash"`, `"responseId":"r"`, `"createTime":"2026-01-01T00:00:00Z"`, `"modelVersion":"é"`, `"promptFeedback":{}`, `"usageMetadata":null`} {
		if rapid.IntRange(0, 4).Draw(t, more) == 0 {
			members = append(members, more)
		}
	}
	event := "{" + strings.Join(rapid.Permutation(members).Draw(t, "order"), ",") + "}"
	switch rapid.IntRange(0, 9).Draw(t, "spelling") {
	case 0:
		return strings.NewReplacer(`":`, "\" :\t", `,"`, ",\r\n \"", "[", "[ ", "}", " }").Replace(event)
	case 1:
		return event[:len(event)-rapid.IntRange(1, min(9, len(event)-1)).Draw(t, "cut")]
	case 2:
		return event + pick("rest", "}", ",", " ", "{}")
	}
	return event
}

// FuzzTextEvent reads any event after a first one as a text, if it is one, and as a whole response.
func FuzzTextEvent(f *testing.F) {
	const first = `{"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":10},"modelVersion":"m","responseId":"r"}`
	for _, seed := range []string{
		first, `{"candidates":[{"content":{"parts":[{"text":"a\n","thought":true}],"role":"model"},"index":0}]}`,
		`{"candidates":[{"content":{"parts":[{"text":"a\`, `{"candidates":[{"content":{"parts":[{"thought":`, `{"candidates":[],"usageMetadata":{"totalTokenCount":01}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, event string) {
		if !strings.HasPrefix(event, "{") || strings.Contains(event, `"x"`) || strings.Contains(event, `\u0078`) || strings.HasPrefix(strings.TrimSpace(event[1:]), "}") {
			return // another member would change what is wrong with it
		}
		short, whole := gemini.Codec{}.Stream(), gemini.Codec{}.Stream()
		hear(short, first)
		hear(whole, first)
		if got, want := hear(short, event), hear(whole, asWhole(event)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, and as a whole response %+v", event, got, want)
		}
	})
}
