package extproc

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// geminiEvent is an event of Google's, with a part and the usage so far.
func geminiEvent(part, finish, counts string) string {
	if finish != "" {
		finish = `,"finishReason":"` + finish + `"`
	}
	return `data: {"candidates":[{"content":{"parts":[` + part + `],"role":"model"}` + finish + `}],"usageMetadata":{` + counts + `},"modelVersion":"gemini-up"}` + "\r\n\r\n"
}

// Google's streams have no last event: the caller's end comes with the end of the response, in whatever
// pieces that arrives.
func TestGeminiStreams(t *testing.T) {
	t.Parallel()
	d := place("google", "fast", "", 0)
	d.Model, d.APIBase = "gemini/gemini-3-flash", "https://google.example"
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{d}, Router: quick(0)})
	first := geminiEvent(`{"text":"Hi"}`, "", `"promptTokenCount":10,"candidatesTokenCount":40,"thoughtsTokenCount":5`)
	last := geminiEvent(`{"text":" there."}`, "STOP", `"promptTokenCount":10,"candidatesTokenCount":3,"thoughtsTokenCount":5`)
	for _, test := range []struct {
		name    string
		pieces  []string
		whole   bool
		outcome usage.Outcome
		tokens  usage.Tokens
	}{
		{"the end alone", []string{first, last, ""}, true, journal.Success, usage.Tokens{Input: 10, Output: 45, Reasoning: 5}},
		{"the end with the last event", []string{first + last}, true, journal.Success, usage.Tokens{Input: 10, Output: 45, Reasoning: 5}},
		{"no blank line at the end", []string{first, strings.TrimRight(last, "\r\n")}, true, journal.Success, usage.Tokens{Input: 10, Output: 45, Reasoning: 5}},
		{"cut", []string{first, ""}, false, journal.Failed, usage.Tokens{Input: 10, Output: 45, Reasoning: 5}},
	} {
		e := k.open(t)
		got := relayed(t, e, asking(), test.pieces...)
		if strings.HasSuffix(got, "data: [DONE]\n\n") != test.whole || strings.Contains(got, `"error"`) == test.whole || !strings.Contains(got, `"content":"Hi"`) {
			t.Errorf("%s: the caller gets %s", test.name, got)
		}
		if test.whole != strings.Contains(got, `"completion_tokens":45,`) {
			t.Errorf("%s: the caller gets %s", test.name, got)
		}
		if ev := k.event(e.uuid); ev.Tokens != test.tokens || ev.Source != usage.Provider || ev.Outcome != test.outcome {
			t.Errorf("%s: event %+v", test.name, ev)
		}
	}
}

// Embeddings go to Google's batchEmbedContents and come back in OpenAI's form, in the form of numbers that
// the caller requested, with the usage that Google reports or else a count.
func TestGeminiEmbeddings(t *testing.T) {
	t.Parallel()
	d := place("google", "fast", "", 0)
	d.Model, d.APIBase = "gemini/gemini-embedding-001", "https://google.example"
	for name, test := range map[string]struct {
		ask, reply, want string
		status           int
		source           usage.Source
	}{
		"reported": {
			`"input":["a","b"],"dimensions":2`, `{"embeddings":[{"values":[0.5,-1]},{"values":[1,2]}],"usageMetadata":{"promptTokenCount":7}}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-1]},{"object":"embedding","index":1,"embedding":[1,2]}],"model":"fast","usage":{"prompt_tokens":7,"total_tokens":7}}`,
			200, usage.Provider,
		},
		"counted": {
			`"input":"hello"`, `{"embeddings":[{"values":[0.5]}]}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"fast","usage":{"prompt_tokens":1,"total_tokens":1}}`,
			200, usage.Estimated,
		},
		"as text": {
			`"input":"a","encoding_format":"base64"`, `{"embeddings":[{"values":[0.5,-1,3.1415927]}],"usageMetadata":{"promptTokenCount":1}}`,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":"AAAAPwAAgL/bD0lA"}],"model":"fast","usage":{"prompt_tokens":1,"total_tokens":1}}`,
			200, usage.Provider,
		},
		"too few":   {`"input":["a","b"]`, `{"embeddings":[{"values":[1]}]}`, "upstream_invalid_response", 502, usage.Estimated},
		"no values": {`"input":"a"`, `{"embeddings":[{}]}`, "upstream_invalid_response", 502, usage.Estimated},
		"none":      {`"input":"a"`, `{}`, "upstream_invalid_response", 502, usage.Estimated},
		"an error":  {`"input":"a"`, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, "upstream_overloaded", 502, usage.Estimated},
	} {
		k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{d}, Router: quick(0)})
		e := k.open(t)
		sent := e.request(to(e, "/v1/embeddings"), `{"model":"fast",`+test.ask+`}`)
		if sent.refused != nil || sent.headers[":path"] != "/v1beta/models/gemini-embedding-001:batchEmbedContents" {
			t.Fatalf("%s: sent to %s: %+v", name, sent.headers[":path"], sent.refused)
		}
		a := e.answer(jsonAnswer(test.reply))
		if a.status != test.status || a.status == 200 && a.body != test.want || !strings.Contains(a.body, test.want) {
			t.Errorf("%s: the caller gets %d %s", name, a.status, a.body)
		}
		if ev := k.event(e.uuid); ev.Source != test.source {
			t.Errorf("%s: recorded %+v", name, ev)
		}
		k.settled()
	}
}

