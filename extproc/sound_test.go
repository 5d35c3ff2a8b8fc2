package extproc

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

const formType = `multipart/form-data; boundary="5f2c9d"`

// form is a body of formType with text fields, as name=value, and after the first a file.
func form(file, content string, fields ...string) string {
	var b strings.Builder
	for i, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		b.WriteString("--5f2c9d\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n")
		if i == 0 {
			b.WriteString("--5f2c9d\r\nContent-Disposition: form-data; name=\"" + file + "\"; filename=\"a.bin\"\r\n\r\n" + content + "\r\n")
		}
	}
	return b.String() + "--5f2c9d--\r\n"
}

// wav is a file of sound of 16,000 bytes a second.
func wav(millis int) string {
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt ")
	for _, v := range []any{uint32(16), uint16(1), uint16(1), uint32(8000), uint32(16000), uint16(2), uint16(16)} {
		b, _ = binary.Append(b, binary.LittleEndian, v)
	}
	b = binary.LittleEndian.AppendUint32(append(b, "data"...), uint32(16*millis))
	return string(b) + strings.Repeat("\x00\xff", 8*millis)
}

// sold is a deployment with prices.
func sold(prices map[string]string) catalog.Spec {
	d := place("solo", "fast", "up", 0)
	d.Prices = prices
	return catalog.Spec{Deployments: []catalog.DeploymentSpec{d}, Router: quick(0)}
}

func bySecond() map[string]string { return map[string]string{"input_cost_per_second": "0.0001"} }
func byCharacter() map[string]string {
	return map[string]string{"input_cost_per_character": "0.000015"}
}

func byToken() map[string]string {
	return map[string]string{
		"input_cost_per_token": "0.000001", "input_cost_per_audio_token": "0.00001", "output_cost_per_token": "0.00001", "output_cost_per_audio_token": "0.0001",
	}
}

func toForm(e *envoy, path string) []string {
	list := to(e, path)
	for i := 0; i < len(list); i += 2 {
		if list[i] == "content-type" {
			list[i+1] = formType
		}
	}
	return list
}

// A transcription goes out as it came, but for the model's name and the gateway's own fields, and
// costs what the provider reports, or what its sound is long.
func TestTranscriptions(t *testing.T) {
	t.Parallel()
	const text = "text/plain; charset=utf-8"
	for _, test := range []struct {
		name, path, media, reply string
		prices                   map[string]string
		tokens                   usage.Tokens
		source                   usage.Source
		cost                     string
	}{
		{
			"tokens", "/v1/audio/transcriptions", "application/json",
			`{"text":"a fox","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":4,"audio_tokens":10},"output_tokens":3,"total_tokens":17}}`,
			byToken(),
			usage.Tokens{Input: 14, InputAudio: 10, Output: 3},
			usage.Provider, "0.000134",
		},
		{
			"seconds", "/audio/translations", "application/json", `{"text":"a fox","usage":{"type":"duration","seconds":3}}`, bySecond(),
			usage.Tokens{InputMillis: 3000},
			usage.Provider, "0.0003",
		},
		{
			"tokens of a model that is sold by the second", "/v1/audio/transcriptions", "application/json",
			`{"text":"a fox","usage":{"type":"tokens","input_tokens":14,"output_tokens":3,"total_tokens":17}}`, bySecond(),
			usage.Tokens{Input: 14, Output: 3, InputMillis: 2500},
			usage.Provider, "0.00025",
		},
		{
			"measured", "/v1/audio/transcriptions", text, "1\n00:00:00,000 --> 00:00:02,500\na fox\n", bySecond(),
			usage.Tokens{InputMillis: 2500},
			usage.Measured, "0.00025",
		},
		{
			"measured, without a price", "/v1/audio/transcriptions", "application/json", `{"text":"a fox"}`, nil,
			usage.Tokens{InputMillis: 2500},
			usage.Measured, "0",
		},
		{
			"estimated", "/v1/audio/transcriptions", "text/vtt", "a fox", byToken(),
			usage.Tokens{Input: 41, InputAudio: 41, Output: 2},
			usage.Estimated, "0.00043",
		},
		{
			"a year", "/v1/audio/transcriptions", "application/json", `{"text":"a fox","usage":{"type":"duration","seconds":2000000}}`, bySecond(),
			usage.Tokens{InputMillis: 65_000},
			usage.Provider, "0.0065",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, sold(test.prices))
			e := k.open(t)
			out := e.request(toForm(e, test.path), form("file", wav(2500), "model=fast", "language=en", "tags[]=blue", "response_format=srt"))
			if want := form("file", wav(2500), "model=up", "language=en", "response_format=srt"); out.refused != nil || out.body != want {
				t.Fatalf("sent %+v %.400q", out.refused, out.body)
			}
			if out.headers["content-type"] != formType || out.headers["content-length"] != itoa(len(out.body)) {
				t.Errorf("sent with %v", out.headers)
			}
			a := e.answer(came{status: 200, headers: []string{"content-type", test.media}, pieces: []string{test.reply}})
			if a.status != 200 || a.body != test.reply || a.headers["content-type"] != test.media || a.headers["x-gateway-response-cost"] != test.cost {
				t.Errorf("the caller gets %d %v %s", a.status, a.headers, a.body)
			}
			ev := k.event(e.uuid)
			if ev.Tokens != test.tokens || ev.Source != test.source || ev.Outcome != journal.Success || len(ev.Tags) != 1 || ev.UsageCapped != (test.name == "a year") {
				t.Errorf("recorded %+v %v %v %v", ev.Tokens, ev.Source, ev.Outcome, ev.Tags)
			}
			k.settled()
		})
	}
}

