package fake

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
)

// Sound is raw: samples of 16 bits, one channel. The text decides its length.
const (
	sampleRate       = 8000
	bytesPerLetter   = 2 * sampleRate / 10
	soundPiece       = 4 << 10
	soundPerSecond   = 2 * sampleRate
	tokensPerSecond  = 20
	leastSoundLetter = 1
)

// speechRequest is what is read of a request for speech.
type speechRequest struct {
	Model        string `json:"model"`
	Input        string `json:"input"`
	Format       string `json:"response_format"`
	StreamFormat string `json:"stream_format"`
}

// speak serves POST …/audio/speech: a WAV file, or samples alone for every other format, in
// pieces.
func (s *Server) speak(x *exchange) {
	var q speechRequest
	if err := json.Unmarshal(x.body, &q); err != nil || q.Model == "" || q.Input == "" {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: "model and input are required"})
		return
	}
	p := planOf(q.Model)
	if !s.meet(x, p) {
		return
	}
	sound := samples(max(len([]rune(q.Input)), leastSoundLetter) * bytesPerLetter)
	if q.StreamFormat == "sse" {
		s.stream(x, p, speechEvents(q.Input, sound, p))
		return
	}
	media := "audio/mpeg"
	switch q.Format {
	case "wav":
		media, sound = "audio/wav", append(wavHeader(len(sound)), sound...)
	case "pcm", "opus", "aac", "flac":
		media = "audio/" + q.Format
	}
	x.w.Header().Set("Content-Type", media)
	s.pieces(x, p, sound)
}

// pieces sends sound piece by piece, as the plan has it for the chunks of a stream.
func (s *Server) pieces(x *exchange, p plan, sound []byte) {
	flush := http.NewResponseController(x.w).Flush
	for i := 0; len(sound) > 0; i++ {
		switch {
		case i == p.cutAfter:
			panic(http.ErrAbortHandler)
		case i == p.stallAfter:
			s.hang(x)
			return
		case i > 0 && !s.wait(x, p.pace):
			return
		}
		n := min(soundPiece, len(sound))
		if _, err := x.w.Write(sound[:n]); err != nil || flush() != nil {
			return
		}
		sound = sound[n:]
	}
}

// samples is a tone.
func samples(size int) []byte {
	out := make([]byte, 0, size)
	for i := 0; len(out) < size; i++ {
		level := int16(8000 * math.Sin(2*math.Pi*440*float64(i)/sampleRate))
		out = binary.LittleEndian.AppendUint16(out, uint16(level))
	}
	return out
}

func wavHeader(size int) []byte {
	out := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(36+size))
	out = append(out, "WAVEfmt "...)
	for _, v := range []any{uint32(16), uint16(1), uint16(1), uint32(sampleRate), uint32(soundPerSecond), uint16(2), uint16(16)} {
		out, _ = binary.Append(out, binary.LittleEndian, v) // fails for no integer
	}
	return binary.LittleEndian.AppendUint32(append(out, "data"...), uint32(size))
}

func speechEvents(text string, sound []byte, p plan) []event {
	var out []event
	spoken := len(sound) * tokensPerSecond / soundPerSecond
	for len(sound) > 0 {
		n := min(soundPiece, len(sound))
		out = append(out, jsonEvent("", map[string]any{"type": "speech.audio.delta", "audio": base64.StdEncoding.EncodeToString(sound[:n])}))
		sound = sound[n:]
	}
	end := map[string]any{"type": "speech.audio.done", "usage": tokenUsage(tokens(text), spoken)}
	if p.usage == "none" {
		delete(end, "usage")
	}
	out = append(out, jsonEvent("", end))
	out[len(out)-1].last = true
	return out
}

func tokenUsage(in, out int) map[string]any {
	return map[string]any{"type": "tokens", "input_tokens": in, "output_tokens": out, "total_tokens": in + out}
}

// transcribe serves POST …/audio/transcriptions and …/audio/translations. It hears how long the
// file is. A model with "whisper" in its name is sold by the second and never streams.
func (s *Server) transcribe(x *exchange) {
	q, err := readForm(x.r.Header.Get("Content-Type"), x.body)
	file := q.files["file"]
	if err != nil || q.fields["model"] == "" || len(file) == 0 {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: fmt.Sprintf("model and file are required (%v)", err)})
		return
	}
	p := planOf(q.fields["model"])
	if !s.meet(x, p) {
		return
	}
	whisper := strings.Contains(q.fields["model"], "whisper")
	text := fmt.Sprintf("The fake provider heard a file of %d bytes", len(file))
	if q.fields["stream"] == "true" && !whisper {
		s.stream(x, p, transcriptEvents(text, p))
		return
	}
	switch format := q.fields["response_format"]; format {
	case "text", "srt", "vtt":
		body := map[string]string{
			"text": text + "\n",
			"srt":  "1\n00:00:00,000 --> 00:00:01,000\n" + text + "\n",
			"vtt":  "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n" + text + "\n",
		}[format]
		x.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = x.w.Write([]byte(body))
	default:
		s.whole(x, p, transcript(text, format, len(file), whisper && p.usage != "none", p))
	}
}