// Pictures of Google's models come back in OpenAI's form. Their tokens are paid for, or else the pictures that have come, however many were
// requested.
func TestGeminiPictures(t *testing.T) {
	t.Parallel()
	const whole = `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},"finishReason":"STOP"}]`
	for name, test := range map[string]struct {
		model, reply, want, cost string
		status                   int
		tokens                   usage.Tokens
	}{
		"by the token": {
			"gemini-2.5-flash-image", whole + `,"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1290,"candidatesTokensDetails":[{"modality":"IMAGE","tokenCount":1290}]}}`,
			`"output_format":"png","data":[{"b64_json":"AAAA"}],"usage":{"input_tokens":10,`, "0.03871", 200,
			usage.Tokens{Input: 10, Output: 1290, OutputImage: 1290, Images: 1},
		},
		"by the picture": {
			"imagen-3.0-generate-001", `{"predictions":[{"mimeType":"image/png","bytesBase64Encoded":"AAAA"},{"raiFilteredReason":"taken"}]}`,
			`"output_format":"png","data":[{"b64_json":"AAAA"}]}`, "0.04", 200,
			usage.Tokens{Images: 1},
		},
		"filtered": {
			"imagen-3.0-generate-001", `{"predictions":[{"raiFilteredReason":"Filtered. Support codes: 1"}]}`, `"code":"content_filter"`, "", 400, usage.Tokens{},
		},
	} {
		d := place("google", "fast", "", 0)
		d.Model, d.APIBase, d.DropParams = "gemini/"+test.model, "https://google.example", true
		k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{d}, Router: quick(0)})
		e := k.open(t)
		sent := e.request(to(e, "/v1/images/generations"), `{"model":"fast","prompt":"a fox","n":2}`)
		if sent.refused != nil || !strings.HasPrefix(sent.headers[":path"], "/v1beta/models/"+test.model+":") {
			t.Fatalf("%s: sent to %s: %+v", name, sent.headers[":path"], sent.refused)
		}
		a := e.answer(jsonAnswer(test.reply))
		if a.status != test.status || !strings.Contains(a.body, test.want) {
			t.Errorf("%s: the caller gets %d %s", name, a.status, a.body)
		}
		ev := k.event(e.uuid)
		if test.status == 200 && (ev.Tokens != test.tokens || ev.Source != usage.Provider || ev.Cost.String() != test.cost) {
			t.Errorf("%s: recorded %+v at %s", name, ev, ev.Cost)
		}
		k.settled()
	}
}