// The response's type decides whether a transcription is a stream. Its last event is no [DONE].
func TestStreamedTranscriptions(t *testing.T) {
	t.Parallel()
	const (
		delta = "event: transcript.text.delta\ndata: {\"type\":\"transcript.text.delta\",\"delta\":\"a fox\"}\n\n"
		end   = "data: {\"type\":\"transcript.text.done\",\"text\":\"a fox\",\"usage\":{\"type\":\"tokens\",\"input_tokens\":14,\"output_tokens\":3,\"total_tokens\":17}}\n\n"
	)
	k := newKit(t, sold(byToken()))
	for _, stream := range []string{"stream=true", "stream=false"} {
		e := k.open(t)
		out := e.request(toForm(e, "/v1/audio/transcriptions"), form("file", wav(10), "model=fast", stream))
		if out.refused != nil || !strings.Contains(out.body, stream[len("stream="):]) || strings.Contains(out.body, "stream_options") {
			t.Fatalf("sent %+v %q", out.refused, out.body)
		}
		e.head(streamAnswer())
		a := e.begun(streamAnswer())
		if a.headers["content-type"] != "text/event-stream; charset=utf-8" {
			t.Errorf("the caller gets %v", a.headers)
		}
		e.piece(delta)
		if got := e.out(delta); !strings.Contains(got, `"delta":"a fox"`) {
			t.Errorf("the caller gets %q", got)
		}
		k.gate.close()
		e.piece(end)
		<-k.gate.reached
		e.silent()
		k.gate.open()
		if got := e.out(end); got != end {
			t.Errorf("the caller gets %q", got)
		}
		e.piece("", last)
		e.out("")
		e.close()
		if ev := k.event(e.uuid); ev.Tokens != (usage.Tokens{Input: 14, Output: 3}) || ev.Source != usage.Provider || ev.Outcome != journal.Success {
			t.Errorf("recorded %+v", ev)
		}
		e = k.open(t) // whisper ignores stream
		e.request(toForm(e, "/v1/audio/transcriptions"), form("file", wav(10), "model=fast", stream))
		if a := e.answer(jsonAnswer(`{"text":"a fox"}`)); a.status != 200 || a.body != `{"text":"a fox"}` {
			t.Errorf("%s: the caller gets %d %s", stream, a.status, a.body)
		}
	}
	e := k.open(t)
	e.request(toForm(e, "/v1/audio/transcriptions"), form("file", wav(10), "model=fast", "stream=true"))
	e.head(streamAnswer())
	e.begun(streamAnswer())
	e.piece(delta, last)
	if got := e.out(delta); !strings.Contains(got, "upstream_cut") {
		t.Errorf("a stream that breaks off ends with %q", got)
	}
	e.close()
	if ev := k.event(e.uuid); ev.Outcome != journal.Failed {
		t.Errorf("recorded %+v", ev)
	}
	k.settled()
}

func speech(text string) string { return `{"model":"fast","input":"` + text + `","voice":"alloy"}` }

// soundAnswer is the beginning of a provider's sound.
func soundAnswer(media string) came {
	return came{status: 200, headers: []string{"content-type", media, "content-length", "32044"}}
}

