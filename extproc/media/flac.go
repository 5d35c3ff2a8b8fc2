package media

import (
	"encoding/binary"
	"time"
)

// flac reads the block STREAMINFO, which is the first one.
func flac(b []byte) (time.Duration, bool) {
	if len(b) < 4+34 || b[0]&0x7f != 0 {
		return 0, false
	}
	// 20 bits of sample rate, 3 of channels, 5 of bits per sample, 36 of samples; 0 if unknown.
	x := binary.BigEndian.Uint64(b[4+10:])
	return seconds(x&(1<<36-1), x>>44)
}
