package gemini

import (
	"bytes"
	"encoding/base64"
	"mime"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/media"
	"github.com/modelgateway/modelgateway/extproc/transcript"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// The instructions to a model for a recording.
const (
	transcribe = "Transcribe the speech of the recording word for word, in the language that is spoken, with punctuation. " +
		"Answer with the transcription alone. If nobody speaks, answer with nothing."
	inLanguage = " The language is "
	translate  = "Translate the speech of the recording to English, whatever language is spoken, with punctuation. " +
		"Answer with the translation alone. If nobody speaks, answer with nothing."
	knownWords = "\n\nWords, names and the style that the recording may have, or the text before it:\n"
)

// recording is the name of the field with the sound.
const recording = "file"

// hear writes a request for a transcription or a translation: a chat with the recording in it, and without thinking as far as the model can.
func (c Codec) hear(r *driver.Original, t driver.Target) ([]byte, error) {
	options, err := transcript.Read(r.Members())
	if err != nil {
		return nil, err
	}
	if options.Timed() {
		return nil, fault.Field(transcript.Format, driver.CodeUnsupported, "response_format: %s tells no times; request json or text.", vendor)
	}
	kind, err := recordingType(r)
	if err != nil {
		return nil, err
	}
	p := optionsOf(r, t)
	p.take(transcript.Format)
	p.take("stream") // the transcription becomes events when it is complete
	p.only("chunking_strategy", `"auto"`)
	in := wire.Request{Reasoning: wire.Reasoning{Effort: "none"}}
	if raw := p.take("temperature"); raw != nil && json.Unmarshal(raw, &in.Sampling.Temperature) != nil {
		p.fail(fault.Field("temperature", "invalid_type", "temperature must be a number."))
	}
	task := translate
	if r.Endpoint == driver.Transcriptions {
		task = transcribe
		if language := p.text("language"); language != "" {
			task += inLanguage + language + "."
		}
	}
	if words := p.text("prompt"); words != "" {
		task += knownWords + words
	}
	if err := p.rest(); err != nil {
		return nil, err
	}
	in.Messages = []wire.Message{
		{Role: wire.System, Parts: []wire.Part{{Kind: wire.TextPart, Text: task}}},
		{Role: wire.User, Parts: []wire.Part{{Kind: wire.AudioPart, Media: &wire.Media{Type: kind}}}},
	}
	body, err := c.Encode(&in, t)
	if err != nil {
		return nil, err
	}
	return withData(body, r.Facts.File(recording)), nil
}

// withData writes files as base64 into a request with as many parts whose data is empty. No text in JSON can look like that: its quotes have
// escapes.
func withData(body []byte, files ...[]byte) []byte {
	const empty = `"data":""`
	size := len(body)
	for _, file := range files {
		size += base64.StdEncoding.EncodedLen(len(file))
	}
	out := make([]byte, 0, size)
	for _, file := range files {
		at := bytes.Index(body, []byte(empty)) + len(empty) - 1
		out = base64.StdEncoding.AppendEncode(append(out, body[:at]...), file)
		body = body[at:]
	}
	return append(out, body...)
}

// recordingType returns the MIME type of the recording: that of its part, of its name, or of its bytes.
func recordingType(r *driver.Original) (string, error) {
	for _, p := range r.Facts.Form() {
		if !p.IsFile || string(p.Base()) != recording {
			continue
		}
		kind, _, _ := mime.ParseMediaType(string(p.Type)) // empty if there is none
		if isSound(kind) {
			return kind, nil
		}
		if kind = soundOfName(string(p.Filename)); kind != "" {
			return kind, nil
		}
		if kind = media.Type(r.Facts.File(recording)); kind != "" {
			return kind, nil
		}
	}
	return "", fault.Field(recording, "invalid_value", "file: the type of the sound is not known; send a content type such as audio/wav, or a name that ends with the format, such as a.wav.")
}

func isSound(kind string) bool {
	return strings.HasPrefix(kind, "audio/") || strings.HasPrefix(kind, "video/")
}

// soundOfName returns the MIME type of sound by the end of a name; empty if it is not known.
func soundOfName(name string) string {
	at := strings.LastIndexByte(name, '.')
	switch ending := strings.ToLower(name[at+1:]); ending {
	case "wav", "flac", "ogg", "aac", "aiff":
		return "audio/" + ending
	case "mp3", "mpga", "mpeg":
		return "audio/mp3"
	case "opus", "oga":
		return "audio/ogg"
	case "m4a":
		return "audio/m4a"
	case "mp4", "webm":
		return "video/" + ending
	}
	return ""
}

// heard writes a transcription or a translation in the form that the caller requested.
func (c Codec) heard(r *driver.Original, body []byte) (driver.Restored, error) {
	options, err := transcript.Read(r.Members())
	if err != nil {
		return driver.Restored{}, driver.InvalidResponse("cannot be written as requested")
	}
	said, err := c.Decode(body)
	if err != nil {
		return driver.Restored{}, err
	}
	one := &said.Choices[0]
	switch {
	case one.Finish == wire.FinishFilter:
		return driver.Restored{}, blockedBy("no transcription is left.")
	case one.Finish == wire.FinishLength:
		return driver.Restored{}, tooLong()
	case one.Finish == "" && one.Text == "":
		return driver.Restored{}, driver.InvalidResponse("has no text")
	}
	out := transcript.Transcript{Text: strings.TrimSpace(one.Text), Usage: said.Usage, Silent: r.Endpoint == driver.Translations}
	return out.Restore(options)
}

// tooLong is the failure of a transcription that ends where the model may write no more.
func tooLong() *wire.Failure {
	p := driver.Problem{Status: 400, Message: "The transcription is longer than what the model writes in one response. Divide the recording.", Param: recording}
	f := p.Failure()
	f.Code = "recording_too_long"
	return f
}