// Sound goes out as it comes, and its end when the cost is recorded.
func TestSpeechGoesOutAsItComes(t *testing.T) {
	t.Parallel()
	k := newKit(t, sold(byCharacter()))
	for _, end := range []string{"x", ""} {
		e := k.open(t)
		out := e.request(to(e, "/v1/audio/speech"), speech("Gr\u00fc\\u00dfe"))
		if out.refused != nil || !strings.Contains(out.body, `"model":"up"`) || strings.Contains(out.body, "stream") {
			t.Fatalf("sent %+v %s", out.refused, out.body)
		}
		e.head(soundAnswer("audio/mpeg"))
		a := e.begun(soundAnswer("audio/mpeg"))
		if _, length := a.headers["content-length"]; a.status != 200 || a.headers["content-type"] != "audio/mpeg" || length {
			t.Errorf("the caller gets %d %v", a.status, a.headers)
		}
		for _, piece := range []string{"\xff\xfb\x90\x00", "data: {", "\n\n"} {
			e.piece(piece)
			if got := e.out(piece); got != piece {
				t.Errorf("the caller gets %q", got)
			}
		}
		if len(k.scanned(e.uuid)) != 0 {
			t.Error("recorded before the end")
		}
		k.gate.close()
		e.piece(end, last)
		<-k.gate.reached
		e.silent()
		k.gate.open()
		if got := e.out(end); got != end || len(k.scanned(e.uuid)) != 1 {
			t.Errorf("the end is %q", got)
		}
		e.close()
		ev := k.event(e.uuid)
		if ev.Tokens != (usage.Tokens{InputCharacters: 5}) || ev.Source != usage.Measured || ev.Cost.String() != "0.000075" || ev.FirstToken.IsZero() {
			t.Errorf("recorded %+v %v %v", ev.Tokens, ev.Source, ev.Cost)
		}
	}
	k.settled()
}

// What a provider does not report of sound that is sold by the token is estimated from its length,
// and a caller who disconnects pays for what was made.
func TestSpeechByTheToken(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, media, piece string
		more               int // further pieces of the same size
		cut                bool
		audio              int64
	}{
		{"WAV", "audio/wav", wav(6000), 0, false, 125},
		{"a long WAV", "audio/wav", wav(6000), 9, false, 1250},
		{"raw", "audio/pcm", strings.Repeat("\x00\x01", 24_000), 5, false, 125},
		{"a format without a length", "audio/aac", strings.Repeat("x", 9000), 0, false, 20},
		{"disconnected", "audio/wav", wav(6000), 1, true, 250},
		{"disconnected at once", "audio/aac", "", 0, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := newKit(t, sold(byToken()))
			e := k.open(t)
			e.request(to(e, "/v1/audio/speech"), speech("Hello there."))
			e.head(soundAnswer(test.media))
			e.begun(soundAnswer(test.media))
			for range test.more + 1 {
				e.piece(test.piece)
				e.out(test.piece)
			}
			if test.cut {
				e.quit()
			} else {
				e.piece("", last)
				e.out("")
				e.close()
			}
			ev := k.event(e.uuid)
			if d := ev.Tokens.OutputAudio - test.audio; d < -1 || d > 1 || ev.Tokens.Output != ev.Tokens.OutputAudio || ev.Tokens.Input < 3 || ev.Source != usage.Estimated {
				t.Errorf("recorded %+v %v, want %d tokens of sound", ev.Tokens, ev.Source, test.audio)
			}
			if (ev.Outcome == journal.Canceled) != test.cut || ev.Cost == 0 {
				t.Errorf("recorded %v, %v", ev.Outcome, ev.Cost)
			}
			k.settled()
		})
	}
}

// Speech may come as events, which report its usage.
func TestSpeechAsEvents(t *testing.T) {
	t.Parallel()
	const (
		delta = "data: {\"type\":\"speech.audio.delta\",\"audio\":\"AAAA\"}\n\n"
		end   = "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":4,\"output_tokens\":20,\"total_tokens\":24}}\n\n"
	)
	k := newKit(t, sold(byToken()))
	e := k.open(t)
	e.request(to(e, "/v1/audio/speech"), strings.Replace(speech("Hello"), "{", `{"stream_format":"sse",`, 1))
	e.head(streamAnswer())
	e.begun(streamAnswer())
	e.piece(delta + end)
	if got := e.out(delta + end); got != delta+end {
		t.Errorf("the caller gets %q", got)
	}
	e.close()
	if ev := k.event(e.uuid); ev.Tokens != (usage.Tokens{Input: 4, Output: 20}) || ev.Source != usage.Provider || ev.Outcome != journal.Success {
		t.Errorf("recorded %+v", ev)
	}
	k.settled()
}

