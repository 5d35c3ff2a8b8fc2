package deepgram

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/transcript"
)

// file is the name of the field with the sound.
const file = "file"

// listen writes a request for a transcription: its body is the file of the form, without a copy.
func listen(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	o := r.Members()
	options, err := transcript.Read(o)
	if err != nil {
		return driver.Rewritten{}, err
	}
	if err := longFields(r, o); err != nil {
		return driver.Rewritten{}, err
	}
	if temperature := o.Get("temperature"); temperature != nil {
		if n, err := strconv.ParseFloat(string(temperature), 64); err == nil && n == 0 {
			o.Remove("temperature") // what Deepgram does anyway
		}
	}
	if string(o.Get("chunking_strategy")) == `"auto"` {
		o.Remove("chunking_strategy")
	}
	if err := driver.RejectMembers(o, t, vendor, "prompt", "temperature", "include", "chunking_strategy", "known_speaker_names", "known_speaker_references"); err != nil {
		return driver.Rewritten{}, err
	}
	var q query
	q.add("model", t.Model)
	if o.Get("punctuate") == nil && o.Get("smart_format") == nil {
		q.add("punctuate", "true") // as OpenAI's models write
	}
	if options.Speakers() {
		o.Remove("diarize")
		q.add("diarize", "true")
	}
	if err := q.members(o, "model", transcript.Format, transcript.Granularity, "stream", "user"); err != nil {
		return driver.Rewritten{}, err
	}
	return driver.Rewritten{Body: r.Facts.File(file), Media: mediaOf(r), Place: q.text.String()}, nil
}

// longFields rejects text fields that the members lack, because they are long.
func longFields(r *driver.Original, o *splice.Object) error {
	for _, p := range r.Facts.Form() {
		name := string(p.Base())
		if _, known := splice.FieldNamed(p.Base()); !known && !p.IsFile && o.Get(name) == nil && p.Value.End-p.Value.Off > len("null") {
			return fault.Field(name, "field_too_long", "The field %q is too long for an option in %s's query. Shorten it.", name, vendor)
		}
	}
	return nil
}

// mediaOf returns the content type of the file, if it is sound or video. With JSON Deepgram would take the file for
// the address of another.
func mediaOf(r *driver.Original) string {
	for _, p := range r.Facts.Form() {
		media := strings.ToLower(string(p.Type))
		if p.IsFile && string(p.Base()) == file && (strings.HasPrefix(media, "audio/") || strings.HasPrefix(media, "video/")) {
			return media
		}
	}
	return "application/octet-stream"
}

// listened is Deepgram's transcription.
type listened struct {
	Metadata struct {
		Duration *float64 `json:"duration"`
	} `json:"metadata"`
	Results *struct {
		Channels []channel `json:"channels"`
	} `json:"results"`
	Code    jsontext.Value `json:"err_code"`
	Message jsontext.Value `json:"err_msg"`
}

// channel is what was heard on a channel: the first of the alternatives is the most likely.
type channel struct {
	Alternatives []struct {
		Text  string `json:"transcript"`
		Words []word `json:"words"`
	} `json:"alternatives"`
	Language string `json:"detected_language"`
}

type word struct {
	Word       string  `json:"word"`
	Punctuated string  `json:"punctuated_word"`
	Start      float64 `json:"start"`
	End        float64 `json:"end"`
	Confidence float64 `json:"confidence"`
	Speaker    *int    `json:"speaker"`
}

// heard writes a transcription in the form that the caller requested. Deepgram bills each channel that it transcribes by itself.
func heard(r *driver.Original, body []byte) (driver.Restored, error) {
	var in listened
	if f := driver.ReadResponse(body, &in); f != nil {
		return driver.Restored{}, f
	}
	switch {
	case in.Results == nil && (driver.Given(in.Code) || driver.Given(in.Message)):
		return driver.Restored{}, failureIn(body)
	case in.Results == nil || len(in.Results.Channels) == 0:
		return driver.Restored{}, driver.InvalidResponse("has no text")
	}
	o := r.Members()
	options, err := transcript.Read(o)
	if err != nil {
		return driver.Restored{}, driver.InvalidResponse("cannot be written as requested")
	}
	channels := in.Results.Channels
	out := transcript.Transcript{Duration: in.Metadata.Duration, Language: channels[0].Language}
	if out.Language == "" {
		out.Language = strings.Trim(string(o.Get("language")), `"`)
	}
	var texts []string
	for i := range channels {
		if len(channels[i].Alternatives) == 0 {
			return driver.Restored{}, driver.InvalidResponse("has no text")
		}
		best := &channels[i].Alternatives[0]
		texts = append(texts, best.Text)
		out.Words = appendWords(out.Words, best.Text, best.Words, i)
	}
	out.Text = strings.Join(texts, "\n")
	if len(channels) > 1 {
		slices.SortStableFunc(out.Words, func(a, b transcript.Word) int {
			switch {
			case a.Start < b.Start:
				return -1
			case a.Start > b.Start:
				return 1
			}
			return 0
		})
		if out.Duration != nil {
			billed := *out.Duration * float64(len(channels))
			out.Billed = &billed
		}
	}
	return out.Restore(options)
}

// mostBetween bounds what the text may have between two words, in bytes: a word that is found only behind it is another one.
const mostBetween = 64

// appendWords appends the words of a channel, with what the text has between them.
func appendWords(dst []transcript.Word, text string, words []word, channel int) []transcript.Word {
	for i := range words {
		w := &words[i]
		name := w.Punctuated
		if name == "" {
			name = w.Word
		}
		before := " "
		if at := strings.Index(text, name); at >= 0 && at < mostBetween {
			if strings.TrimSpace(text[:at]) == "" {
				before = text[:at]
			}
			text = text[at+len(name):]
		}
		out := transcript.Word{Before: before, Text: name, Start: w.Start, End: w.End, LogProb: math.Log(min(max(w.Confidence, 1e-9), 1))}
		switch {
		case w.Speaker != nil:
			out.Speaker = fmt.Sprintf("%d/%d", channel, *w.Speaker)
		case channel > 0:
			out.Speaker = fmt.Sprint(channel)
		}
		dst = append(dst, out)
	}
	return dst
}
