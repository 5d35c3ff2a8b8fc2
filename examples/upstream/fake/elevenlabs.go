package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// elevenVoice returns the voice in a path of ElevenLabs's speech, or "".
func elevenVoice(path string) string {
	_, voice, ok := strings.Cut(path, "/v1/text-to-speech/")
	voice = strings.TrimSuffix(voice, "/stream")
	if !ok || strings.Contains(voice, "/") {
		return ""
	}
	return voice
}

// elevenSpeech is a request to ElevenLabs's speech. Other members are rejected.
type elevenSpeech struct {
	Text     string          `json:"text"`
	Model    string          `json:"model_id"`
	Language string          `json:"language_code"`
	Settings json.RawMessage `json:"voice_settings"`
	Seed     int             `json:"seed"`
	Before   string          `json:"previous_text"`
	After    string          `json:"next_text"`
}

// speakEleven serves ElevenLabs's POST …/text-to-speech/VOICE, and …/stream below it. A voice with "unknown" in its name there is not.
func (s *Server) speakEleven(x *exchange) {
	var q elevenSpeech
	voice, query := elevenVoice(x.r.URL.Path), x.r.URL.Query()
	if err := strictly(x.body, &q); err != nil || q.Text == "" || q.Model == "" {
		x.dialect.fail(x.w, failure{status: http.StatusUnprocessableEntity, message: fmt.Sprintf("text and model_id are required (%v)", err)})
		return
	}
	if strings.Contains(voice, "unknown") {
		x.dialect.fail(x.w, failure{status: http.StatusNotFound, code: "voice_not_found", message: "A voice with voice_id " + voice + " was not found."})
		return
	}
	p := planOf(q.Model)
	if !s.meet(x, p) {
		return
	}
	letters := len([]rune(q.Text))
	sound, media := samples(letters*bytesPerLetter), "audio/mpeg"
	switch format, _, _ := strings.Cut(query.Get("output_format"), "_"); format {
	case "wav":
		sound, media = append(wavHeader(len(sound)), sound...), "audio/wav"
	case "pcm", "opus":
		media = "audio/" + format
	}
	x.w.Header().Set("Content-Type", media)
	x.w.Header().Set("Request-Id", "eleven_"+strconv.Itoa(x.seq))
	if p.usage != "none" {
		x.w.Header().Set("Character-Cost", strconv.Itoa(letters))
	}
	s.pieces(x, p, sound)
}

// elevenFields are the fields of a form for a transcription.
func elevenFields() []string {
	return []string{
		"model_id", "language_code", "tag_audio_events", "num_speakers", "timestamps_granularity", "diarize", "temperature", "seed", "keyterms",
		"webhook_metadata", "entity_detection", "entity_redaction",
	}
}

// transcribeEleven serves ElevenLabs's POST …/speech-to-text. It hears how long the file is.
func (s *Server) transcribeEleven(x *exchange) {
	q, err := readForm(x.r.Header.Get("Content-Type"), x.body)
	for name := range q.fields {
		if err == nil && !slices.Contains(elevenFields(), name) {
			err = fmt.Errorf("the field %s is unknown", name)
		}
	}
	file, model := q.files["file"], q.fields["model_id"]
	if err != nil || model == "" || len(file) == 0 {
		x.dialect.fail(x.w, failure{status: http.StatusUnprocessableEntity, message: fmt.Sprintf("model_id and file are required (%v)", err)})
		return
	}
	p := planOf(model)
	if !s.meet(x, p) {
		return
	}
	words := []any{}
	for i, w := range heardWords(len(file)) {
		if i > 0 {
			words = append(words, map[string]any{"text": " ", "start": w.start, "end": w.start, "type": "spacing", "logprob": 0})
		}
		word := map[string]any{"text": w.text, "start": w.start, "end": w.end, "type": "word", "logprob": -0.1}
		if q.fields["diarize"] == "true" {
			word["speaker_id"] = "speaker_0"
		}
		words = append(words, word)
	}
	doc := map[string]any{"language_code": "eng", "language_probability": 1, "text": heardText(len(file)), "words": words}
	if p.usage != "none" {
		doc["audio_duration_secs"] = float64(len(file)) / soundPerSecond
	}
	s.whole(x, p, doc)
}

// heardText is what is heard in a file of some bytes.
func heardText(size int) string {
	return fmt.Sprintf("The fake provider heard a file of %d bytes", size)
}

// heardWord is a word with its time.
type heardWord struct {
	text       string
	start, end float64
}

// heardWords are the words of heardText: one in each tenth of a second.
func heardWords(size int) []heardWord {
	var out []heardWord
	for i, w := range strings.Fields(heardText(size)) {
		out = append(out, heardWord{w, float64(i) / 10, float64(i+1) / 10})
	}
	return out
}

// failEleven answers with an error as ElevenLabs has it.
func failEleven(w http.ResponseWriter, f failure) {
	code := f.code
	switch {
	case code != "":
	case f.status == http.StatusTooManyRequests:
		code = "too_many_concurrent_requests"
	case f.status == http.StatusUnauthorized:
		code = "invalid_api_key"
	default:
		code = "error"
	}
	writeJSON(w, f.status, map[string]any{"detail": map[string]string{"status": code, "message": f.message}})
}