// Recordings for Google's models go out as base64 in JSON, and the transcription comes back as requested, also as events. Its tokens are paid for.
func TestGeminiTranscriptions(t *testing.T) {
	t.Parallel()
	d := place("google", "fast", "", 0)
	d.Model, d.APIBase = "gemini/gemini-2.5-flash", "https://google.example"
	const reply = `{"candidates":[{"content":{"parts":[{"text":"A fox."}]},"finishReason":"STOP"}],` +
		`"usageMetadata":{"promptTokenCount":350,"candidatesTokenCount":3,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":320}]}}`
	for name, test := range map[string]struct {
		field, want, media string
	}{
		"json": {"response_format=json", `{"text":"A fox.","usage":{"type":"tokens","input_tokens":350,"input_token_details":{"text_tokens":30,"audio_tokens":320},"output_tokens":3,"total_tokens":353}}`, "application/json"},
		"text": {"response_format=text", "A fox.\n", "text/plain; charset=utf-8"},
		"events": {
			"stream=true",
			`data: {"type":"transcript.text.delta","delta":"A fox."}` + "\n\n" + `data: {"type":"transcript.text.done","text":"A fox."}` + "\n\n", "text/event-stream; charset=utf-8",
		},
	} {
		k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{d}, Router: quick(0)})
		e := k.open(t)
		sent := e.request(toForm(e, "/v1/audio/transcriptions"), form("file", wav(10), "model=fast", test.field))
		data := base64.StdEncoding.EncodeToString([]byte(wav(10)))
		if sent.refused != nil || sent.headers[":path"] != "/v1beta/models/gemini-2.5-flash:generateContent" || sent.headers["content-type"] != "application/json" || !strings.Contains(sent.body, `"data":"`+data+`"`) {
			t.Fatalf("%s: sent to %v: %+v", name, sent.headers, sent.refused)
		}
		a := e.answer(jsonAnswer(reply))
		if a.status != 200 || a.body != test.want || a.headers["content-type"] != test.media {
			t.Errorf("%s: the caller gets %d %s as %s", name, a.status, a.body, a.headers["content-type"])
		}
		if ev := k.event(e.uuid); ev.Tokens.Input != 350 || ev.Tokens.InputAudio != 320 || ev.Tokens.Output != 3 || ev.Source != usage.Provider {
			t.Errorf("%s: recorded %+v", name, ev.Tokens)
		}
		k.settled()
	}
}

// Speech of Google's models comes within JSON, and reaches the caller as sound, or as events. Its tokens are paid for, or else those that
// its length stands for. What the filter has taken is an error with a status.
func TestGeminiSpeech(t *testing.T) {
	t.Parallel()
	d := place("google", "fast", "", 0)
	d.Model, d.APIBase, d.Prices = "gemini/gemini-3.8-flash-tts", "https://google.example", nil
	const (
		counts  = `,"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":30,"candidatesTokensDetails":[{"modality":"AUDIO","tokenCount":30}]}}`
		samples = `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16;rate=24000","data":"AQACAA=="}}]},"finishReason":"STOP"}]`
	)
	second := `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"audio/L16;rate=24000","data":"` + strings.Repeat("AAAA", 16_000) + `"}}]},"finishReason":"STOP"}]}`
	for name, test := range map[string]struct {
		field, reply, want, media string
		status                    int
		output                    int64
		source                    usage.Source
	}{
		"samples":                   {`"response_format":"pcm"`, samples + counts, "\x01\x00\x02\x00", "audio/pcm", 200, 30, usage.Provider},
		"a file":                    {`"response_format":"wav"`, samples + counts, "data\x04\x00\x00\x00\x01\x00\x02\x00", "audio/wav", 200, 30, usage.Provider},
		"a second without a report": {`"response_format":"pcm"`, second, "\x00\x00", "audio/pcm", 200, 20, usage.Estimated},
		"filtered":                  {`"response_format":"pcm"`, `{"promptFeedback":{"blockReason":"SAFETY"}}`, `"content_filter"`, "application/json", 400, 0, usage.Estimated},
	} {
		k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{d}, Router: quick(0)})
		e := k.open(t)
		sent := e.request(to(e, "/v1/audio/speech"), `{"model":"fast","input":"Hello there.","voice":"nova",`+test.field+`}`)
		if sent.refused != nil || sent.headers[":path"] != "/v1beta/models/gemini-3.8-flash-tts:generateContent" || !strings.Contains(sent.body, `"voiceName":"Zephyr"`) {
			t.Fatalf("%s: sent to %s: %s %+v", name, sent.headers[":path"], sent.body, sent.refused)
		}
		a := e.answer(jsonAnswer(test.reply))
		if a.status != test.status || !strings.Contains(a.body, test.want) || a.headers["content-type"] != test.media {
			t.Errorf("%s: the caller gets %d %.200q as %s", name, a.status, a.body, a.headers["content-type"])
		}
		if ev := k.event(e.uuid); test.status == 200 && (ev.Tokens.Output != test.output || ev.Tokens.OutputAudio != test.output || ev.Source != test.source || ev.Cost == 0) {
			t.Errorf("%s: recorded %+v at %s from %v", name, ev.Tokens, ev.Cost, ev.Source)
		}
		k.settled()
	}
}

