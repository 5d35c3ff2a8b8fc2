package media

import (
	"bytes"
	"encoding/binary"
	"time"
)

// maxLead is how far into a file its first frame may begin.
const maxLead = 64 << 10

// frame is the header of a frame of MPEG audio.
type frame struct {
	rate    uint64 // samples per second
	samples uint64
	size    int // bytes, with the header
	side    int // bytes of side information after the header; 0 if the layer is not III
	kind    uint32
}

// units is a multiple of all sample rates. Files that were joined may have several.
const units = 14_112_000

// mp3 counts the frames. It does not use the number of frames that headers state (Xing, VBRI),
// because that may be wrong, and decoders do not depend on it. The frame with such a header has
// no sound.
func mp3(b []byte) (time.Duration, bool) {
	at, ok := sync(b[:min(len(b), maxLead)], b, 0)
	var sum uint64
	for ok && at < len(b) {
		f, found := header(b[at:])
		if !found {
			at, ok = sync(b, b, at+1)
			continue
		}
		if f.size > len(b)-at {
			break // incomplete
		}
		if !f.info(b[at:]) {
			sum += f.samples * (units / f.rate)
		}
		at += f.size
	}
	return seconds(sum, units)
}

// sync returns the first index in window, from a given one on, where a frame begins that another
// one or the end of the file follows.
func sync(window, b []byte, from int) (int, bool) {
	for from < len(window) {
		i := bytes.IndexByte(window[from:], 0xff)
		if i < 0 {
			return 0, false
		}
		from += i
		f, ok := header(b[from:])
		if ok && f.size <= len(b)-from {
			rest := b[from+f.size:]
			next, ok := header(rest)
			if ok && next.kind == f.kind || len(rest) < 4 || is(rest, "TAG") {
				return from, true
			}
		}
		from++
	}
	return 0, false
}

// header reads the header of a frame. It reports false for invalid ones and for frames of a free
// bit rate, whose size it does not state.
func header(b []byte) (frame, bool) {
	if len(b) < 4 {
		return frame{}, false
	}
	h := binary.BigEndian.Uint32(b)
	version, layer := h>>19&3, 4-h>>17&3 // version 3 is MPEG 1, 2 is MPEG 2, 0 is MPEG 2.5
	bitrate, rate := h>>12&15, h>>10&3
	if h>>21 != 0x7ff || version == 1 || layer == 4 || bitrate == 0 || bitrate == 15 || rate == 3 {
		return frame{}, false
	}
	f := frame{rate: [3]uint64{44100, 48000, 32000}[rate], samples: 1152, kind: h & 0xfffe0c00}
	low := version != 3
	switch version {
	case 2:
		f.rate /= 2
	case 0:
		f.rate /= 4
	}
	kilobits := kilobits(low, layer, bitrate)
	padding := int(h >> 9 & 1)
	switch layer {
	case 1:
		f.samples = 384
		f.size = (12*kilobits*1000/int(f.rate) + padding) * 4
		return f, true
	case 3:
		f.side = side(low, h>>6&3 == 3)
		if low {
			f.samples = 576
		}
	}
	f.size = int(f.samples)/8*kilobits*1000/int(f.rate) + padding
	return f, true
}

// kilobits returns the bit rate of an index from 1 to 14.
func kilobits(low bool, layer, index uint32) int { //nolint:revive // MPEG 2 and 2.5, not a mode
	tables := [5]string{
		"\x04\x08\x0c\x10\x14\x18\x1c\x20\x24\x28\x2c\x30\x34\x38", // MPEG 1, layer I, in steps of 8
		"\x04\x06\x07\x08\x0a\x0c\x0e\x10\x14\x18\x1c\x20\x28\x30",
		"\x04\x05\x06\x07\x08\x0a\x0c\x0e\x10\x14\x18\x1c\x20\x28",
		"\x04\x06\x07\x08\x0a\x0c\x0e\x10\x12\x14\x16\x18\x1c\x20", // MPEG 2, layer I
		"\x01\x02\x03\x04\x05\x06\x07\x08\x0a\x0c\x0e\x10\x12\x14",
	}
	row := layer - 1
	if low {
		row = min(layer, 2) + 2
	}
	return int(tables[row][index-1]) * 8
}

// side returns the size of the side information of layer III.
func side(low, mono bool) int {
	switch {
	case low && mono:
		return 9
	case low || mono:
		return 17
	}
	return 32
}

// info reports whether the frame has a header with facts about the file instead of sound.
func (f *frame) info(b []byte) bool {
	const vbri = 4 + 32 // its place does not depend on the channels
	if f.side == 0 {
		return false
	}
	return is(b[min(4+f.side, len(b)):], "Xing") || is(b[min(4+f.side, len(b)):], "Info") || is(b[min(vbri, len(b)):], "VBRI")
}