func transcript(text, format string, size int, bySecond bool, p plan) map[string]any {
	doc := map[string]any{"text": text}
	seconds := float64(size) / soundPerSecond
	switch {
	case bySecond:
		doc["usage"] = map[string]any{"type": "duration", "seconds": seconds}
	case p.usage != "none":
		doc["usage"] = tokenUsage(size*tokensPerSecond/soundPerSecond, tokens(text))
	}
	switch format {
	case "verbose_json":
		doc["task"], doc["language"], doc["duration"] = "transcribe", "english", seconds
	case "diarized_json":
		doc["task"], doc["duration"] = "transcribe", seconds
		doc["segments"] = []any{map[string]any{"id": "seg_0", "type": "transcript.text.segment", "start": 0, "end": seconds, "speaker": "A", "text": text}}
	}
	return doc
}

func transcriptEvents(text string, p plan) []event {
	var out []event
	for _, word := range strings.SplitAfter(text, " ") {
		out = append(out, jsonEvent("", map[string]any{"type": "transcript.text.delta", "delta": word}))
	}
	end := map[string]any{"type": "transcript.text.done", "text": text, "usage": tokenUsage(tokensPerSecond, tokens(text))}
	if p.usage == "none" {
		delete(end, "usage")
	}
	last := jsonEvent("", end)
	last.last = true
	return append(out, last)
}

// imageUsage is a report of the tokens of a prompt, and of pictures that came and went.
func imageUsage(text, came, went int) map[string]any {
	in, out := text+came*imageTokens, went*imageTokens
	return map[string]any{
		"input_tokens": in, "output_tokens": out, "total_tokens": in + out,
		"input_tokens_details": map[string]any{"text_tokens": text, "image_tokens": came * imageTokens},
	}
}

// makeImage serves POST …/images/generations: each picture is the prompt.
func (s *Server) makeImage(x *exchange) {
	q := struct {
		Model  string `json:"model"`
		Prompt string `json:"prompt"`
		N      int    `json:"n"`
	}{N: 1}
	if err := json.Unmarshal(x.body, &q); err != nil || q.Model == "" || q.Prompt == "" || q.N < 1 {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: fmt.Sprintf("model and prompt are required (%v)", err)})
		return
	}
	p := planOf(q.Model)
	if !s.meet(x, p) {
		return
	}
	data := make([]any, q.N)
	for i := range data {
		data[i] = map[string]any{"b64_json": base64.StdEncoding.EncodeToString([]byte(q.Prompt))}
	}
	doc := map[string]any{"created": created(), "data": data}
	if p.usage != "none" {
		doc["usage"] = imageUsage(tokens(q.Prompt), 0, q.N)
	}
	s.whole(x, p, doc)
}

// editImage serves POST …/images/edits: the first picture comes back as it went.
func (s *Server) editImage(x *exchange) {
	q, err := readForm(x.r.Header.Get("Content-Type"), x.body)
	picture := q.files["image"]
	if picture == nil {
		picture = q.files["image[]"]
	}
	if err != nil || q.fields["model"] == "" || q.fields["prompt"] == "" || len(picture) == 0 {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: fmt.Sprintf("model, prompt and image are required (%v)", err)})
		return
	}
	p := planOf(q.fields["model"])
	if !s.meet(x, p) {
		return
	}
	data := base64.StdEncoding.EncodeToString(picture)
	doc := map[string]any{"created": created(), "data": []any{map[string]any{"b64_json": data}}}
	if p.usage != "none" {
		doc["usage"] = imageUsage(tokens(q.fields["prompt"]), 1, 1)
	}
	if q.fields["stream"] != "true" {
		s.whole(x, p, doc)
		return
	}
	end := map[string]any{"type": "image_edit.completed", "b64_json": data, "created_at": created()}
	if doc["usage"] != nil {
		end["usage"] = doc["usage"]
	}
	last := jsonEvent("image_edit.completed", end)
	last.last = true
	s.stream(x, p, []event{jsonEvent("image_edit.partial_image", map[string]any{"type": "image_edit.partial_image", "b64_json": data, "partial_image_index": 0}), last})
}
