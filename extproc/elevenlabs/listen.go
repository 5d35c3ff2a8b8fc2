package elevenlabs

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/transcript"
)

// listen writes a request for a transcription: fields of the form get other names, in place.
func listen(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	o := r.Members()
	options, err := transcript.Read(o)
	if err != nil {
		return driver.Rewritten{}, err
	}
	if err := elsewhere(o); err != nil {
		return driver.Rewritten{}, err
	}
	lacks := []string{"prompt", "include", "known_speaker_names", "known_speaker_references"}
	if string(o.Get("chunking_strategy")) != `"auto"` { // what ElevenLabs does anyway
		lacks = append(lacks, "chunking_strategy")
	}
	if err := driver.RejectMembers(o, t, vendor, lacks...); err != nil {
		return driver.Rewritten{}, err
	}
	f := r.Fields()
	for _, name := range append(lacks, "chunking_strategy", transcript.Format, transcript.Granularity, "stream", "user", "model_id") {
		f.Remove(name)
	}
	if o.Get("model") != nil {
		f.Rename("model", "model_id")
		f.Set("model", t.Model)
	} else {
		f.Set("model_id", t.Model)
	}
	if o.Get("language_code") == nil && o.Get("language") != nil {
		f.Rename("language", "language_code")
	} else {
		f.Remove("language")
	}
	for name, raw := range o.All() {
		if raw[0] == '[' {
			f.Rename(name, name) // without the brackets, as ElevenLabs has lists
		}
	}
	if options.Speakers() {
		f.Set("diarize", "true")
	}
	if options.Timed() {
		f.Remove("timestamps_granularity") // the default has what is needed
	}
	return driver.Rewritten{Body: f.Append(nil)}, nil
}

// elsewhere rejects members with which ElevenLabs would fetch another sound than that of the file, or send
// the transcription to somebody else. The gateway could not tell what it costs.
func elsewhere(o *splice.Object) error {
	for _, name := range [...]string{"cloud_storage_url", "source_url", "webhook", "webhook_id", "webhook_metadata", "token"} {
		if value := o.Get(name); value != nil && driver.Given(value) && string(value) != `"false"` {
			return fault.Field(name, driver.CodeUnsupported, "%s is not supported here: send the file, and read the transcription from the response.", name)
		}
	}
	return nil
}

// chunk is a transcription, or that of a channel.
type chunk struct {
	Language string   `json:"language_code"`
	Text     *string  `json:"text"`
	Words    []word   `json:"words"`
	Duration *float64 `json:"audio_duration_secs"`
}

// word is a word, what is between two, or a sound that is no word.
type word struct {
	Text    string   `json:"text"`
	Start   *float64 `json:"start"`
	End     *float64 `json:"end"`
	Type    string   `json:"type"`
	Speaker string   `json:"speaker_id"`
	LogProb float64  `json:"logprob"`
}

// heard writes a transcription in the form that the caller requested.
func heard(r *driver.Original, body []byte) (driver.Restored, error) {
	var in struct {
		chunk

		Transcripts []chunk        `json:"transcripts"` // of each channel
		Detail      jsontext.Value `json:"detail"`
	}
	if f := driver.ReadResponse(body, &in); f != nil {
		return driver.Restored{}, f
	}
	chunks := in.Transcripts
	if chunks == nil {
		chunks = []chunk{in.chunk}
	}
	switch {
	case in.Transcripts == nil && in.Text == nil && driver.Given(in.Detail):
		return driver.Restored{}, failureIn(body)
	case len(chunks) == 0 || chunks[0].Text == nil:
		return driver.Restored{}, driver.InvalidResponse("has no text")
	}
	options, err := transcript.Read(r.Members())
	if err != nil {
		return driver.Restored{}, driver.InvalidResponse("cannot be written as requested")
	}
	out := transcript.Transcript{Language: chunks[0].Language, Duration: in.Duration}
	var text bytes.Buffer
	for i := range chunks {
		c := &chunks[i]
		if i > 0 {
			text.WriteByte('\n')
		}
		if c.Text != nil {
			text.WriteString(*c.Text)
		}
		out.Words = c.appendWords(out.Words)
	}
	out.Text = text.String()
	return out.Restore(options)
}

// appendWords appends the words. What is between two belongs to the second.
func (c *chunk) appendWords(dst []transcript.Word) []transcript.Word {
	before := ""
	for i := range c.Words {
		w := &c.Words[i]
		if w.Type == "spacing" {
			before += w.Text
			continue
		}
		if w.Start == nil || w.End == nil {
			continue
		}
		dst = append(dst, transcript.Word{Before: before, Text: w.Text, Start: *w.Start, End: *w.End, Speaker: w.Speaker, LogProb: min(w.LogProb, 0)})
		before = ""
	}
	return dst
}
