package gemini

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"mime"
	"strconv"
	"strings"
)

// usualRate is the number of samples a second of models that speak, and of OpenAI's pcm.
const usualRate = 24000

// headerBytes is the length of the header of a WAV file.
const headerBytes = 44

// samplesOf are sound in samples of 16 bits, lowest byte first, of one channel.
type samplesOf struct {
	data []byte
	rate int
}

// add adds a part of sound: samples, or a WAV file of samples. It reports false if it is something else, or of another rate than
// the parts before it.
func (s *samplesOf) add(kind, text string) bool {
	data, err := base64.StdEncoding.AppendDecode(nil, []byte(text))
	if err != nil {
		return false
	}
	name, parameters, err := mime.ParseMediaType(kind)
	if err != nil {
		return false
	}
	rate := usualRate
	switch name {
	case "audio/l16", "audio/pcm":
		if text, ok := parameters["rate"]; ok {
			if rate, err = strconv.Atoi(text); err != nil || rate < 1 {
				return false
			}
		}
	case "audio/wav", "audio/x-wav", "audio/wave":
		var ok bool
		if data, rate, ok = readWAV(data); !ok {
			return false
		}
	default:
		return false
	}
	if s.data != nil && s.rate != rate {
		return false
	}
	if s.rate = rate; s.data == nil {
		s.data = data
	} else {
		s.data = append(s.data, data...)
	}
	return true
}

// readWAV returns the samples of a WAV file, if they are of 16 bits and one channel. A file that was written in pieces may state a length that
// it does not have.
func readWAV(file []byte) (data []byte, rate int, ok bool) {
	if len(file) < 12 || !bytes.HasPrefix(file, []byte("RIFF")) || string(file[8:12]) != "WAVE" {
		return nil, 0, false
	}
	for rest := file[12:]; len(rest) >= 8; {
		name, size := string(rest[:4]), int(min(binary.LittleEndian.Uint32(rest[4:]), math.MaxInt32))
		rest = rest[8:]
		size = min(size, len(rest))
		switch {
		case name == "data":
			return rest[:size], rate, rate > 0
		case name == "fmt " && size >= 16:
			channels, bits := binary.LittleEndian.Uint16(rest[2:]), binary.LittleEndian.Uint16(rest[14:])
			if binary.LittleEndian.Uint16(rest) != 1 || channels != 1 || bits != 16 {
				return nil, 0, false
			}
			rate = int(min(binary.LittleEndian.Uint32(rest[4:]), math.MaxInt32))
		}
		rest = rest[min(size+size&1, len(rest)):]
	}
	return nil, 0, false
}

// wav returns the samples as a WAV file.
func (s *samplesOf) wav() []byte {
	return s.file(uint32(min(len(s.data), math.MaxInt32)))
}

// endless returns the samples as the beginning of a WAV file whose length is not known.
func (s *samplesOf) endless() []byte { return s.file(math.MaxUint32 - headerBytes) }

// file returns the samples after the header of a WAV file with samples of a size.
func (s *samplesOf) file(size uint32) []byte {
	out := make([]byte, 0, headerBytes+len(s.data))
	le := binary.LittleEndian
	rate := uint32(s.rate)
	out = le.AppendUint32(append(out, "RIFF"...), headerBytes-8+size)
	out = le.AppendUint32(append(out, "WAVEfmt "...), 16)
	out = le.AppendUint16(le.AppendUint16(out, 1), 1) // samples as they are, in one channel
	out = le.AppendUint32(le.AppendUint32(out, rate), 2*rate)
	out = le.AppendUint16(le.AppendUint16(out, 2), 16)
	out = le.AppendUint32(append(out, "data"...), size)
	return append(out, s.data...)
}

// isSpoken reports whether a part is sound.
func isSpoken(kind string) bool { return strings.HasPrefix(strings.ToLower(kind), "audio/") }
