package gemini

import (
	"encoding/base64"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// The formats of speech that samples can be written in.
const (
	wavFormat = "wav"
	pcmFormat = "pcm"
)

// styled is the first version whose models take a style apart from the text, and read the text word for word.
const styled = 308

// spoken is a request of generateContent for speech.
type spoken struct {
	Contents   []spokenContent `json:"contents"`
	Safety     jsontext.Value  `json:"safetySettings,omitzero"`
	Generation struct {
		Temperature jsontext.Value `json:"temperature,omitzero"`
		Modalities  []string       `json:"responseModalities"`
		Speech      struct {
			speechConfig

			Language string `json:"languageCode,omitzero"`
		} `json:"speechConfig"`
	} `json:"generationConfig"`
}

type spokenContent struct {
	Role  string       `json:"role"`
	Parts []spokenPart `json:"parts"`
}

// spokenPart is what is read, and how.
type spokenPart struct {
	Text     string `json:"text"`
	Metadata struct {
		Style string `json:"style"`
	} `json:"speechMetadata,omitzero"`
}

// streamed is the place of requests whose response comes in events.
const streamed = "stream"

// speak writes a request for speech. What the caller gets as events comes in events.
func (Codec) speak(r *driver.Original, t driver.Target) (driver.Rewritten, error) {
	form, err := speechForm(r.Members(), t)
	if err != nil {
		return driver.Rewritten{}, err
	}
	p := optionsOf(r, t)
	p.take("response_format")
	p.take("stream_format")
	p.only("speed", "1", "1.0")
	voice := p.take("voice")
	if voice.Kind() == '{' {
		voice = splice.Lookup(voice, "id")
	}
	var out spoken
	name := &out.Generation.Speech.Voice.Prebuilt.Name
	if voice.Kind() != '"' || json.Unmarshal(voice, name) != nil || *name == "" {
		return driver.Rewritten{}, fault.Field("voice", "invalid_value", "voice must be the name of a voice of %s, such as Kore, or one of OpenAI's, such as alloy.", vendor)
	}
	*name = voiceOf(*name)
	part := spokenPart{Text: p.required("input")}
	if style := p.text("instructions"); versionOf(t.Model) >= styled {
		part.Metadata.Style = style
	} else if style != "" {
		part.Text = style + ":\n" + part.Text // these models read the style from the text
	}
	out.Contents = []spokenContent{{roleUser, []spokenPart{part}}}
	out.Safety = p.take("safety_settings", "safetySettings")
	g := &out.Generation
	g.Temperature, g.Modalities = p.take("temperature"), []string{"AUDIO"}
	g.Speech.Language = p.text("language_code", "languageCode")
	sent := driver.Rewritten{}
	if form.events {
		sent.Place = streamed
	}
	sent.Body, err = p.body(&out)
	return sent, err
}

// speech is the form of speech that a caller requests.
type speech struct {
	format string
	events bool
}

// speechForm reads the form of speech. The caller of OpenAI's API who names no format expects the provider's usual one; Google's
// is a WAV file.
func speechForm(o *splice.Object, t driver.Target) (speech, error) {
	out, stream := speech{format: wavFormat}, ""
	for name, to := range map[string]*string{"response_format": &out.format, "stream_format": &stream} {
		if raw := o.Get(name); raw != nil && json.Unmarshal(raw, to) != nil {
			return speech{}, fault.Field(name, "invalid_type", "%s must be a text.", name)
		}
	}
	switch out.events = stream == "sse"; {
	case stream != "" && stream != "audio" && !out.events:
		return speech{}, fault.Field("stream_format", "invalid_value", "stream_format must be audio or sse.")
	case out.format == wavFormat, out.format == pcmFormat:
		return out, nil
	case t.DropParams:
		out.format = wavFormat
		return out, nil
	}
	return speech{}, fault.Field("response_format", driver.CodeUnsupported, "response_format: %s speaks in wav and pcm; request one of them, or set drop_params on the deployment.", vendor)
}

// loosePieces is a response with sound.
type loosePieces struct {
	Candidates []struct {
		Content struct {
			Parts []struct {
				Inline looseMedium `json:"inlineData"`
			} `json:"parts"`
		} `json:"content"`
		Finish  string `json:"finishReason"`
		Message string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback looseFeedback  `json:"promptFeedback"`
	Usage    jsontext.Value `json:"usageMetadata"`
	Error    jsontext.Value `json:"error"`
}

// restoreSpeech returns the sound of a response in the form that the caller requested.
func (Codec) restoreSpeech(r *driver.Original, body []byte) (driver.Restored, error) {
	form, err := speechForm(r.Members(), driver.Target{DropParams: true})
	if err != nil {
		return driver.Restored{}, driver.InvalidResponse("cannot be spoken as requested")
	}
	var in loosePieces
	if f := driver.ReadResponse(body, &in); f != nil {
		return driver.Restored{}, f
	}
	if driver.Given(in.Error) {
		return driver.Restored{}, failureIn(body)
	}
	sound, f := in.samples()
	if f != nil {
		return driver.Restored{}, f
	}
	out := driver.Restored{Body: sound.data, Media: "audio/pcm", Usage: spokenUsage(in.Usage)}
	switch {
	case form.format == wavFormat:
		out.Body, out.Media = sound.wav(), "audio/wav"
	case sound.rate != usualRate: // a caller of pcm cannot be told the rate
		return driver.Restored{}, driver.InvalidResponse("has another number of samples a second than 24000")
	}
	if form.events {
		out.Body, out.Media = soundEvents(out.Body, &out.Usage), "text/event-stream; charset=utf-8"
	}
	return out, nil
}

// samples returns the sound of the first candidate, or why there is none.
func (in *loosePieces) samples() (samplesOf, *wire.Failure) {
	var out samplesOf
	_, f := in.addTo(&out)
	if f == nil && len(out.data) == 0 {
		f = driver.InvalidResponse("has no sound")
		f.CoolDown = false
	}
	return out, f
}

// addTo adds the sound of the first candidate to other samples, and reports whether the response has ended, or why it has failed. One that ends early
// has not all of the text.
func (in *loosePieces) addTo(out *samplesOf) (ended bool, f *wire.Failure) {
	if reason := in.Feedback.BlockReason; reason != "" {
		return false, blockedBy(reason + ".")
	}
	if len(in.Candidates) == 0 {
		return false, nil // of a stream: the last event may have the usage alone
	}
	c := &in.Candidates[0]
	for i := range c.Content.Parts {
		if m := &c.Content.Parts[i].Inline; isSpoken(m.Type) && !out.add(m.Type, m.Data) {
			return false, driver.InvalidResponse("has sound of another kind than samples")
		}
	}
	switch finish := readFinish(c.Finish); {
	case finish == wire.FinishFilter && c.Message != "":
		return false, blockedBy(c.Message)
	case finish == wire.FinishFilter:
		return false, blockedBy(c.Finish + ".")
	case finish == wire.FinishLength:
		return false, textTooLong()
	default:
		return finish != "", nil
	}
}

// textTooLong is the failure of speech that ends where the model may speak no more.
func textTooLong() *wire.Failure {
	p := driver.Problem{Status: 400, Message: "The text is longer than what the model speaks in one response. Divide it.", Param: "input"}
	f := p.Failure()
	f.Code = "input_too_long"
	return f
}

// spokenUsage reads the tokens of speech. Where the report does not divide them, all of the output is sound.
func spokenUsage(raw jsontext.Value) wire.Usage {
	var reported looseUsage
	reported.add(raw)
	u := reported.report()
	if t := &u.Tokens; u.Known() && len(reported.Out) == 0 {
		t.OutputAudio = t.Output - t.Reasoning
	}
	return u
}

// soundEvents writes sound as OpenAI's events.
func soundEvents(data []byte, u *wire.Usage) []byte {
	out := appendSound(make([]byte, 0, base64.StdEncoding.EncodedLen(len(data))+256), data)
	return appendSpoken(out, u)
}

// appendSound appends an event with sound.
func appendSound(dst, data []byte) []byte {
	dst = append(dst, `data: {"type":"speech.audio.delta","audio":"`...)
	return append(base64.StdEncoding.AppendEncode(dst, data), "\"}\n\n"...)
}

// appendSpoken appends the last event, with the tokens.
func appendSpoken(dst []byte, u *wire.Usage) []byte {
	dst = append(dst, `data: {"type":"speech.audio.done"`...)
	if t := &u.Tokens; u.Known() {
		dst = strconv.AppendInt(append(dst, `,"usage":{"input_tokens":`...), t.Input, 10)
		dst = strconv.AppendInt(append(dst, `,"output_tokens":`...), t.Output, 10)
		dst = append(strconv.AppendInt(append(dst, `,"total_tokens":`...), t.Input+t.Output, 10), '}')
	}
	return append(dst, "}\n\n"...)
}
