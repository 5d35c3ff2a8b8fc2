package media

import (
	"encoding/binary"
	"math"
	"time"
)

// Formats of WAV files.
const (
	pcm        = 0x0001
	floats     = 0x0003
	aLaw       = 0x0006
	muLaw      = 0x0007
	extensible = 0xfffe
)

// wav reads the chunks of a WAV file. Files that were written to a pipe state no size of their
// data, or the largest one: the data then reach to the end of the file.
func wav(b []byte) (time.Duration, bool) {
	var rate, long uint64 // bytes per second; size of the data by chunk ds64
	for len(b) >= 8 {
		size, body := uint64(binary.LittleEndian.Uint32(b[4:])), b[8:]
		switch {
		case is(b, "fmt ") && len(body) >= 16:
			rate = byteRate(body)
		case is(b, "ds64") && len(body) >= 16:
			long = binary.LittleEndian.Uint64(body[8:])
		case is(b, "data"):
			if size == math.MaxUint32 && long > 0 {
				size = long
			}
			if rest := uint64(len(body)); size == 0 || size > rest {
				size = rest
			}
			return seconds(size, rate)
		}
		b = body[min(size+size&1, uint64(len(body))):]
	}
	return 0, false
}

// byteRate returns the bytes per second. For samples of a fixed size it does not use the stated
// rate, because no player does.
func byteRate(b []byte) uint64 {
	channels, samples := uint64(binary.LittleEndian.Uint16(b[2:])), uint64(binary.LittleEndian.Uint32(b[4:]))
	switch binary.LittleEndian.Uint16(b) {
	case pcm, floats, aLaw, muLaw, extensible:
		return channels * samples * ((uint64(binary.LittleEndian.Uint16(b[14:])) + 7) / 8)
	}
	return uint64(binary.LittleEndian.Uint32(b[8:]))
}