// A response of a type that was not requested is the provider's failure.
func TestRejectsOtherTypesThanSound(t *testing.T) {
	t.Parallel()
	k := newKit(t, sold(byCharacter()))
	for _, test := range []struct{ path, media string }{
		{"/v1/audio/speech", "application/json"},
		{"/v1/audio/speech", "text/html"},
		{"/v1/audio/speech", ""},
		{"/v1/audio/transcriptions", "text/html"},
		{"/v1/audio/transcriptions", "audio/mpeg"},
		{"/v1/audio/transcriptions", ""},
		{"/v1/audio/translations", "text/event-stream"},
	} {
		e := k.open(t)
		if test.path == "/v1/audio/speech" {
			e.request(to(e, test.path), speech("Hello"))
		} else {
			e.request(toForm(e, test.path), form("file", wav(10), "model=fast"))
		}
		a := e.answer(came{status: 200, headers: []string{"content-type", test.media}, pieces: []string{"x"}})
		if a.status != 502 || !strings.Contains(a.body, "upstream_invalid_response") {
			t.Errorf("%s as %q: the caller gets %d %s", test.path, test.media, a.status, a.body)
		}
	}
	k.settled()
}

// A form of pictures goes out as it came, and the pictures are billed.
func TestImageEdits(t *testing.T) {
	t.Parallel()
	k := newKit(t, priced())
	e := k.open(t)
	out := e.request(toForm(e, "/v1/images/edits"), form("image[]", "\x89PNG", "model=fast", "prompt=a fox", "n=2"))
	if out.refused != nil || out.headers[":path"] != "/v1/images/edits" || out.replaced {
		t.Fatalf("%+v", out)
	}
	if a := e.answer(jsonAnswer(`{"created":1,"data":[{"b64_json":"AAAA"},{"b64_json":"AAAA"}]}`)); a.status != 200 {
		t.Errorf("the caller gets %d %s", a.status, a.body)
	}
	if ev := k.event(e.uuid); ev.Tokens.Images != 2 || ev.CallType != "images.edits" {
		t.Errorf("recorded %+v", ev)
	}
	k.settled()
}

// Forms that no provider could take, and bodies of the wrong kind, name what is wrong.
func TestRejectsInvalidForms(t *testing.T) {
	t.Parallel()
	k := newKit(t, sold(bySecond()))
	good := form("file", wav(10), "model=fast")
	for _, test := range []struct {
		name, path, media, body string
		status                  int
		says                    string
	}{
		{"JSON", "/v1/audio/transcriptions", "application/json", `{"model":"fast"}`, 415, "multipart/form-data"},
		{"a form where JSON is due", "/v1/audio/speech", formType, good, 415, "application/json"},
		{"no boundary", "/v1/audio/transcriptions", "multipart/form-data", good, 400, `"param":"content-type"`},
		{"another boundary", "/v1/audio/transcriptions", "multipart/form-data; boundary=x", good, 400, "invalid_multipart"},
		{"cut", "/v1/audio/transcriptions", formType, good[:len(good)-12], 400, "invalid_multipart"},
		{"no file", "/v1/audio/transcriptions", formType, form("image", "x", "model=fast"), 400, `"param":"file"`},
		{"an empty file", "/v1/audio/transcriptions", formType, form("file", "", "model=fast"), 400, "empty_file"},
		{"no picture", "/v1/images/edits", formType, good, 400, `"param":"image"`},
		{"no model", "/v1/audio/translations", formType, form("file", wav(10), "language=en"), 400, `"param":"model"`},
		{"two models", "/v1/audio/translations", formType, form("file", wav(10), "model=fast", "model=fast"), 400, "duplicate_parameter"},
		{"a target", "/v1/audio/transcriptions", formType, form("file", wav(10), "model=fast", "api_base=http://x"), 400, "unsupported_parameter"},
		{"no text", "/v1/audio/speech", "application/json", `{"model":"fast","voice":"alloy"}`, 400, `"param":"input"`},
	} {
		e := k.open(t)
		list := to(e, test.path)
		for i := 0; i < len(list); i += 2 {
			if list[i] == "content-type" {
				list[i+1] = test.media
			}
		}
		out := e.request(list, test.body)
		if out.refused == nil || out.refused.status != test.status || !strings.Contains(out.refused.body, test.says) {
			t.Errorf("%s: %+v", test.name, out.refused)
		}
		e.close()
	}
	k.settled()
}

// The model may be in the path, as Azure's clients have it.
func TestFormsWithAModelInThePath(t *testing.T) {
	t.Parallel()
	k := newKit(t, sold(bySecond()))
	e := k.open(t)
	out := e.request(toForm(e, "/openai/deployments/fast/audio/transcriptions?api-version=2024-10-21"), form("file", wav(10), "language=en"))
	if out.refused != nil || !strings.Contains(out.body, "name=\"model\"\r\n\r\nup\r\n") || out.headers[":path"] != "/v1/audio/transcriptions" {
		t.Errorf("%+v", out)
	}
	e.quit()
	k.settled()
}
