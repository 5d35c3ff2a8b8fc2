package media

import "encoding/binary"

// largestSide bounds the sides of pictures, in pixels. JPEG cannot have longer ones.
const largestSide = 1 << 16

// Size returns the width and the height of a picture in pixels: PNG, JPEG, GIF or WebP. The
// beginning of a file suffices if it has the size. Size reports false if the format is another
// one, or if the size is not there or not plausible.
func Size(file []byte) (width, height int, ok bool) {
	width, height = size(file)
	if width < 1 || height < 1 || width > largestSide || height > largestSide {
		return 0, 0, false
	}
	return width, height, true
}

func size(b []byte) (width, height int) {
	little := binary.LittleEndian
	switch {
	case is(b, "\x89PNG\r\n\x1a\n") && len(b) >= 24 && is(b[12:], "IHDR"):
		return pixels(binary.BigEndian.Uint32(b[16:])), pixels(binary.BigEndian.Uint32(b[20:]))
	case (is(b, "GIF87a") || is(b, "GIF89a")) && len(b) >= 10:
		return int(little.Uint16(b[6:])), int(little.Uint16(b[8:]))
	case is(b, "RIFF") && len(b) >= 30 && is(b[8:], "WEBP"):
		return webp(b[12:])
	case is(b, "\xff\xd8"):
		return jpeg(b[2:])
	}
	return 0, 0
}

// pixels converts a side, so that it fits an int of 32 bits.
func pixels(n uint32) int { return int(min(n, largestSide+1)) }

// webp reads the first chunk, of at least 18 bytes, in one of its three forms.
func webp(b []byte) (width, height int) {
	little := binary.LittleEndian
	switch {
	case is(b, "VP8 ") && is(b[11:], "\x9d\x01\x2a"): // the upper two bits scale the display only
		return int(little.Uint16(b[14:]) & 0x3fff), int(little.Uint16(b[16:]) & 0x3fff)
	case is(b, "VP8L") && b[8] == 0x2f:
		bits := little.Uint32(b[9:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case is(b, "VP8X"):
		return 1 + (int(b[12]) | int(b[13])<<8 | int(b[14])<<16), 1 + (int(b[15]) | int(b[16])<<8 | int(b[17])<<16)
	}
	return 0, 0
}

// jpeg reads the segments up to that of the frame, which has the size.
func jpeg(b []byte) (width, height int) {
	for len(b) >= 4 && b[0] == 0xff {
		marker := b[1]
		switch {
		case marker == 0xff: // padding
			b = b[1:]
			continue
		case marker == 0x01 || marker >= 0xd0 && marker <= 0xd7: // without a length
			b = b[2:]
			continue
		}
		length := int(binary.BigEndian.Uint16(b[2:]))
		switch {
		case length < 2 || marker == 0xd9 || marker == 0xda:
			return 0, 0
		case isFrame(marker) && len(b) >= 9:
			return int(binary.BigEndian.Uint16(b[7:])), int(binary.BigEndian.Uint16(b[5:]))
		}
		b = b[min(2+length, len(b)):]
	}
	return 0, 0
}

// isFrame reports whether a marker is a start of a frame. Three of the range are tables.
func isFrame(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}
