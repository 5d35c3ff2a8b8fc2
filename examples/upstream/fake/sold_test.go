package fake_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/examples/upstream/fake"
)

// The providers without chats answer what they know, and reject what they do not.
func TestProvidersWithoutChats(t *testing.T) {
	s := fake.New(fake.Options{})
	defer s.Close()
	heard, formType := form(t, "file", strings.Repeat("\x00", 16_000), "model_id", "scribe", "diarize", "true")
	wrong, wrongType := form(t, "file", "x", "model_id", "scribe", "language", "en")
	for _, c := range []struct {
		path, media, body string
		status            int
		says              string // in the body, or a header with its value
	}{
		{"/voyage/v1/embeddings", "application/json", `{"model":"v","input":["a","b"],"output_dimension":2}`, 200, `"usage":{"total_tokens":2}`},
		{"/voyage/v1/embeddings", "application/json", `{"model":"v","input":"a","encoding_format":"base64"}`, 200, `"embedding":"`},
		{"/voyage/v1/embeddings", "application/json", `{"model":"v","input":"a","dimensions":2}`, 400, `"detail"`},
		{"/voyage/v1/embeddings", "application/json", `{"model":"v","input":"a","encoding_format":"float"}`, 400, `"detail"`},
		{"/voyage/v1/embeddings", "application/json", `{"model":"v","input":[1,2]}`, 400, `"detail"`},
		{"/voyage/v1/rerank", "application/json", `{"model":"v","query":"fox","documents":["dog","fox"],"top_k":1,"return_documents":true}`, 200, `"data":[{"index":1,"relevance_score":1,"document":"fox"}]`},
		{"/voyage/v1/rerank", "application/json", `{"model":"v","query":"fox","documents":["dog"],"top_n":1}`, 400, `"detail"`},
		{"/voyage/v1/rerank", "application/json", `{"model":"v","query":"fox","documents":[{"text":"dog"}]}`, 400, `"detail"`},
		{"/jina/v1/embeddings", "application/json", `{"model":"j","input":["a"],"dimensions":2,"task":"text-matching"}`, 200, `"usage":{"total_tokens":1}`},
		{"/jina/v1/embeddings", "application/json", `{"model":"j","input":"a","encoding_format":"float"}`, 400, `"detail"`},
		{"/jina/v1/rerank", "application/json", `{"model":"j","query":"fox","documents":[{"text":"fox"}],"top_n":1,"return_documents":true}`, 200, `"results":[{"index":0,"relevance_score":1,"document":{"text":"fox"}}]`},
		{"/jina/v1/rerank", "application/json", `{"model":"j","query":"fox","documents":["dog"],"top_k":1}`, 400, `"detail"`},
		{"/v1/text-to-speech/x?output_format=wav_24000", "application/json", `{"text":"hello","model_id":"e"}`, 200, "Character-Cost: 5"},
		{"/v1/text-to-speech/x/stream?output_format=pcm_24000", "application/json", `{"text":"hello","model_id":"e"}`, 200, "Content-Type: audio/pcm"},
		{"/v1/text-to-speech/x", "application/json", `{"text":"hello","model":"e"}`, 422, `"detail"`},
		{"/v1/text-to-speech/unknown", "application/json", `{"text":"hello","model_id":"e"}`, 404, `"voice_not_found"`},
		{"/v1/text-to-speech/x", "application/json", `{"text":"hello","model_id":"fail-429"}`, 429, `"too_many_concurrent_requests"`},
		{"/v1/text-to-speech/x", "application/json", `{"text":"hello","model_id":"fail-401"}`, 401, `"invalid_api_key"`},
		{"/v1/speech-to-text", formType, heard, 200, `"audio_duration_secs":1,`},
		{"/v1/speech-to-text", wrongType, wrong, 422, "the field language is unknown"},
		{"/v1/speak?model=a&encoding=linear16&container=none", "application/json", `{"text":"hello"}`, 200, "Dg-Char-Count: 5"},
		{"/v1/speak?model=a&voice=x", "application/json", `{"text":"hello"}`, 400, `"Bad Request"`},
		{"/v1/listen?model=n&diarize=true", "audio/wav", strings.Repeat("\x00", 16_000), 200, `"duration":1,`},
		{"/v1/listen?model=n", "application/json", `{"url":"https://example.com/a.wav"}`, 400, "corrupt or unsupported data"},
		{"/v1/listen?model=n&prompt=x", "audio/wav", "\x00", 400, `"Bad Request"`},
		{"/v1/listen?model=fail-402", "audio/wav", "\x00", 402, `"ASR_PAYMENT_REQUIRED"`},
		{"/v1/listen?model=fail-500", "audio/wav", "\x00", 500, `"INTERNAL_SERVER_ERROR"`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, c.path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.media)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		name, value, isHeader := strings.Cut(c.says, ": ")
		if said := strings.Contains(w.Body.String(), c.says) || isHeader && w.Header().Get(name) == value; w.Code != c.status || !said {
			t.Errorf("%s %.80q: %d %v %.300q", c.path, c.body, w.Code, w.Header(), w.Body)
		}
	}
	models := s.Counters().ByModel
	for model, n := range map[string]int{"v": 8, "j": 4, "e": 4, "scribe": 2, "n": 3, "a": 2} {
		if models[model] != n {
			t.Errorf("%d requests for %s, want %d", models[model], model, n)
		}
	}
}
