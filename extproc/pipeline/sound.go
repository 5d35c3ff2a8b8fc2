package pipeline

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
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// sound is what a request says of the sound that is read or made. It is zero for operations
// without sound.
type sound struct {
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

// billedHeaders lists the headers in which providers report how many characters of a text they bill.
func billedHeaders() [3]string {
	return [...]string{"character-cost", "x-character-count", "dg-char-count"}
}

// maxSample bounds the beginning of generated sound that is kept to estimate its length.
const maxSample = 64 << 10

// readSound measures the request's sound or text.
func (x *Exchange) readSound() {
	switch {
	case x.op.Hears():
		file := x.Facts.File("file")
		if d, ok := media.Duration(file); ok {
			x.sound.millis = d.Round(time.Millisecond).Milliseconds()
		} else {
			x.sound.millis, x.sound.guessed = int64(len(file))/bytesPerMilli, true
		}
		x.sound.millis = min(max(x.sound.millis, 1), usage.Limit)
	case x.op.Speaks():
		text, _ := x.Facts.Text(splice.Input) // another type is the provider's to reject
		x.sound.characters = int64(utf8.RuneCountInString(text))
	}
}

// input returns what a deployment reads of the request, in the unit by which it is sold, and
// where the count comes from. text is the number of tokens of its text.
func (x *Exchange) input(d *catalog.Deployment, text int64) (usage.Tokens, usage.Source) {
	p, s := d.Prices, &x.sound
	switch {
	case x.op.Hears() && (p.ReadTime() || !p.ByToken()):
		if s.guessed {
			return usage.Tokens{InputMillis: s.millis}, usage.Estimated
		}
		return usage.Tokens{InputMillis: s.millis}, usage.Measured
	case x.op.Hears():
		audio := tokensOf(s.millis, heardPerMinute)
		return usage.Tokens{Input: text + audio, InputAudio: audio}, usage.Estimated
	case x.op.Speaks() && (p.Characters() || !p.ByToken()):
		return usage.Tokens{InputCharacters: s.characters}, usage.Measured
	}
	return usage.Tokens{Input: text}, usage.Estimated
}

// addOutput adds what a deployment makes of a request with sound. written is the number of tokens
// of a transcription, and spoken the length of the generated sound in milliseconds.
func (x *Exchange) addOutput(t *usage.Tokens, p *price.Prices, written, spoken int64) {
	switch {
	case x.op.Hears() && t.InputMillis == 0:
		t.Output = written
	case x.op.Speaks() && !p.Characters():
		if t.OutputMillis = spoken; p.ByToken() {
			t.OutputAudio = tokensOf(spoken, spokenPerMinute)
			t.Output = t.OutputAudio
		}
	}
}

func tokensOf(millis, perMinute int64) int64 { return millis * perMinute / time.Minute.Milliseconds() }

// expectSound adds what the response to a request with sound may use.
func (x *Exchange) expectSound(t *usage.Tokens, p *price.Prices) {
	x.addOutput(t, p, tokensOf(x.sound.millis, writtenPerMinute), x.sound.characters*1000/charactersPerSecond)
}

// soundUsed returns the usage of a request with sound whose provider does not report it.
func (p *Pipeline) soundUsed(x *Exchange, o *Outcome) (usage.Tokens, usage.Source) {
	d := x.last().Deployment
	t, source := x.input(d, p.countInput(x))
	spoken := x.spokenMillis(o)
	x.addOutput(&t, d.Prices, o.counted+p.deps.Tokens.Count(x.tokenizer(), string(o.Text)), spoken)
	if t.Output > 0 || t.OutputMillis > 0 {
		source = usage.Estimated
	}
	return t, source
}

// spokenMillis estimates the length of the generated sound. Its beginning stands for the rest.
func (x *Exchange) spokenMillis(o *Outcome) int64 {
	if x.response.head.media == "audio/pcm" {
		return o.Bytes / pcmBytesPerMilli
	}
	d, ok := media.Duration(o.Sample)
	switch {
	case !ok && o.Kind != usage.Success && o.Bytes == 0:
		return 0
	case !ok:
		return x.sound.characters * 1000 / charactersPerSecond
	case bytes.HasPrefix(o.Sample, []byte("fLaC")): // states the length of the whole
		return d.Milliseconds()
	}
	return int64(float64(d.Milliseconds()) * float64(o.Bytes) / float64(len(o.Sample)))
}

// readBilled returns the characters that the provider of generated sound reports to bill, if it is sold by them.
func (x *Exchange) readBilled() wire.Usage {
	p, value := x.last().Deployment.Prices, x.response.head.billed
	if value == "" || p.ByToken() || p.WrittenTime() {
		return wire.Usage{}
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return wire.Usage{Bad: true}
	}
	u := driver.Reported(usage.Tokens{InputCharacters: n})
	x.sound.billed = u.Known()
	return u
}

// withSound adds to reported usage what the deployment is sold by and the report lacks, and
// reports whether it has capped an impossible length of the sound.
func (x *Exchange) withSound(t usage.Tokens) (_ usage.Tokens, capped bool) {
	byToken := t.Input > 0 && x.last().Deployment.Prices.ByToken()
	s := &x.sound
	switch {
	case s.billed:
		if most := mostPerCharacter * s.characters; t.InputCharacters > most {
			t.InputCharacters, capped = most, true
		}
	case x.op.Speaks() && !byToken:
		t.InputCharacters = s.characters
	case x.op.Hears() && t.InputMillis == 0 && !byToken:
		t.InputMillis = s.millis
	case x.op.Hears() && !s.guessed:
		// Providers round up, and bill a minimum.
		if most := 2*s.millis + time.Minute.Milliseconds(); t.InputMillis > most {
			t.InputMillis, capped = most, true
		}
	}
	return t, capped
}
