package gemini

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// speechStream turns the events of streamGenerateContent with speech into OpenAI's.
type speechStream struct {
	wav   bool // a header goes before the samples
	sound samplesOf
	begun bool
	ended bool
	usage wire.Usage
}

func newSpeechStream(r *driver.Original) *speechStream {
	form, err := speechForm(r.Members(), driver.Target{DropParams: true})
	return &speechStream{wav: err == nil && form.format == wavFormat}
}

// Event takes an event.
func (s *speechStream) Event(dst, data []byte) ([]byte, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || s.ended && data[0] != '{' {
		return dst, nil
	}
	var in loosePieces
	if f := driver.ReadResponse(data, &in); f != nil {
		return dst, f
	}
	if driver.Given(in.Error) {
		return dst, failureIn(data)
	}
	s.sound.data = s.sound.data[:0]
	ended, f := in.addTo(&s.sound)
	if f != nil {
		return dst, f
	}
	s.ended = s.ended || ended
	s.report(in.Usage)
	if len(s.sound.data) == 0 {
		return dst, nil
	}
	if !s.begun && s.wav {
		s.begun = true
		return appendSound(dst, s.sound.endless()), nil
	}
	if s.begun = true; !s.wav && s.sound.rate != usualRate {
		return dst, driver.InvalidResponse("has another number of samples a second than 24000")
	}
	return appendSound(dst, s.sound.data), nil
}

// report takes a report. The last one counts.
func (s *speechStream) report(raw jsontext.Value) {
	if u := spokenUsage(raw); u.Known() || u.Bad {
		s.usage = u
	}
}

// End appends the last event.
func (s *speechStream) End(dst []byte) []byte { return appendSpoken(dst, &s.usage) }

// Complete reports whether the model has ended.
func (s *speechStream) Complete() bool { return s.ended && s.begun }

// Usage returns the last report.
func (s *speechStream) Usage() wire.Usage { return s.usage }
