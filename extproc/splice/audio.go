package splice

import (
	"bytes"
	"math"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/usage"
)

// Transcript reads a complete transcription or translation in JSON. Otherwise it is like Reply. It
// may report its usage as tokens, as seconds, or only the length of the sound.
func Transcript(body []byte, f *ReplyFacts) error {
	*f = ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}
	s := scanner{b: body}
	i, err := s.open()
	if err != nil {
		return err
	}
	var r, length report
	r.clear()
	length.clear()
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "text":
			w.at = s.value(at)
			f.take(&s, at, w.at)
		case "usage":
			w.at = r.units(&s, at)
		case "duration":
			w.at = length.seconds(&s, at)
		default:
			w.at = f.common(&s, w.name, at)
		}
	}
	if err := s.close(w.at); err != nil {
		return err
	}
	if f.report(&r); !f.HasUsage {
		f.report(&length)
	}
	return nil
}

// AudioEvent reads the data of one event of a transcription or of generated speech.
func AudioEvent(data []byte, f *ChunkFacts) error {
	*f = ChunkFacts{ReplyFacts: ReplyFacts{Collect: f.Collect, Text: f.Text, Most: f.Most}}
	if IsDone(data) { // of compatible servers
		f.Done = true
		return nil
	}
	s := scanner{b: data}
	i, err := s.open()
	if err != nil {
		return err
	}
	var r report
	r.clear()
	text := len(f.Text)
	w := s.members(i)
	for w.next() {
		at := w.at
		switch string(w.name) {
		case "type":
			if w.at = s.value(at); w.at > 0 {
				f.Done = bytes.HasSuffix(data[at:w.at], []byte(`.done"`))
			}
		case "delta":
			w.at = s.value(at)
			f.take(&s, at, w.at)
		case "audio":
			w.at = s.value(at)
			f.HasContent = true
		case "usage":
			w.at = r.units(&s, at)
		default:
			w.at = f.common(&s, w.name, at)
		}
	}
	if err := s.close(w.at); err != nil {
		return err
	}
	if f.report(&r); len(f.Text) > text {
		f.Choices = 1
	}
	return nil
}

// seconds reads a length in seconds. Negative and very long ones are no usage.
func (r *report) seconds(s *scanner, i int) int {
	end := s.value(i)
	if end < 0 || s.null(i) {
		return end
	}
	v, err := strconv.ParseFloat(string(s.b[i:end]), 64)
	if err != nil || v < 0 || v > usage.Limit/1000 {
		r.bad = true
		return end
	}
	r.n[millis] = int64(math.Round(v * 1000))
	return end
}
