package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// isDeepgram reports whether a path is one of Deepgram's, whose model is in the query.
func isDeepgram(path string) bool {
	return strings.HasSuffix(path, "/v1/listen") || strings.HasSuffix(path, "/v1/speak")
}

// options are those that are known at an endpoint.
func deepgramOptions(path string) []string {
	if strings.HasSuffix(path, "/speak") {
		return []string{"model", "encoding", "container", "sample_rate", "bit_rate", "speed", "mip_opt_out", "tag"}
	}
	return []string{"model", "language", "punctuate", "smart_format", "diarize", "detect_language", "multichannel", "keyterm", "numerals", "utterances", "mip_opt_out", "tag"}
}

// unknownOption returns an option of the query that Deepgram does not know, or "".
func unknownOption(r *http.Request) string {
	for name := range r.URL.Query() {
		if !slices.Contains(deepgramOptions(r.URL.Path), name) {
			return name
		}
	}
	return ""
}

// speakDeepgram serves Deepgram's POST …/speak.
func (s *Server) speakDeepgram(x *exchange) {
	var q struct {
		Text string `json:"text"`
	}
	query := x.r.URL.Query()
	err := strictly(x.body, &q)
	if name := unknownOption(x.r); err != nil || q.Text == "" || query.Get("model") == "" || name != "" {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: fmt.Sprintf("text and model are required (%v %s)", err, name)})
		return
	}
	p := planOf(query.Get("model"))
	if !s.meet(x, p) {
		return
	}
	letters := len([]rune(q.Text))
	sound, media := samples(letters*bytesPerLetter), "audio/mpeg"
	switch encoding := query.Get("encoding"); {
	case query.Get("container") == "wav":
		sound, media = append(wavHeader(len(sound)), sound...), "audio/wav"
	case encoding == "linear16":
		media = "audio/l16;rate=24000"
	case encoding == "opus", encoding == "aac", encoding == "flac":
		media = "audio/" + encoding
	}
	x.w.Header().Set("Content-Type", media)
	x.w.Header().Set("Dg-Request-Id", "deepgram_"+strconv.Itoa(x.seq))
	if p.usage != "none" {
		x.w.Header().Set("Dg-Char-Count", strconv.Itoa(letters))
	}
	s.pieces(x, p, sound)
}

// transcribeDeepgram serves Deepgram's POST …/listen: the body is the sound.
func (s *Server) transcribeDeepgram(x *exchange) {
	query, media := x.r.URL.Query(), x.r.Header.Get("Content-Type")
	name := unknownOption(x.r)
	sound := strings.HasPrefix(media, "audio/") || media == "application/octet-stream"
	if query.Get("model") == "" || len(x.body) == 0 || name != "" || !sound || json.Valid(x.body) {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: fmt.Sprintf("Bad Request: failed to process audio: corrupt or unsupported data (%s %s)", media, name)})
		return
	}
	p := planOf(query.Get("model"))
	if !s.meet(x, p) {
		return
	}
	words := []any{}
	for _, w := range heardWords(len(x.body)) {
		word := map[string]any{"word": strings.ToLower(w.text), "punctuated_word": w.text, "start": w.start, "end": w.end, "confidence": 0.9}
		if query.Get("diarize") == "true" {
			word["speaker"] = 0
		}
		words = append(words, word)
	}
	metadata := map[string]any{"request_id": fmt.Sprintf("deepgram_%d", x.seq), "sha256": "", "created": "2025-01-01T00:00:00.000Z", "channels": 1, "models": []string{}, "model_info": map[string]any{}}
	if p.usage != "none" {
		metadata["duration"] = float64(len(x.body)) / soundPerSecond
	}
	best := map[string]any{"transcript": heardText(len(x.body)), "confidence": 0.9, "words": words}
	s.whole(x, p, map[string]any{"metadata": metadata, "results": map[string]any{"channels": []any{map[string]any{"alternatives": []any{best}}}}})
}

// failDeepgram answers with an error as Deepgram has it.
func failDeepgram(w http.ResponseWriter, f failure) {
	code := map[int]string{
		http.StatusBadRequest: "Bad Request", http.StatusUnauthorized: "INVALID_AUTH", http.StatusPaymentRequired: "ASR_PAYMENT_REQUIRED",
		http.StatusForbidden: "INSUFFICIENT_PERMISSIONS", http.StatusTooManyRequests: "TOO_MANY_REQUESTS",
	}[f.status]
	if code == "" {
		code = "INTERNAL_SERVER_ERROR"
	}
	writeJSON(w, f.status, map[string]string{"err_code": code, "err_msg": f.message, "request_id": "deepgram"})
}
