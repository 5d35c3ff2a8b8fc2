// Package forms builds the multipart forms and the sound that the benchmark sends.
package forms

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// ContentType is that of the forms.
const ContentType = "multipart/form-data; boundary=" + boundary

const (
	boundary = "bench-7MA4YWxkTrZu0gW"
	rate     = 16000 // samples of two bytes a second
	header   = 44    // bytes
)

// Transcription returns a form of size bytes (or the smallest possible) that asks for the
// transcription of a WAV file.
func Transcription(model string, size int) []byte {
	head := fmt.Sprintf("--"+boundary+"\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n%s\r\n"+
		"--"+boundary+"\r\nContent-Disposition: form-data; name=\"file\"; filename=\"talk.wav\"\r\nContent-Type: audio/wav\r\n\r\n", model)
	const tail = "\r\n--" + boundary + "--\r\n"
	form := make([]byte, 0, max(size, len(head)+header+len(tail)))
	form = append(form, head...)
	form = append(form, wav(max(0, size-len(head)-header-len(tail)))...)
	return append(form, tail...)
}

// wav returns a file of n bytes of sound in one channel.
func wav(n int) []byte {
	b := make([]byte, 0, header+n)
	b = append(b, "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(header-8+n))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16) // bytes of the format
	b = binary.LittleEndian.AppendUint16(b, 1)  // PCM
	b = binary.LittleEndian.AppendUint16(b, 1)  // channels
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, 2*rate) // bytes a second
	b = binary.LittleEndian.AppendUint16(b, 2)      // bytes of a sample
	b = binary.LittleEndian.AppendUint16(b, 16)     // bits of a sample
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	return append(b, Sound(n)...)
}

// Sound returns n bytes of noise, always the same for the same n.
func Sound(n int) []byte {
	r := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, r.Uint64())
	}
	return b[:n]
}
