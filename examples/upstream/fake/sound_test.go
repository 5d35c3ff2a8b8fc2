package fake_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// form is a form with a file and text fields, and its content type.
func form(t *testing.T, file, content string, fields ...string) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile(file, "a.wav")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = part.Write([]byte(content))
	for i := 0; i+1 < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

func TestSpeech(t *testing.T) {
	p := start(t, fake.Options{})
	for format, media := range map[string]string{"wav": "audio/wav", "pcm": "audio/pcm", "mp3": "audio/mpeg"} {
		r, body, err := p.ask(t, "/v1/audio/speech", `{"model":"tts","input":"hello","response_format":"`+format+`"}`)
		if err != nil || r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != media {
			t.Fatalf("%s: %v %v", format, r, err)
		}
		if want := 8000; len(body) != want && len(body) != want+44 || (format == "wav") != strings.HasPrefix(body, "RIFF") {
			t.Errorf("%s: %d bytes", format, len(body))
		}
	}
	_, body, err := p.ask(t, "/v1/audio/speech", `{"model":"tts","input":"hello","stream_format":"sse"}`)
	if events := data(body); err != nil || len(events) != 3 || !strings.Contains(events[2], `"speech.audio.done"`) || !strings.Contains(events[2], `"output_tokens":10`) {
		t.Errorf("%v %s", err, body)
	}
	if _, body, err := p.ask(t, "/v1/audio/speech", `{"model":"tts+cut-1","input":"hello"}`); err == nil || len(body) != 4096 {
		t.Errorf("%d bytes and %v of sound that breaks off", len(body), err)
	}
	if r, _, _ := p.ask(t, "/v1/audio/speech", `{"model":"fail-503","input":"hello"}`); r.StatusCode != http.StatusServiceUnavailable {
		t.Error(r.Status)
	}
}

func TestTranscriptions(t *testing.T) {
	p := start(t, fake.Options{})
	sound := strings.Repeat("x", 16000)
	const text = "The fake provider heard a file of 16000 bytes"
	for _, c := range []struct{ model, format, stream, says string }{
		{"gpt", "json", "", `"output_tokens"`},
		{"whisper", "json", "true", `"seconds":1`},
		{"gpt", "verbose_json", "", `"duration":1`},
		{"gpt", "diarized_json", "", `"speaker":"A"`},
		{"gpt", "srt", "", "00:00:00,000"},
		{"gpt", "vtt", "", "WEBVTT"},
		{"gpt", "text", "", text},
		{"gpt", "json", "true", `"transcript.text.done"`},
	} {
		body, media := form(t, "file", sound, "model", c.model, "response_format", c.format, "stream", c.stream)
		r, got, err := p.ask(t, "/v1/audio/transcriptions", body, "Content-Type", media)
		if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(got, c.says) || !strings.Contains(got, text) {
			t.Errorf("%+v: %v %v %s", c, r.StatusCode, err, got)
		}
	}
	requests := p.Requests()
	if q := requests[0]; q.Model != "gpt" || len(q.SHA256) != 64 || q.SHA256 == requests[1].SHA256 {
		t.Errorf("recorded %q %q", q.Model, q.SHA256)
	}
	if r, body, _ := p.ask(t, "/v1/audio/translations", "x", "Content-Type", "multipart/form-data; boundary=b"); r.StatusCode != http.StatusBadRequest {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

func TestImageEdits(t *testing.T) {
	p := start(t, fake.Options{})
	for stream, says := range map[string]string{"": `"b64_json":"iVBORw=="`, "true": `"type":"image_edit.completed"`} {
		body, media := form(t, "image[]", "\x89PNG", "model", "img", "prompt", "a fox", "stream", stream)
		if r, got, err := p.ask(t, "/v1/images/edits", body, "Content-Type", media); err != nil || r.StatusCode != http.StatusOK || !strings.Contains(got, says) || !strings.Contains(got, "iVBORw==") {
			t.Errorf("%v %v %s", r.StatusCode, err, got)
		}
	}
}
