// Package media reads the playing time of audio files from their containers, without decoding
// the sound. Providers sell transcriptions by the second, and not all report the seconds.
//
// Guarantees:
//
//   - No input makes it panic. The work is linear in the size of the file, and it allocates only
//     small lists of tracks.
//   - A result is more than 0 and at most Longest.
//   - It counts the frames of an MP3 file and the samples of a WAV file. In the other containers it
//     believes the time that the file states, which a caller can understate.
//
// Not part of this package: whether a provider can decode the sound.
package media

import (
	"bytes"
	"math/bits"
	"time"
)

// Longest is the longest time that counts as plausible.
const Longest = 1000 * time.Hour

// Duration returns the playing time of a file: WAV, MP3, MP4 (M4A), FLAC, Ogg or WebM. It reports
// false if the format is another one, or if the file does not state its time.
func Duration(file []byte) (time.Duration, bool) {
	b := afterID3(file)
	switch {
	case len(b) < 12:
		return 0, false
	case (is(b, "RIFF") || is(b, "RF64")) && is(b[8:], "WAVE"):
		return wav(b[12:])
	case is(b, "fLaC"):
		return flac(b[4:])
	case is(b, "OggS"):
		return ogg(b)
	case is(b, "\x1a\x45\xdf\xa3"):
		return webm(b)
	case is(b[4:], "ftyp"):
		return mp4(b)
	}
	return mp3(b)
}

// Type returns the MIME type of a file, by its beginning: WAV, MP3, MP4 (M4A), FLAC, Ogg or WebM. It is empty if the format is another
// one.
func Type(file []byte) string {
	b := afterID3(file)
	switch {
	case len(b) < 12:
		return ""
	case (is(b, "RIFF") || is(b, "RF64")) && is(b[8:], "WAVE"):
		return "audio/wav"
	case is(b, "fLaC"):
		return "audio/flac"
	case is(b, "OggS"):
		return "audio/ogg"
	case is(b, "\x1a\x45\xdf\xa3"):
		return "video/webm"
	case is(b[4:], "ftypM4A"):
		return "audio/m4a"
	case is(b[4:], "ftyp"):
		return "video/mp4"
	case len(b) < len(file), b[0] == 0xff && b[1]&0xe6 == 0xe2: // layer III
		return "audio/mp3"
	}
	return ""
}

func is(b []byte, prefix string) bool { return bytes.HasPrefix(b, []byte(prefix)) }

// afterID3 returns what follows the ID3v2 tags at the beginning.
func afterID3(b []byte) []byte {
	for len(b) >= 10 && is(b, "ID3") {
		size := 10 + (int(b[6]&0x7f)<<21 | int(b[7]&0x7f)<<14 | int(b[8]&0x7f)<<7 | int(b[9]&0x7f))
		if b[5]&0x10 != 0 { // a footer
			size += 10
		}
		b = b[min(size, len(b)):]
	}
	return b
}

// seconds returns the time of n units at a rate of units per second.
func seconds(n, rate uint64) (time.Duration, bool) {
	if n == 0 || rate == 0 {
		return 0, false
	}
	high, low := bits.Mul64(n, uint64(time.Second))
	if high >= rate {
		return 0, false // more than 64 bits
	}
	d, _ := bits.Div64(high, low, rate)
	if d == 0 || d > uint64(Longest) {
		return 0, false
	}
	return time.Duration(d), true
}
