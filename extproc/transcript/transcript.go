package transcript

import (
	"fmt"
	"math"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Transcript is what a provider has heard in a file.
type Transcript struct {
	Text     string
	Language string // as the provider names it; empty if it does not
	Words    []Word
	Duration *float64   // of the sound, in seconds; nil if the provider does not report it
	Billed   *float64   // seconds that the provider bills; nil if they are Duration
	Usage    wire.Usage // tokens that the provider bills in place of seconds, if it reports them
	Silent   bool       // the JSON has no usage: OpenAI's translations have none
}

// Restore returns the transcription in the form that the request wants, with the seconds that the provider bills.
func (t *Transcript) Restore(o Options) (driver.Restored, error) {
	var out driver.Restored
	billed := t.Billed
	if billed == nil {
		billed = t.Duration
	}
	switch {
	case t.Usage.Known(), t.Usage.Bad:
		out.Usage, billed = t.Usage, nil
	case billed == nil:
	case !(*billed >= 0 && *billed <= usage.Limit/1000):
		out.Usage.Bad = true
		billed = nil
	default:
		out.Usage = driver.Reported(usage.Tokens{InputMillis: int64(math.Round(*billed * 1000))})
	}
	if o.Timed() && len(t.Words) == 0 && strings.TrimSpace(t.Text) != "" {
		return driver.Restored{}, driver.InvalidResponse("has no times of words, which response_format needs")
	}
	var err error
	switch o.format {
	case text:
		out.Body, out.Media = []byte(t.Text+"\n"), "text/plain; charset=utf-8"
	case srt:
		out.Body, out.Media = t.subtitles("", ",", plainLine, number), "text/plain; charset=utf-8"
	case vtt:
		out.Body, out.Media = t.subtitles("WEBVTT\n\n", ".", escapedLine, nothing), "text/vtt; charset=utf-8"
	case plainJSON, verbose, diarized:
		out.Body, err = t.object(o, billed)
	}
	return out, err
}

// object is OpenAI's transcription in JSON.
type object struct {
	Task     string   `json:"task,omitzero"`
	Language *string  `json:"language,omitzero"`
	Duration *float64 `json:"duration,omitzero"`
	Text     string   `json:"text"`
	Segments any      `json:"segments,omitzero"`
	Words    []timed  `json:"words,omitzero"`
	Usage    any      `json:"usage,omitzero"`
}

// duration is a report of seconds.
type duration struct {
	Type    string  `json:"type"`
	Seconds float64 `json:"seconds"`
}

// tokenUsage is a report of tokens.
type tokenUsage struct {
	Type   string       `json:"type"`
	Input  int64        `json:"input_tokens"`
	Inputs tokenDetails `json:"input_token_details"`
	Output int64        `json:"output_tokens"`
	Total  int64        `json:"total_tokens"`
}

// tokenDetails divides the tokens that the model has read.
type tokenDetails struct {
	Text  int64 `json:"text_tokens"`
	Audio int64 `json:"audio_tokens"`
}

// timed is a word with its time.
type timed struct {
	Word  string  `json:"word"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// verboseSegment is a segment of a verbose transcription. What only OpenAI's models have is 0.
type verboseSegment struct {
	ID               int     `json:"id"`
	Seek             int     `json:"seek"`
	Start            float64 `json:"start"`
	End              float64 `json:"end"`
	Text             string  `json:"text"`
	Tokens           []int   `json:"tokens"`
	Temperature      float64 `json:"temperature"`
	LogProb          float64 `json:"avg_logprob"`
	CompressionRatio float64 `json:"compression_ratio"`
	NoSpeech         float64 `json:"no_speech_prob"`
}

// spokenSegment is a segment of one speaker.
type spokenSegment struct {
	Type    string  `json:"type"`
	ID      string  `json:"id"`
	Start   float64 `json:"start"`
	End     float64 `json:"end"`
	Text    string  `json:"text"`
	Speaker string  `json:"speaker"`
}

func (t *Transcript) object(o Options, billed *float64) ([]byte, error) {
	out := object{Text: t.Text}
	switch u := &t.Usage.Tokens; {
	case t.Silent:
	case t.Usage.Known():
		out.Usage = &tokenUsage{"tokens", u.Input, tokenDetails{max(u.Input-u.InputAudio, 0), u.InputAudio}, u.Output, u.Input + u.Output}
	case billed != nil:
		out.Usage = &duration{"duration", *billed}
	}
	if o.format != plainJSON {
		out.Duration = t.Duration
		if out.Duration == nil {
			end := t.end()
			out.Duration = &end
		}
	}
	switch o.format { //nolint:exhaustive // the others have no times
	case diarized:
		out.Task, out.Segments = "transcribe", t.spoken()
	case verbose:
		out.Language = &t.Language
		if o.segments {
			out.Segments = t.verbose()
		}
		if o.words {
			out.Words = make([]timed, 0, len(t.Words))
			for _, w := range t.Words {
				out.Words = append(out.Words, timed{w.Text, w.Start, w.End})
			}
		}
	}
	body, err := json.Marshal(&out, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, driver.InvalidResponse("is not valid JSON of the expected shape")
	}
	return body, nil
}

// end returns when the last word ends.
func (t *Transcript) end() float64 {
	end := 0.0
	for i := range t.Words {
		end = max(end, t.Words[i].End)
	}
	return end
}

func (t *Transcript) verbose() []verboseSegment {
	out := []verboseSegment{}
	for i, s := range segments(t.Words) {
		out = append(out, verboseSegment{ID: i, Start: s.start, End: s.end, Text: s.text, Tokens: []int{}, LogProb: s.logProb})
	}
	return out
}

func (t *Transcript) spoken() []spokenSegment {
	list, out := segments(t.Words), []spokenSegment{}
	for i, name := range speakers(list) {
		s := &list[i]
		out = append(out, spokenSegment{"transcript.text.segment", fmt.Sprintf("seg_%d", i), s.start, s.end, s.text, name})
	}
	return out
}

// subtitles returns the segments as subtitles: each has what is before it, a line with its times, whose fractions begin
// with a mark, and its text.
func (t *Transcript) subtitles(head, mark string, line func(string) string, before func(i int) string) []byte {
	var b strings.Builder
	b.WriteString(head)
	for i, s := range segments(t.Words) {
		fmt.Fprintf(&b, "%s%s --> %s\n%s\n\n", before(i), clock(s.start, mark), clock(s.end, mark), line(s.text))
	}
	return []byte(b.String())
}

// number is what SubRip has before each subtitle.
func number(i int) string { return fmt.Sprintf("%d\n", i+1) }

func nothing(int) string { return "" }

// clock writes a time as subtitles have it, to the millisecond.
func clock(seconds float64, mark string) string {
	ms := int64(math.Round(max(0, min(seconds, usage.Limit/1000)) * 1000))
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, mark, ms%1000)
}

// plainLine returns a text as one line. An arrow would be read as a line with times.
func plainLine(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "-->", "->")
}

// escapedLine returns a text as one line of WebVTT, which has markup.
func escapedLine(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.Join(strings.Fields(s), " "))
}