// Speech that is requested as events comes in events of Google's, and is passed on as it comes. What goes wrong is an event, too, and a stream that ends
// early is not whole.
func TestGeminiSpeechStreams(t *testing.T) {
	t.Parallel()
	d := place("google", "fast", "", 0)
	d.Model, d.APIBase, d.Prices = "gemini/gemini-3.8-flash-tts", "https://google.example", nil
	sound := func(data, finish string) string {
		return geminiEvent(`{"inlineData":{"mimeType":"audio/l16; rate=24000; channels=1","data":"`+data+`"}}`, finish, `"promptTokenCount":4,"candidatesTokenCount":30`)
	}
	const first, done = `data: {"type":"speech.audio.delta","audio":"AQACAA=="}` + "\n\n", `data: {"type":"speech.audio.done","usage":{"input_tokens":4,"output_tokens":30,"total_tokens":34}}` + "\n\n"
	for name, test := range map[string]struct {
		pieces  []string
		want    string // the beginning
		whole   bool
		outcome usage.Outcome
	}{
		"whole":            {[]string{sound("AQACAA==", ""), sound("AwAEAA==", "STOP"), ""}, first + `data: {"type":"speech.audio.delta","audio":"AwAEAA=="}` + "\n\n" + done, true, journal.Success},
		"cut anywhere":     {[]string{sound("AQACAA==", "STOP")[:70], sound("AQACAA==", "STOP")[70:]}, first + done, true, journal.Success},
		"broken off":       {[]string{sound("AQACAA==", ""), ""}, first + `data: {"error":`, false, journal.Failed},
		"filtered":         {[]string{sound("AQACAA==", ""), geminiEvent(``, "PROHIBITED_CONTENT", `"promptTokenCount":4`)}, first + `data: {"error":{"message":"The provider's filter`, false, journal.Failed},
		"an error":         {[]string{sound("AQACAA==", ""), `data: {"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}` + "\n\n"}, first + `data: {"error":`, false, journal.Failed},
		"no sound":         {[]string{geminiEvent(`{"text":"Hello."}`, "STOP", `"promptTokenCount":4`)}, `data: {"error":`, false, journal.Failed},
		"not Google's end": {[]string{sound("AQACAA==", "STOP") + "data: [DONE]\n\n"}, first + done, true, journal.Success},
	} {
		k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{d}, Router: quick(0)})
		e := k.open(t)
		sent := e.request(to(e, "/v1/audio/speech"), `{"model":"fast","input":"Hello there.","voice":"nova","response_format":"pcm","stream_format":"sse"}`)
		if sent.refused != nil || sent.headers[":path"] != "/v1beta/models/gemini-3.8-flash-tts:streamGenerateContent?alt=sse" {
			t.Fatalf("%s: sent to %s: %+v", name, sent.headers[":path"], sent.refused)
		}
		c := streamAnswer()
		c.pieces = test.pieces
		a := e.answer(c)
		if a.status != 200 || !strings.HasPrefix(a.body, test.want) || test.whole && a.body != test.want || !strings.HasPrefix(a.headers["content-type"], "text/event-stream") {
			t.Errorf("%s: the caller gets %d %s as %s", name, a.status, a.body, a.headers["content-type"])
		}
		if ev := k.event(e.uuid); ev.Outcome != test.outcome || test.whole && (ev.Tokens.OutputAudio != 30 || ev.Source != usage.Provider || ev.FirstToken.IsZero()) {
			t.Errorf("%s: recorded %+v %v from %v", name, ev.Tokens, ev.Outcome, ev.Source)
		}
		k.settled()
	}
}
