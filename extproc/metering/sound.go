package metering

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/price"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/media"
	"github.com/modelgateway/modelgateway/extproc/operation"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/tokens"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// Sound is what a request says of the sound that is read or made. It is zero for operations
// without sound.
type Sound struct {
	millis     int64 // length of the file that is read
	guessed    bool  // millis follows from the file's size: the file does not state its length
	characters int64 // of the text that is spoken
	billed     bool  // the provider reports how many characters it bills
}

// Estimates of what a provider does not report. The tokens follow from the list prices of OpenAI's
// models, which have a price of a token and one of a minute: gpt-4o-transcribe and gpt-4o-mini-tts.
const (
	heardPerMinute      = 1000 // tokens of a minute of sound that is read
	spokenPerMinute     = 1250 // tokens of a minute of sound that is made
	writtenPerMinute    = 240  // tokens of the text of a minute of speech
	charactersPerSecond = 12   // of text that is spoken
	bytesPerMilli       = 8    // of sound in a usual compression, 64 kbit/s
	pcmBytesPerMilli    = 48   // of raw sound: 24,000 samples of 16 bits a second, as at OpenAI
)

// mostPerCharacter bounds how many characters a provider may bill for one: voices differ in price.
const mostPerCharacter = 10

// BilledHeaders lists the headers in which providers report how many characters of a text they bill.
func BilledHeaders() [3]string {
	return [...]string{"character-cost", "x-character-count", "dg-char-count"}
}

// MaxSample bounds the beginning of generated sound that is kept to estimate its length.
const MaxSample = 64 << 10

// ReadSound measures the sound or the text of a request.
func ReadSound(op *operation.Operation, facts *splice.Request) Sound {
	var s Sound
	switch {
	case op.Hears():
		file := facts.File("file")
		if d, ok := media.Duration(file); ok {
			s.millis = d.Round(time.Millisecond).Milliseconds()
		} else {
			s.millis, s.guessed = int64(len(file))/bytesPerMilli, true
		}
		s.millis = min(max(s.millis, 1), usage.Limit)
	case op.Speaks():
		text, _ := facts.Text(splice.Input) // another type is the provider's to reject
		s.characters = int64(utf8.RuneCountInString(text))
	}
	return s
}

// Input returns what a deployment reads of the request, in the unit by which it is sold, and
// where the count comes from. text is the number of tokens of its text.
func (r *Request) Input(d *catalog.Deployment, text int64) (usage.Tokens, usage.Source) {
	p, s := d.Prices, r.Sound
	switch {
	case r.Operation.Hears() && (p.ReadTime() || !p.ByToken()):
		if s.guessed {
			return usage.Tokens{InputMillis: s.millis}, usage.Estimated
		}
		return usage.Tokens{InputMillis: s.millis}, usage.Measured
	case r.Operation.Hears():
		audio := tokensOf(s.millis, heardPerMinute)
		return usage.Tokens{Input: text + audio, InputAudio: audio}, usage.Estimated
	case r.Operation.Speaks() && (p.Characters() || !p.ByToken()):
		return usage.Tokens{InputCharacters: s.characters}, usage.Measured
	}
	return usage.Tokens{Input: text}, usage.Estimated
}

// addOutput adds what a deployment makes of a request with sound. written is the number of tokens
// of a transcription, and spoken the length of the generated sound in milliseconds.
func (r *Request) addOutput(t *usage.Tokens, p *price.Prices, written, spoken int64) {
	switch {
	case r.Operation.Hears() && t.InputMillis == 0:
		t.Output = written
	case r.Operation.Speaks() && !p.Characters():
		if t.OutputMillis = spoken; p.ByToken() {
			t.OutputAudio = tokensOf(spoken, spokenPerMinute)
			t.Output = t.OutputAudio
		}
	}
}

func tokensOf(millis, perMinute int64) int64 { return millis * perMinute / time.Minute.Milliseconds() }

// expectSound adds what the response to a request with sound may use.
func (r *Request) expectSound(t *usage.Tokens, p *price.Prices) {
	r.addOutput(t, p, tokensOf(r.Sound.millis, writtenPerMinute), r.Sound.characters*1000/charactersPerSecond)
}

// soundUsed returns the usage of a request with sound whose provider does not report it.
func (r *Request) soundUsed(counter *tokens.Counter, d *catalog.Deployment, o *Output, decode Decode) (usage.Tokens, usage.Source) {
	t, source := r.Input(d, r.Count(counter, d, decode))
	r.addOutput(&t, d.Prices, o.written(counter, d), r.spokenMillis(o))
	if t.Output > 0 || t.OutputMillis > 0 {
		source = usage.Estimated
	}
	return t, source
}

// spokenMillis estimates the length of the generated sound. Its beginning stands for the rest.
func (r *Request) spokenMillis(o *Output) int64 {
	if o.Media == "audio/pcm" {
		return o.Bytes / pcmBytesPerMilli
	}
	d, ok := media.Duration(o.Sample)
	switch {
	case !ok && !o.Complete && o.Bytes == 0:
		return 0
	case !ok:
		return r.Sound.characters * 1000 / charactersPerSecond
	case bytes.HasPrefix(o.Sample, []byte("fLaC")): // states the length of the whole
		return d.Milliseconds()
	}
	return int64(float64(d.Milliseconds()) * float64(o.Bytes) / float64(len(o.Sample)))
}

// ReadBilled returns the characters that the provider of generated sound reports to bill, if it is sold by them.
// value is that of one of BilledHeaders.
func (s *Sound) ReadBilled(p *price.Prices, value string) wire.Usage {
	if value == "" || p.ByToken() || p.WrittenTime() {
		return wire.Usage{}
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return wire.Usage{Bad: true}
	}
	u := driver.Reported(usage.Tokens{InputCharacters: n})
	s.billed = u.Known()
	return u
}

// withSound adds to reported usage what the deployment is sold by and the report lacks, and
// reports whether it has capped an impossible length of the sound.
func (r *Request) withSound(d *catalog.Deployment, t usage.Tokens) (_ usage.Tokens, capped bool) {
	byToken := t.Input > 0 && d.Prices.ByToken()
	s := r.Sound
	switch {
	case s.billed:
		if most := mostPerCharacter * s.characters; t.InputCharacters > most {
			t.InputCharacters, capped = most, true
		}
	case r.Operation.Speaks() && !byToken:
		t.InputCharacters = s.characters
	case r.Operation.Hears() && t.InputMillis == 0 && !byToken:
		t.InputMillis = s.millis
	case r.Operation.Hears() && !s.guessed:
		// Providers round up, and bill a minimum.
		if most := 2*s.millis + time.Minute.Milliseconds(); t.InputMillis > most {
			t.InputMillis, capped = most, true
		}
	}
	return t, capped
}
